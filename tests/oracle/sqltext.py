"""SNEEql expressions as DuckDB SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .question import Aggregate, Between, Binary, Case, Column, Expr, In, IsNull, Literal, Not, Value


@dataclass
class Scope:
    """Which SQL column a written name means; None marks a name with two meanings."""

    meaning: dict[tuple[str | None, str], str | None] = field(default_factory=dict)

    def add(self, qualifier: str | None, names: Sequence[str], sql: Sequence[str]) -> None:
        """Make the columns of one from-item known, with and without its qualifier."""
        for name, column in zip(names, sql, strict=True):
            if qualifier is not None:
                self._enter((qualifier, name), column)
            self._enter((None, name), column)

    def add_implicit(self, qualifier: str | None, name: str, sql: str) -> None:
        """Make `tick` or `index` known unless a declared attribute has that name."""
        self.meaning.setdefault((qualifier, name), sql)

    def _enter(self, key: tuple[str | None, str], sql: str) -> None:
        self.meaning[key] = None if key in self.meaning else sql

    def find(self, column: Column) -> str:
        """The SQL column that this written column means."""
        sql = self.meaning.get((column.qualifier, column.name))
        if sql is None:
            raise ValueError(f"{column} is unknown or has two meanings")
        return sql


def literal_sql(value: Value) -> str:
    """A literal with the type that SNEEql gives it."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float):
        return f"CAST({value!r} AS DOUBLE)"
    return f"CAST({value} AS BIGINT)"


def expr_sql(expr: Expr, scope: Scope) -> str:
    """An expression as SQL, always safe to stand inside another one."""

    def inner(piece: Expr) -> str:
        return expr_sql(piece, scope)

    match expr:
        case Column():
            return scope.find(expr)
        case Literal(value):
            return literal_sql(value)
        case Binary("/", left, right):
            divisor = f"CAST({inner(right)} AS DOUBLE)"
            return f"(CASE WHEN {divisor} = 0 THEN NULL ELSE CAST({inner(left)} AS DOUBLE) / {divisor} END)"
        case Binary(op, left, right):
            return f"({inner(left)} {op} {inner(right)})"
        case Not(operand):
            return f"(NOT {inner(operand)})"
        case IsNull(operand, negated):
            return f"({inner(operand)} IS {'NOT ' if negated else ''}NULL)"
        case In(operand, options, negated):
            # Written out as comparisons: IN is short for OR over =, NOT IN for AND over <>.
            tests = [f"({inner(operand)} {'<>' if negated else '='} {inner(option)})" for option in options]
            return f"({(' AND ' if negated else ' OR ').join(tests)})"
        case Between(operand, low, high, negated):
            value = inner(operand)
            inside = f"(({value} >= {inner(low)}) AND ({value} <= {inner(high)}))"
            return f"(NOT {inside})" if negated else inside
        case Case(branches, otherwise):
            arms = " ".join(f"WHEN {inner(test)} THEN {inner(value)}" for test, value in branches)
            last = "" if otherwise is None else f" ELSE {inner(otherwise)}"
            return f"(CASE {arms}{last} END)"
        case Aggregate(function, argument):
            return _aggregate_sql(function, None if argument is None else inner(argument))


def _aggregate_sql(function: str, argument: str | None) -> str:
    """An aggregate over the rows that are really there (an outer join to f adds one without `ord`)."""
    there = "FILTER (WHERE f.ord IS NOT NULL)"
    if argument is None:
        return f"(COUNT(*) {there})"
    if function == "AVG":
        return f"(CAST(SUM({argument}) {there} AS DOUBLE) / (COUNT({argument}) {there}))"
    if function not in {"COUNT", "SUM", "MIN", "MAX"}:
        raise ValueError(f"unknown aggregate {function}")
    return f"({function}({argument}) {there})"
