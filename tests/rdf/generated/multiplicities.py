"""A second evaluator, written from Definitions 2 to 13 by way of multiplicities; it shares no code with the first.

A logical stream at an instant is a table from payloads to how often they occur. A solution is a set of pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.rdf.stated import Stated
from transom.algebra.expressions import expression
from transom.algebra.expressions.expression import Call, Column, Expression
from transom.algebra.rdf.patterns import BasicGraphPattern, TriplePattern
from transom.algebra.rdf.statements import StoredGraph, element_count, range_and_slide
from transom.algebra.relations import JoinType, RelationJoin, RelationUnion, WindowDistinct, WindowProject, WindowSelect
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import Renumber, StreamSelect, StreamUnion
from transom.algebra.windows import Window
from transom.model.rdf.terms import Literal, Triple

Mu = frozenset[tuple[str, Any]]
Table = Counter[Mu]


def arrivals(op: Any, inputs: Stated) -> list[tuple[int, Any]]:
    """The statements of streams in order of arrival; which of them a window counts, is not asked here."""
    if isinstance(op, Renumber | StreamSelect):
        return arrivals(op.input, inputs)
    if isinstance(op, StreamReceive):
        rows = list(enumerate(inputs.given.get(op.extent, ())))
        return [(c, z) for _, (c, z) in sorted(rows, key=lambda row: (row[1][0], row[0]))]
    if isinstance(op, StreamUnion):
        parts = [
            (c, place, number, z)
            for place, part in enumerate(op.parts)
            for number, (c, z) in enumerate(arrivals(part, inputs))
        ]
        return [(c, z) for c, _, _, z in sorted(parts, key=lambda row: row[:3])]
    raise NotImplementedError(op)


def valid(op: Any, inputs: Stated, t: int) -> Counter[Any]:
    """Definitions 2, 3 and 5: what is valid at an instant, and how often."""
    if isinstance(op, StoredGraph):
        return Counter({z for extent in op.extents for z in inputs.graphs[extent]})
    if isinstance(op, RelationUnion):
        return valid(op.left, inputs, t) + valid(op.right, inputs, t)
    came = [(c, z) for c, z in arrivals(op.input, inputs) if c <= t]
    if (count := element_count(op)) is not None:
        return last([z for _, z in came], count)
    width, slide = range_and_slide(op) or (0, 0)
    low = max((t // slide + 1) * slide - width, 0)
    return Counter(z for c, z in came if low <= c)


def last(came: list[Any], count: int) -> Counter[Any]:
    """Definition 5: the last so many."""
    m = len(came)
    return Counter(z for number, z in enumerate(came, start=1) if max(m - count + 1, 1) <= number <= m)


def fitted(op: TriplePattern, z: Triple) -> list[Mu]:
    """Definition 7: the solution of a statement, if it fits."""
    pairs = list(zip(op.items, (z.subject, z.predicate, z.object)))
    if any(not isinstance(x, Column) and x != found for x, found in pairs):
        return []
    mu = frozenset((x.name, found) for x, found in pairs if isinstance(x, Column))
    return [mu] if len({name for name, _ in mu}) == len(mu) else []


def compatible(one: Mu, other: Mu) -> bool:
    """Definition 10: together they give no variable two terms."""
    together = one | other
    return len({name for name, _ in together}) == len(together)


def multiplied(left: Table, right: Table) -> Table:
    """Definition 10."""
    found: Table = Counter()
    for one, n1 in left.items():
        for other, n2 in right.items():
            if compatible(one, other):
                found[one | other] += n1 * n2
    return found


def mapped(table: Table, kept: Iterable[str] | None) -> Table:
    """Only some variables, or all that do not belong to blank nodes; multiplicities of equal solutions add up."""
    names = None if kept is None else set(kept)
    found: Table = Counter()
    for mu, n in table.items():
        found[frozenset((x, z) for x, z in mu if (x in names if names is not None else x[0] != "_"))] += n
    return found


def solutions(op: Any, inputs: Stated, t: int) -> Table:
    """How often each solution is valid at an instant."""
    match op:
        case TriplePattern(input=Window(input=Renumber() as counted) as window):
            came = [mu for c, z in arrivals(counted, inputs) if c <= t for mu in fitted(op, z)]
            return last(came, element_count(window) or 0)
        case TriplePattern():
            found: Table = Counter()
            for z, n in valid(op.input, inputs, t).items():
                for mu in fitted(op, z):
                    found[mu] += n
            return found
        case BasicGraphPattern(parts=parts):
            table: Table = Counter({frozenset(): 1})
            for part in parts:
                table = multiplied(table, solutions(part, inputs, t))
            return mapped(table, None)
        case WindowSelect(input=input, predicate=predicate):
            return Counter({mu: n for mu, n in solutions(input, inputs, t).items() if true(predicate, mu)})
        case RelationUnion(left=left, right=right):
            return solutions(left, inputs, t) + solutions(right, inputs, t)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER):
            return multiplied(solutions(left, inputs, t), solutions(right, inputs, t))
        case RelationJoin(left=left, right=right, join_type=JoinType.LEFT, predicate=predicate):
            return outer(solutions(left, inputs, t), solutions(right, inputs, t), predicate)
        case RelationJoin(left=left, right=right):
            away = solutions(right, inputs, t)
            return Counter({mu: n for mu, n in solutions(left, inputs, t).items() if not spoken_against(mu, away)})
        case WindowProject(input=input):
            return mapped(solutions(input, inputs, t), [x.name for x in op.schema])
        case WindowDistinct(input=input):
            return Counter(set(solutions(input, inputs, t)))
        case _:
            raise NotImplementedError(op)


def outer(left: Table, right: Table, condition: Expression) -> Table:
    """Definition 13, corrected (R14)."""
    found: Table = Counter()
    for one, n1 in left.items():
        partners = {mu: n for mu, n in right.items() if compatible(one, mu) and true(condition, one | mu)}
        for other, n2 in partners.items():
            found[one | other] += n1 * n2
        if not partners:
            found[one] += n1
    return found


def spoken_against(mu: Mu, away: Table) -> bool:
    """Whether some solution is compatible and has a variable in common."""
    names = {name for name, _ in mu}
    return any(compatible(mu, other) and names & {name for name, _ in other} for other in away)


def true(condition: Expression, mu: Mu) -> bool:
    """Whether a comparison is true: names are equal or not, numbers in order; what is unbound is an error.

    Here numbers are integers in one spelling, so that equal terms are equal values.
    """
    if condition == expression.TRUE:
        return True
    assert isinstance(condition, Call)
    bound = dict(mu)
    one, other = (a.value if isinstance(a, expression.Constant) else bound.get(a.name) for a in condition.arguments)  # type: ignore[union-attr]
    if one is None or other is None:
        return False
    name = condition.function.name
    if name in ("=", "!="):
        return (one == other) == (name == "=")
    if not isinstance(one, Literal) or not isinstance(other, Literal):
        return False
    first, second = int(one.lexical), int(other.lexical)
    return first < second if name == "<" else first > second
