"""Property paths as patterns: links, steps, alternatives and their inverses are joins and unions of triple patterns.

What is left are paths with `?`, `*` or `+` around them.
"""

from __future__ import annotations

from itertools import count
from typing import TypeAlias, assert_never

from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import (
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
    of_places,
)
from transom.algebra.rdf.solutions import join, project, union, variables
from transom.algebra.relations import WindowSelect
from transom.algebra.terms import term_call, term_literal, variable
from transom.model.rdf.terms import IRI

Repeated: TypeAlias = ZeroOrOne | ZeroOrMore | OneOrMore


def repeats(path: Path) -> bool:
    """Whether there is `?`, `*` or `+` in a path."""
    match path:
        case Link() | NoneOf():
            return False
        case Inverse(path=inner):
            return repeats(inner)
        case Steps(first=first, second=second) | Either(first=first, second=second):
            return repeats(first) or repeats(second)
        case ZeroOrOne() | ZeroOrMore() | OneOrMore():
            return True
        case _:
            assert_never(path)


def leads_nowhere(path: Path, start: bool, end: bool) -> int:
    """How often a path leads from a term that is in no statement to itself, if its start or its end are given."""
    match path:
        case Link() | NoneOf():
            return 0
        case Inverse(path=inner):
            return leads_nowhere(inner, end, start)
        case Steps(first=first, second=second):
            return leads_nowhere(first, start, False) * leads_nowhere(second, False, end)
        case Either(first=first, second=second):
            return leads_nowhere(first, start, end) + leads_nowhere(second, start, end)
        case ZeroOrOne() | ZeroOrMore():
            return int(start or end)
        case OneOrMore(path=inner):
            return min(leads_nowhere(inner, start, end and not start), 1)
        case _:
            assert_never(path)


def as_patterns(op: PathPattern) -> Windows:
    """A path as patterns that find the same, each as often; what repeats in it is a path by itself."""
    subject, object = op.places
    return project(_ways(op.input, op.path, subject, object, count()), variables(op))


def _ways(on: Windows, path: Path, subject: Place, object: Place, fresh: count[int]) -> Windows:
    match path:
        case Link(predicate=predicate):
            return TriplePattern(on, subject, predicate, object)
        case Inverse(path=inner):
            return _ways(on, inner, object, subject, fresh)
        case Steps(first=first, second=second):
            between = variable(f"_:step {next(fresh)}")
            one, other = _ways(on, first, subject, between, fresh), _ways(on, second, between, object, fresh)
            return join(one, other)
        case Either(first=first, second=second):
            one, other = (_ways(on, way, subject, object, fresh) for way in (first, second))
            return union(_ends(one, subject, object), _ends(other, subject, object))
        case NoneOf(forward=forward, backward=backward):
            onward = _without(on, forward, subject, object, fresh) if forward or not backward else None
            back = _without(on, backward, object, subject, fresh) if backward else None
            sides = [_ends(side, subject, object) for side in (onward, back) if side is not None]
            return sides[0] if len(sides) == 1 else union(*sides)
        case ZeroOrOne() | ZeroOrMore() | OneOrMore():
            return PathPattern(on, subject, path, object)
        case _:
            assert_never(path)


def _ends(op: Windows, subject: Place, object: Place) -> Windows:
    """Only the ends of a path."""
    return project(op, of_places((subject, object)))


def _without(on: Windows, names: tuple[IRI, ...], subject: Place, object: Place, fresh: count[int]) -> Windows:
    """Statements whose predicate is none of some names."""
    predicate = variable(f"_:link {next(fresh)}")
    every = TriplePattern(on, subject, predicate, object)
    return WindowSelect(every, term_call("NOT IN", predicate, *map(term_literal, names))) if names else every
