"""Groups of rows that come and go: aggregates, rows of terms and of SQL values, and what the aggregates should be."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.machines.twin_cases import Case, Tick, comings, restarts, times
from tests.rdf.build import aggregate_of
from transom.algebra.expressions.expression import Aggregate as SqlAggregate
from transom.algebra.expressions.expression import AggregateFunction, Column
from transom.algebra.expressions.terms import variable
from transom.machines.aggregates.group_aggregate import TERM, TERM_CELLS, AggregateSpec, GroupSpec
from transom.machines.protocol import InputRow
from transom.model.bag import Row
from transom.model.rdf.compare import sort_key
from transom.model.rdf.terms import BOOLEAN, DECIMAL, DOUBLE, FLOAT, INTEGER, IRI, BlankNode, Literal, Term, integer
from transom.model.rdf.values import NumericKind, NumericValue, number_literal
from transom.model.schema import Attribute, Schema
from transom.model.types import Type, Value
from transom.reference.expressions import aggregate as sql_aggregate
from transom.reference.expressions import aggregate_values
from transom.reference.rdf.numbers import divide, numeric_value

INTEGERS = [Literal(text, INTEGER) for text in ("1", "01", "-7", "0", "9" * 38, "16777217", "12345678901234567890")]
DECIMALS = [Literal(text, DECIMAL) for text in ("0.1", "1.0", "-2.5", "9" * 20, "0." + "0" * 17 + "1")]
SINGLES = [Literal(text, FLOAT) for text in ("0.1", "1", "1e-30", "3.4e38", "-3.4e38", "INF", "NaN", "-0.0")]
DOUBLES = [Literal(text, DOUBLE) for text in ("0.1", "0.2", "1e308", "-1e308", "5e-324", "1e17", "1", "-INF", "INF")]
OTHERS = [Literal("a"), Literal("b", language="en"), Literal("x", BOOLEAN), IRI("http://a"), BlankNode("b"), None]
MIXES: list[list[Term | None]] = [
    [*INTEGERS[:4]],
    [*INTEGERS],
    [*INTEGERS[:3], *DECIMALS],
    [*DECIMALS, *SINGLES[:3]],
    [*INTEGERS, *DECIMALS, *SINGLES],
    [*SINGLES],
    [*DOUBLES[:7]],
    [*INTEGERS, *DECIMALS, *SINGLES[:4], *DOUBLES],
    [*INTEGERS[:4], *OTHERS],
    [Literal("a"), Literal("b"), IRI("http://a"), Literal("a", language="en"), Literal("1", INTEGER)],
]
SQL: dict[Type, list[Value]] = {
    Type.INTEGER: [0, 1, -7, 2**63 - 1, -(2**63), None],
    Type.FLOAT: [0.0, -0.0, 0.1, 0.2, 1e24, -1e-20, 1234567.125, None],
    Type.DECIMAL: [Decimal("1.5"), Decimal("-0.1"), Decimal("9" * 38), Decimal("1E-30"), Decimal(0), None],
    Type.STRING: ["", "a", "é", "\U0001f600", None],
    Type.BOOLEAN: [True, False, None],
}


def cells(term: Term | None) -> Row:
    """A term as the machine takes it."""
    if term is None:
        return (None,) * TERM_CELLS
    found = numeric_value(term)
    floating = found.value if found is not None and isinstance(found.value, float) else None
    exact = None
    if found is not None and floating is None:
        exact = (
            Decimal(found.value) if found.kind is NumericKind.INTEGER else Decimal(int(Fraction(found.value) * 10**18))
        )
    characters = {Literal: lambda: term.lexical, IRI: lambda: term.value}.get(type(term), lambda: None)()
    return str(term), _order(term), characters, found and int(found.kind), exact, floating


def _order(term: Term) -> Any:
    """A sort key of values that machines know."""
    rank, place, key = sort_key(term)
    if isinstance(key, int):
        return rank, place, Decimal(key)
    return rank, place, key + 0.0 if isinstance(key, float) else key


def term_group(rng: random.Random) -> tuple[GroupSpec, list[Term | None]]:
    """Aggregates of the terms after the key of a group, and the terms to draw from."""
    found = []
    for _ in range(rng.randint(1, 4)):
        function = rng.choice(["count", "sum", "sum", "avg", "min", "max", "sample", "concat"])
        found.append(AggregateSpec(function, TERM, 1, rng.random() < 0.4, rng.choice([" ", "", ", "])))
    rows = [AggregateSpec("count", TERM)] if rng.random() < 0.3 else []
    return GroupSpec(1, (*found, *rows), rng.random() < 0.3), rng.choice(MIXES)


def sql_group(rng: random.Random) -> tuple[GroupSpec, Type]:
    """Aggregates of the SQL values after the key of a group, and their type."""
    kind = rng.choice(list(SQL))
    functions = ["count", "min", "max", *(["sum", "avg", "sum"] if kind.is_number else [])]
    found = [AggregateSpec(rng.choice(functions), kind.value, 1, rng.random() < 0.3) for _ in range(rng.randint(1, 4))]
    return GroupSpec(1, tuple(found), rng.random() < 0.3), kind


def term_meaning(spec: GroupSpec, terms: Sequence[Term | None]) -> list[Term | None]:
    """What the aggregates of a group of terms are."""
    found = []
    for one in spec.aggregates:
        function = "GROUP_CONCAT" if one.function == "concat" else one.function.upper()
        argument = None if one.argument is None else variable("x")
        op = aggregate_of(variable("n"), function, argument, one.distinct, one.separator)
        found.append(integer(len(terms)) if argument is None else aggregate_values(op, list(terms)))
    return found


def as_terms(spec: GroupSpec, row: Sequence[Any]) -> list[Term | str | None]:
    """What the machine says of a group of terms."""
    found: list[Term | str | None] = []
    rest = list(row[spec.keys :])
    for one in spec.aggregates:
        if one.function in ("sum", "avg"):
            kind, digits, floating = rest[:3]
            total = None if kind is None else number_literal(_number(NumericKind(kind), digits, floating))
            members = rest[3] if one.function == "avg" else None
            found.append(divide(total, integer(members)) if total is not None and members else total)
            rest = rest[4 if one.function == "avg" else 3 :]
        else:
            value = rest.pop(0)
            plain = {"count": integer, "concat": Literal}.get(one.function, str)
            found.append(None if value is None else plain(value))
    assert not rest
    return found


def _number(kind: NumericKind, digits: str | None, floating: float | None) -> NumericValue:
    if digits is None:
        assert floating is not None
        return NumericValue(kind, floating)
    return NumericValue(kind, int(digits) if kind is NumericKind.INTEGER else Decimal(f"{digits}E-18"))


def sql_meaning(spec: GroupSpec, kind: Type, values: Sequence[Value]) -> list[Value]:
    """What the aggregates of a group of SQL values are."""
    attribute = Attribute("x", kind)
    found: list[Value] = []
    for one in spec.aggregates:
        kept = list(dict.fromkeys(values)) if one.distinct else values
        function = AggregateFunction(one.function.upper())
        result = function.result(kind)
        assert result is not None
        op = SqlAggregate(function, Column(attribute), Attribute("n", result))
        value = sql_aggregate(op, Schema((attribute,)), [(value,) for value in kept])
        if one.function == "sum" and isinstance(value, Decimal):
            value = str(value)  # the machine emits its digits
        found.append(value + 0.0 if isinstance(value, float) and math.isfinite(value) else value)
    return found


def group_case(rng: random.Random) -> Case:
    """Rows of a group, for twins."""
    if rng.random() < 0.6:
        spec, terms = term_group(rng)
        made = [("key", *cells(term)) for term in terms]
    else:
        spec, kind = sql_group(rng)
        made = [("key", value) for value in SQL[kind]]
    there: list[Row] = []
    ticks = []
    for tick in times(rng):
        found = comings(rng, 0, lambda: rng.choice(made), there)
        found += [InputRow(0, 1, False, 1, None, (), ())] * rng.choice([0, 0, 0, 1])
        rng.shuffle(found)
        ticks.append(Tick(tick, found))
    return Case(json.loads(spec.to_json()), ticks, restarts(rng, ticks))
