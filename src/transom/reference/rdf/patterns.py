"""Definitions 6, 7 and 11, and property paths: from statements to solutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

from transom.algebra.expressions import Column
from transom.algebra.rdf.patterns import (
    BasicGraphPattern,
    Either,
    Inverse,
    Link,
    NoneOf,
    OneOrMore,
    Path,
    PathPattern,
    Place,
    Steps,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)
from transom.algebra.relations import merged
from transom.model.bag import Row
from transom.model.rdf.solutions import Valid
from transom.model.rdf.terms import Term, Triple
from transom.model.schema import Schema
from transom.model.types import Value
from transom.reference.relations import Rows, aligned, compatible

Pair: TypeAlias = tuple[Term, Term]


def fit(names: Iterable[str], places: Iterable[Place], terms: Iterable[Value]) -> Row | None:
    """Definition 7: the solution that makes a pattern these terms, or None; a variable has one term only (R11)."""
    found: dict[str, Value] = {}
    for place, term in zip(places, terms, strict=True):
        wanted = found.setdefault(place.name, term) if isinstance(place, Column) else place
        if wanted != term:
            return None
    return tuple(map(found.get, names))


def triple_pattern(op: TriplePattern, statements: Sequence[Valid[Row]]) -> list[Valid[Row]]:
    """Definition 7: one solution per statement that fits, valid as long as the statement."""
    names = op.schema.names
    fitting = ((fit(names, op.places, e.payload), e) for e in statements)
    return [Valid(solution, e.start, e.end) for solution, e in fitting if solution is not None]


def basic_graph_pattern(op: BasicGraphPattern, parts: Sequence[Rows]) -> Rows:
    """Definition 11: a join in which blank nodes are variables, and then they are forgotten."""
    schema = Schema(())
    joined: list[Row] = [()]
    for part, found in zip(op.parts, parts, strict=True):
        pair = compatible(schema, part.schema)
        pairs = (pair(one, other) for one in joined for other in found)
        schema, joined = merged(schema, part.schema), [both for both in pairs if both is not None]
    return aligned(tuple(joined), schema, op.schema)


def path_pattern(op: PathPattern, statements: Rows, outer: Mapping[str, Term]) -> Rows:
    """W3C 18.4: the ends of all paths, one solution per way or per pair."""
    names = op.schema.names
    places = [_known(place, outer) for place in op.places]
    fixed = [None if isinstance(place, Column) else place for place in places]
    triples = [Triple(*statement) for statement in statements]  # type: ignore[arg-type]
    found = (fit(names, places, pair) for pair in ways(op.path, fixed[0], fixed[1], triples))
    return tuple(solution for solution in found if solution is not None)


def _known(place: Place, outer: Mapping[str, Term]) -> Place:
    """A place, or the term that a solution around this pattern gives to its variable."""
    return (outer.get(place.name) or place) if isinstance(place, Column) else place


def ways(path: Path, start: Term | None, end: Term | None, statements: Sequence[Triple]) -> list[Pair]:
    """Pairs between which a path leads; a start or an end that is None may be any term."""

    def along(one: Path, first: Term | None, last: Term | None) -> list[Pair]:
        return ways(one, first, last, statements)

    def fitting(pairs: Iterable[Pair]) -> list[Pair]:
        return [p for p in pairs if (start is None or p[0] == start) and (end is None or p[1] == end)]

    match path:
        case Link(predicate=predicate):
            return fitting((s.subject, s.object) for s in statements if s.predicate == predicate)
        case NoneOf(forward=forward, backward=backward):
            onward = statements if forward or not backward else ()
            back = statements if backward else ()
            found = fitting((s.subject, s.object) for s in onward if s.predicate not in forward)
            return found + fitting((s.object, s.subject) for s in back if s.predicate not in backward)
        case Inverse(path=inner):
            return [(s, o) for o, s in along(inner, end, start)]
        case Steps(first=first, second=second):
            return [(s, o) for s, m in along(first, start, None) for n, o in along(second, None, end) if m == n]
        case Either(first=first, second=second):
            return along(first, start, end) + along(second, start, end)
        case ZeroOrOne(path=inner):
            return list(dict.fromkeys([*along(inner, start, end), *still(start, end, statements)]))
        case OneOrMore(path=inner):
            return closure(inner, start, end, statements, first=False)
        case ZeroOrMore(path=inner):
            return closure(inner, start, end, statements, first=True)
        case _:
            assert_never(path)


def still(start: Term | None, end: Term | None, statements: Sequence[Triple]) -> list[Pair]:
    """Paths of no step: from every term that is given or stands in a statement to itself."""
    if start is not None and end is not None:
        return [(start, end)] if start == end else []
    given = start if start is not None else end
    return [(given, given)] if given is not None else [(node, node) for node in nodes(statements)]


def nodes(statements: Sequence[Triple]) -> list[Term]:
    """Every subject and object, once."""
    return list(dict.fromkeys(term for s in statements for term in (s.subject, s.object)))


def closure(
    path: Path, start: Term | None, end: Term | None, statements: Sequence[Triple], *, first: bool
) -> list[Pair]:
    """Pairs that any number of steps connects, each once; with `first` also no step (W3C 18.4, ALP)."""
    if start is None and end is not None:
        return [(s, o) for o, s in closure(Inverse(path), end, None, statements, first=first)]
    starts = nodes(statements) if start is None else [start]
    pairs = [(one, other) for one in starts for other in reached(path, one, statements, first=first)]
    return pairs if end is None else [pair for pair in pairs if pair[1] == end]


def reached(path: Path, start: Term, statements: Sequence[Triple], *, first: bool) -> list[Term]:
    """Every term to which some steps lead from a start, once."""
    found: list[Term] = [start] if first else []
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for _, there in ways(path, here, None, statements):
            if there not in found:
                found.append(there)
                waiting.append(there)
    return found
