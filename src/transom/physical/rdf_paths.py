"""Property paths as patterns: links, steps, alternatives and their inverses are joins and unions of triple patterns."""

from __future__ import annotations

from itertools import count
from typing import assert_never

from transom.algebra.operator import Windows
from transom.algebra.rdf.expressions import Call, Constant
from transom.algebra.rdf.operator import Solutions
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
from transom.algebra.rdf.solutions import Filter, Join, Project, Union
from transom.algebra.rdf.variable import Variable
from transom.model.rdf.terms import IRI


def as_patterns(op: PathPattern) -> Solutions | None:
    """A path without repetitions as patterns that find the same, each as often; None where it repeats."""
    subject, object = op.places
    found = _ways(op.input, op.path, subject, object, count())
    return None if found is None else Project(found, op.variables)


def _ways(on: Windows, path: Path, subject: Place, object: Place, fresh: count[int]) -> Solutions | None:
    match path:
        case Link(predicate=predicate):
            return TriplePattern(on, subject, predicate, object)
        case Inverse(path=inner):
            return _ways(on, inner, object, subject, fresh)
        case Steps(first=first, second=second):
            between = Variable(f"_:step {next(fresh)}")
            one, other = _ways(on, first, subject, between, fresh), _ways(on, second, between, object, fresh)
            return None if one is None or other is None else Join(one, other)
        case Either(first=first, second=second):
            one, other = (_ways(on, way, subject, object, fresh) for way in (first, second))
            return (
                None
                if one is None or other is None
                else Union(_ends(one, subject, object), _ends(other, subject, object))
            )
        case NoneOf(forward=forward, backward=backward):
            onward = _without(on, forward, subject, object, fresh) if forward or not backward else None
            back = _without(on, backward, object, subject, fresh) if backward else None
            sides = [_ends(side, subject, object) for side in (onward, back) if side is not None]
            return sides[0] if len(sides) == 1 else Union(*sides)
        case ZeroOrOne() | ZeroOrMore() | OneOrMore():
            return None
        case _:
            assert_never(path)


def _ends(op: Solutions, subject: Place, object: Place) -> Solutions:
    """Only the ends of a path."""
    return Project(op, of_places((subject, object)))


def _without(on: Windows, names: tuple[IRI, ...], subject: Place, object: Place, fresh: count[int]) -> Solutions:
    """Statements whose predicate is none of some names."""
    predicate = Variable(f"_:link {next(fresh)}")
    every = TriplePattern(on, subject, predicate, object)
    return Filter(every, Call("NOT IN", (predicate, *map(Constant, names)))) if names else every
