"""The machine that follows paths of any length through edges which arrive as changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from transom.machines import encoding
from transom.model.bag import Row, row_key

PAIR = 1
EDGE, NODES = 0, 1
Edges = Mapping[str, Collection[str]]


class PathMachine:
    """Changes of edges in; changes of the pairs between which a path leads out, each pair once (W3C 18.4, ALP).

    A row of side 0 is an edge, one of side 1 is a statement: from each of its terms a path of no step leads to itself.
    With `repeats` a path is one edge or more, otherwise one edge. With `start` paths begin there only. All changes of a
    tick act at once. The machine keeps edges and terms, not pairs. If edges change, it follows all paths again from
    every term from which one of them can be reached.
    """

    kind = "paths"

    def __init__(self, repeats: bool, start: str | None = None) -> None:
        self.repeats = repeats
        self.start = start
        self.edges: Counter[Row] = Counter()
        self.nodes: Counter[Row] = Counter()

    @property
    def held(self) -> int:
        """Edges and terms that are remembered."""
        return self.edges.total() + self.nodes.total()

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """All changes of a tick: side, count and row each. Gives PAIR, a count and both ends."""
        before = set(self.edges), set(self.nodes)
        for side, count, row in changes:
            if side == EDGE:
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
        touched = self._touched(before, after)
        for sign, (edges, nodes) in ((-1, before), (1, after)):
            onward = _adjacent(edges)
            for start in touched:
                for end in self._ends(start, onward, nodes):
                    pairs[start, end] += sign
        yield from ((PAIR, pairs[row], row) for row in sorted(pairs, key=row_key) if pairs[row])

    def _touched(self, before: tuple[set[Row], set[Row]], after: tuple[set[Row], set[Row]]) -> set[str]:
        """The terms from which other paths may lead now than before."""
        found = {str(edge[0]) for edge in before[0] ^ after[0]}
        if self.repeats and found:
            backward = _adjacent((other, one) for one, other in after[0])  # to the first edge of a path that went
            found |= _reached(found, backward)
        found |= {str(node[0]) for node in before[1] ^ after[1]}
        return found if self.start is None else found & {self.start}

    def _ends(self, start: str, onward: Edges, nodes: set[Row]) -> set[str]:
        """The terms to which a path leads from a start."""
        found = _reached([start], onward) if self.repeats else set(onward.get(start, ()))
        return found | {start} if (start,) in nodes else found

    def save(self) -> bytes:
        """The state as bytes."""
        bags = [[[encoding.pack(row), count] for row, count in bag.items()] for bag in (self.edges, self.nodes)]
        return encoding.save(self.kind, bags)

    @classmethod
    def load(cls, state: bytes, repeats: bool, start: str | None) -> PathMachine:
        """The machine as it was when it was saved."""
        machine = cls(repeats, start)
        for bag, rows in zip((machine.edges, machine.nodes), encoding.load(cls.kind, state), strict=True):
            bag.update({encoding.unpack(row): count for row, count in rows})
        return machine


def _adjacent(edges: Iterable[Row]) -> Edges:
    """Where the edges from each term lead."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one, other in edges:
        found[str(one)].append(str(other))
    return found


def _reached(starts: Iterable[str], onward: Edges) -> set[str]:
    """The terms that one edge or more lead to."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        for term in onward.get(waiting.pop(), ()):
            if term not in found:
                found.add(term)
                waiting.append(term)
    return found
