"""How many statements and solutions can be valid at once, and how many each operator must remember (E8)."""

from __future__ import annotations

from typing import assert_never

from transom.algebra.bounds import size
from transom.algebra.operator import Operator, Stream, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.operator import Solutions
from transom.algebra.rdf.patterns import (
    BasicGraphPattern,
    Either,
    Inverse,
    Link,
    NoneOf,
    OneOrMore,
    Path,
    PathPattern,
    Steps,
    TriplePattern,
    ZeroOrMore,
    ZeroOrOne,
)
from transom.algebra.rdf.solutions import (
    Aggregation,
    Distinct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Project,
    Slice,
    Union,
    Values,
)
from transom.algebra.rdf.statements import StoredGraph, element_count
from transom.algebra.rdf.tree import Question, closed, patterns_of, walk
from transom.algebra.relations import RelationUnion
from transom.algebra.state import NOTHING, ONE, Formula, Number, TableRows, least, plus, times
from transom.algebra.windows import Window


def valid(op: Windows | Solutions) -> Formula:
    """The most statements or solutions that are valid at one instant."""
    match op := closed(op):
        case Window():
            return size(op)
        case RelationUnion(left=first, right=second):
            return plus(valid(first), valid(second))
        case StoredGraph(extents=extents):
            return plus(*map(TableRows, extents))
        case TriplePattern(input=below):
            return valid(below)
        case PathPattern(input=below, path=path):
            return _ways(path, valid(below))
        case BasicGraphPattern(parts=several):
            return times(ONE, *map(valid, several))
        case Union(left=left, right=right):
            return plus(valid(left), valid(right))
        case Join(left=left, right=right):
            return times(valid(left), valid(right))
        case LeftJoin(left=left, right=right):
            return times(valid(left), plus(valid(right), ONE))
        case Minus(left=left):
            return valid(left)
        case Values(rows=rows):
            return Number(len(rows))
        case Aggregation(whole=True):
            return ONE
        case Slice(input=from_here, limit=limit):
            return valid(from_here) if limit is None else least(Number(limit), valid(from_here))
        case (
            Filter(input=inner)
            | Extend(input=inner)
            | Aggregation(input=inner)
            | Project(input=inner)
            | Distinct(input=inner)
            | OrderBy(input=inner)
        ):
            return valid(inner)
        case _:
            assert_never(op)


def _ways(path: Path, statements: Formula) -> Formula:
    """The most pairs, each as often as there are ways, that a path finds in so many statements."""
    nodes = plus(times(Number(2), statements), ONE)
    match path:
        case Link():
            return statements
        case NoneOf(forward=forward, backward=backward):
            return times(Number(2), statements) if forward and backward else statements
        case Inverse(path=inner):
            return _ways(inner, statements)
        case Steps(first=first, second=second):
            return times(_ways(first, statements), _ways(second, statements))
        case Either(first=first, second=second):
            return plus(_ways(first, statements), _ways(second, statements))
        case ZeroOrOne(path=inner):
            return plus(_ways(inner, statements), nodes)
        case ZeroOrMore() | OneOrMore():
            return times(nodes, nodes)
        case _:
            assert_never(path)


def remembered(op: Operator) -> Formula:
    """The most statements and solutions that this operator alone must remember, those below it not counted."""
    asked = plus(*map(valid, patterns_of(op)))
    match op := closed(op):
        case Window():
            return Number(element_count(op) or 0)
        case StoredGraph() | RelationUnion() | TriplePattern():
            return NOTHING
        case PathPattern(input=below):
            return valid(below)
        case BasicGraphPattern(parts=parts):
            return plus(*map(valid, parts)) if len(parts) > 1 else NOTHING
        case Join(left=left, right=right) | Minus(left=left, right=right):
            return plus(valid(left), valid(right))
        case LeftJoin(left=left, right=right):
            return plus(valid(left), valid(right), asked)
        case Filter() | Extend():
            return asked
        case Aggregation(input=input) | OrderBy(input=input):
            return plus(valid(input), asked)
        case Distinct(input=input) | Slice(input=input):
            return valid(input)
        case Union() | Values() | Project() | Construct():
            return NOTHING
        case Describe(input=input, statements=statements):
            return plus(valid(input), valid(statements))
        case Ask():
            return ONE
        case _:
            assert_never(op)


def total(op: Question) -> Formula:
    """The most statements and solutions that a whole question must remember."""
    return plus(*(remembered(part) for part in walk(op) if not isinstance(part, Stream)))
