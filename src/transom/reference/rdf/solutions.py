"""Definitions 8 to 13 and the operators of SPARQL 1.1 at one instant; a bag is a list, its order means nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transom.algebra.expressions import Expression
from transom.algebra.relations import WindowAggregation, WindowProject
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import Values
from transom.model.rdf.compare import sort_key
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import Term
from transom.reference.expressions import aggregated

Condition = Callable[[Solution], bool]
Computation = Callable[[Expression, Solution], Term | None]


def filter(solutions: Sequence[Solution], holds: Condition) -> list[Solution]:
    """Definition 8."""
    return [solution for solution in solutions if holds(solution)]


def union(left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
    """Definition 9: multiplicities add up (R7)."""
    return [*left, *right]


def join(left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
    """Definition 10: every compatible pair (R7, R22)."""
    return [one.merge(other) for one in left for other in right if one.compatible(other)]


def left_join(left: Sequence[Solution], right: Sequence[Solution], holds: Condition) -> list[Solution]:
    """Definition 13, corrected: pairs that fulfil the condition, and what has no such partner (R14, R26)."""
    found: list[Solution] = []
    for one in left:
        pairs = [pair for pair in join([one], right) if holds(pair)]
        found += pairs or [one]
    return found


def minus(left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
    """W3C 18.5: what no compatible solution with a variable in common speaks against."""
    return [one for one in left if not any(one.compatible(other) and not set(one).isdisjoint(other) for other in right)]


def extend(solutions: Sequence[Solution], name: str, computed: Sequence[Term | None]) -> list[Solution]:
    """W3C 18.5: one more variable, unbound where its expression is an error."""
    return [
        solution if term is None else solution.merge(Solution(((name, term),)))
        for solution, term in zip(solutions, computed, strict=True)
    ]


def values(op: Values) -> list[Solution]:
    """Every row as a solution."""
    return [
        Solution.of({v.name: term for v, term in zip(op.columns, row, strict=True) if isinstance(term, Term)})
        for row in op.rows
    ]


def aggregation(op: WindowAggregation, solutions: Sequence[Solution], value: Computation) -> list[Solution]:
    """W3C 18.5.1: solutions with equal keys are one group; everything is one where there are no keys."""
    groups: dict[tuple[Term | None, ...], list[Solution]] = {(): []} if not op.groups else {}
    for solution in solutions:
        key = tuple(value(item.expression, solution) for item in op.groups)
        groups.setdefault(key, []).append(solution)
    found: list[Solution] = []
    for key, members in groups.items():
        given = (members if a.argument is None else [value(a.argument, m) for m in members] for a in op.aggregates)
        row = (*key, *map(aggregated, op.aggregates, given))
        found.append(Solution.of({v.name: term for v, term in zip(op.schema, row) if isinstance(term, Term)}))
    return found


def project(op: WindowProject, solutions: Sequence[Solution]) -> list[Solution]:
    """Only some variables; what becomes equal adds up (R7)."""
    return [solution.only(v.name for v in op.schema) for solution in solutions]


def distinct(solutions: Sequence[Solution]) -> list[Solution]:
    """The first of equal solutions (R16)."""
    return list(dict.fromkeys(solutions))


def order_by(op: OrderBy, solutions: Sequence[Solution], value: Computation) -> list[Solution]:
    """W3C 15.1: by the keys, then by the terms of some variables (R16); sorting keeps the order of equals."""
    sequence = sorted(solutions, key=lambda solution: solution.in_order(v.name for v in op.ties))
    for key in reversed(op.keys):
        sequence.sort(key=lambda solution: sort_key(value(key.expression, solution)), reverse=key.descending)
    return sequence


def slice(op: Slice, solutions: Sequence[Solution]) -> list[Solution]:
    """Without the first ones, and not more than a number (R16)."""
    return list(solutions[op.offset :][: op.limit])
