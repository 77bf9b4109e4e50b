"""The machine that maintains paths of any length over edges that arrive as changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from transom.machines import codec
from transom.machines.entries import StateEntry, rows_of_sides
from transom.model.bag import Row, row_key

PAIR = 1
EDGE_SIDE, NODE_SIDE = 0, 1
Adjacency = Mapping[str, Collection[str]]


class PathClosureMachine:
    """Changes of edges in; changes of the pairs that a path connects out, each pair once (W3C 18.4, ALP).

    A row of side 0 is an edge. A row of side 1 is a statement: each of its terms has a path of length zero to itself.
    With `repeats` a path has one edge or more, otherwise exactly one. With `start` all paths begin at that term.
    All changes of a tick apply at once. The state holds edges and terms, not pairs. If edges change, the machine
    follows all paths again from every term that can reach a changed edge.
    """

    kind = "paths"

    def __init__(self, repeats: bool, start: str | None = None) -> None:
        """Create an empty graph; its paths have one edge, or one or more if `repeats`, from `start` (None: any term).

        All paths begin at the term `start`; None allows any term.
        """
        self.repeats = repeats
        self.start = start
        self.edges: Counter[Row] = Counter()
        self.nodes: Counter[Row] = Counter()

    @property
    def held(self) -> int:
        """Number of edges and of terms (nodes) in state, each counted as often as it was inserted."""
        return self.edges.total() + self.nodes.total()

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """Apply (0, count, edge) and (1, count, terms); yield (1, sign, (start, end)) per pair of terms (dis)connected.

        An input is (side, count, edge or statement), an output (PAIR, 1 or -1, (start, end)). Raises ValueError if a
        row is retracted that was never added.
        """
        before = set(self.edges), set(self.nodes)
        for side, count, row in changes:
            if side == EDGE_SIDE:
                self.edges[row] += count
            else:
                for term in row:
                    self.nodes[(term,)] += count
        for bag in (self.edges, self.nodes):
            for row in [row for row, count in bag.items() if count <= 0]:
                if bag.pop(row) < 0:
                    raise ValueError("a row is retracted that was never added")
        after = set(self.edges), set(self.nodes)
        pairs: Counter[Row] = Counter()
        touched = self._affected_starts(before, after)
        for sign, (edges, nodes) in ((-1, before), (1, after)):
            successors = _adjacency(edges)
            for start in touched:
                for end in self._end_terms(start, successors, nodes):
                    pairs[start, end] += sign
        yield from ((PAIR, pairs[row], row) for row in sorted(pairs, key=row_key) if pairs[row])

    def _affected_starts(self, before: tuple[set[Row], set[Row]], after: tuple[set[Row], set[Row]]) -> set[str]:
        """Return the terms where paths changed by a tick may start; `before`, `after`: (edges, terms) of the graph.

        `before` and `after` have the edges and terms before and after it.
        """
        starts = {str(edge[0]) for edge in before[0] ^ after[0]}
        if self.repeats and starts:
            # the edges of `after` suffice: a path that is gone exists up to its first removed edge
            predecessors = _adjacency((target, source) for source, target in after[0])
            starts |= _reachable(starts, predecessors)
        starts |= {str(node[0]) for node in before[1] ^ after[1]}
        return starts if self.start is None else starts & {self.start}

    def _end_terms(self, start: str, successors: Adjacency, nodes: set[Row]) -> set[str]:
        """Return the terms at which paths from `start` end; `start` too if it is in `nodes`, by a path of length 0.

        With a path of length zero that is also `start`, if it is one of `nodes`.
        """
        ends = _reachable([start], successors) if self.repeats else set(successors.get(start, ()))
        return ends | {start} if (start,) in nodes else ends

    def entries(self) -> Iterator[StateEntry]:
        """Yield a state entry for each edge and each term (node) of the graph, with the count."""
        yield from rows_of_sides((self.edges, self.nodes))

    def save(self) -> bytes:
        """Serialize the edges and terms in state with their counts."""
        bags = [[[codec.pack(row), count] for row, count in bag.items()] for bag in (self.edges, self.nodes)]
        return codec.save(self.kind, bags)

    @classmethod
    def load(cls, state: bytes, repeats: bool, start: str | None) -> PathClosureMachine:
        """Restore the graph from the bytes of `save`; `repeats` and `start` are those with which it was created."""
        machine = cls(repeats, start)
        for bag, rows in zip((machine.edges, machine.nodes), codec.load(cls.kind, state), strict=True):
            bag.update({codec.unpack(row): count for row, count in rows})
        return machine


def _adjacency(edges: Iterable[Row]) -> Adjacency:
    """Map each term to the terms to which its edges lead; each edge is a row (source, target)."""
    successors: defaultdict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        successors[str(source)].append(str(target))
    return successors


def _reachable(starts: Iterable[str], successors: Adjacency) -> set[str]:
    """Return the terms that paths of one or more edges reach from any of the terms `starts`."""
    reached: set[str] = set()
    waiting = list(starts)
    while waiting:
        for term in successors.get(waiting.pop(), ()):
            if term not in reached:
                reached.add(term)
                waiting.append(term)
    return reached
