"""Formulas for state bounds over declared rates and table sizes (E8)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, assert_never

from transom.model.time import Calendar, Rate
from transom.record import Record


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RowCount(Record):
    """A constant number of rows."""

    value: int


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Arrivals(Record):
    """The most rows of an extent in any span of ticks: its rate times the span."""

    extent: str
    span: int


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TableRows(Record):
    """The most rows of a stored table."""

    extent: str


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Sum(Record):
    """The sum of all parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Product(Record):
    """The product of all parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class CeilDivision(Record):
    """A formula divided by a number, rounded up."""

    operand: Formula
    divisor: int


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Minimum(Record):
    """The smallest of the parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Unbounded(Record):
    """No bound: the reason, and the catalog hints that would give one."""

    why: str
    hints: tuple[str, ...] = ()


class Hint(Enum):
    """Catalog hints about the objects of an extent (E8)."""

    KEYS = "keys"
    ROWS_PER_KEY = "max_rows_per_key"
    DWELL = "max_dwell"
    FORGET = "forget_after"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class DeclaredBound(Record):
    """A bound from a catalog hint: a number of keys, of rows per key, or the arrivals within a time in ticks."""

    extent: str
    hint: Hint


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class HintedBound(Record):
    """A bound that depends on catalog hints; without them `unbounded` applies."""

    operand: Formula
    unbounded: Unbounded


Formula: TypeAlias = (
    RowCount | Arrivals | TableRows | Sum | Product | CeilDivision | Minimum | DeclaredBound | HintedBound | Unbounded
)

ZERO = RowCount(0)
ONE = RowCount(1)


def plus(*parts: Formula) -> Formula:
    """Add formulas and simplify the sum: zeros are dropped, and equal parts become a multiple of one."""
    flat = [p for part in parts for p in (part.parts if isinstance(part, Sum) else (part,)) if p != ZERO]
    numbers = sum(p.value for p in flat if isinstance(p, RowCount))
    counts: Counter[Formula] = Counter()
    for part in flat:
        if isinstance(part, Product) and isinstance(part.parts[0], RowCount):
            counts[times(*part.parts[1:])] += part.parts[0].value
        elif not isinstance(part, RowCount):
            counts[part] += 1
    terms = [times(RowCount(count), part) for part, count in counts.items()] + ([RowCount(numbers)] if numbers else [])
    return terms[0] if len(terms) == 1 else Sum(tuple(terms)) if terms else ZERO


def times(*parts: Formula) -> Formula:
    """Multiply formulas and simplify the product: ones are dropped, numbers are multiplied, and zero gives ZERO."""
    flat = [p for part in parts for p in (part.parts if isinstance(part, Product) else (part,)) if p != ONE]
    if ZERO in flat:
        return ZERO
    numbers = math.prod(p.value for p in flat if isinstance(p, RowCount))
    rest = [p for p in flat if not isinstance(p, RowCount)]
    factors = ([RowCount(numbers)] if numbers != 1 else []) + rest
    return factors[0] if len(factors) == 1 else Product(tuple(factors)) if factors else ONE


def ceil_divide(dividend: Formula, divisor: int) -> Formula:
    """Divide a formula by a number and round up; the result is simplified if it is constant or the number is 1."""
    if divisor == 1 or dividend == ZERO:
        return dividend
    return (
        RowCount(-(-dividend.value // divisor)) if isinstance(dividend, RowCount) else CeilDivision(dividend, divisor)
    )


def minimum(*parts: Formula) -> Formula:
    """Return the minimum of formulas, simplified: of several numbers only the smallest remains.

    Equal parts are kept once.
    """
    numbers = [p.value for p in parts if isinstance(p, RowCount)]
    rest = tuple(dict.fromkeys(p for p in parts if not isinstance(p, RowCount)))
    chosen = ((RowCount(min(numbers)),) if numbers else ()) + rest
    return chosen[0] if len(chosen) == 1 or ZERO in chosen else Minimum(chosen)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class DeclaredStatistics(Record):
    """Statistics from the catalog: stream rates, table sizes and hints; None where not declared.

    `hints` has numbers of keys and rows, and durations in ticks.
    """

    rates: Mapping[str, Rate | None] = field(default_factory=dict)
    tables: Mapping[str, int | None] = field(default_factory=dict)
    hints: Mapping[tuple[str, Hint], int | None] = field(default_factory=dict)


def evaluate_rows(formula: Formula, statistics: DeclaredStatistics) -> int | None:
    """Evaluate a formula to a number of rows; None if it has no bound or needs a statistic that is not declared."""
    match formula:
        case RowCount(value=value):
            return value
        case Arrivals(extent=extent, span=span):
            rate = statistics.rates.get(extent)
            return None if rate is None else rate.within(span)
        case TableRows(extent=extent):
            return statistics.tables.get(extent)
        case Sum(parts=parts):
            values = [evaluate_rows(p, statistics) for p in parts]
            return None if None in values else sum(v for v in values if v is not None)
        case Product(parts=parts):
            values = [evaluate_rows(p, statistics) for p in parts]
            return None if None in values else math.prod(v for v in values if v is not None)
        case CeilDivision(operand=operand, divisor=divisor):
            dividend = evaluate_rows(operand, statistics)
            return None if dividend is None else -(-dividend // divisor)
        case Minimum(parts=parts):
            return min((v for p in parts if (v := evaluate_rows(p, statistics)) is not None), default=None)
        case DeclaredBound(extent=extent, hint=hint):
            return _hinted_rows(extent, hint, statistics)
        case HintedBound(operand=operand):
            return evaluate_rows(operand, statistics)
        case Unbounded():
            return None
        case _:
            assert_never(formula)


def largest_part(formula: Formula, statistics: DeclaredStatistics, calendar: Calendar) -> str:
    """Describe the part of a formula that makes its value large: the largest term, with the values of its factors."""
    match formula:
        case Sum(parts=parts):
            return largest_part(max(parts, key=lambda p: evaluate_rows(p, statistics) or 0), statistics, calendar)
        case Minimum(parts=parts):
            known = [p for p in parts if evaluate_rows(p, statistics) is not None]
            smallest = min(known, key=lambda p: evaluate_rows(p, statistics) or 0, default=None)
            return formula_text(formula, calendar) if smallest is None else largest_part(smallest, statistics, calendar)
        case HintedBound(operand=operand) | CeilDivision(operand=operand):
            return largest_part(operand, statistics, calendar)
        case Product(parts=parts):
            factors = dict.fromkeys(_valued(p, statistics, calendar) for p in parts if not isinstance(p, RowCount))
            return f"{formula_text(formula, calendar)}, where {' and '.join(factors)}"
        case _:
            return _valued(formula, statistics, calendar)


def _valued(formula: Formula, statistics: DeclaredStatistics, calendar: Calendar) -> str:
    """Return the text of a formula with its value, such as `rate(road) * 60 s = 1,200`."""
    value = evaluate_rows(formula, statistics)
    text = formula_text(formula, calendar)
    return text if value is None or isinstance(formula, RowCount) else f"{text} = {value:,}"


def _hinted_rows(extent: str, hint: Hint, statistics: DeclaredStatistics) -> int | None:
    """Evaluate a catalog hint for an extent (source or table) to a number of rows; None if it is not known.

    For a duration, it is the most rows that can arrive within it.
    """
    amount = statistics.hints.get((extent, hint))
    if amount is None or hint in (Hint.KEYS, Hint.ROWS_PER_KEY):
        return amount
    rate = statistics.rates.get(extent)
    return None if rate is None else rate.within(amount + 1)


def is_bounded(formula: Formula, statistics: DeclaredStatistics) -> bool:
    """Whether a formula has a bound, even if its value is unknown because rates or table sizes are not declared."""
    return not any(isinstance(gap, Unbounded) for gap in missing_declarations(formula, statistics))


def formula_text(formula: Formula, calendar: Calendar) -> str:
    """Format a formula for users, such as `rate(road) * 601 s`; the calendar converts ticks to durations."""
    match formula:
        case RowCount(value=value):
            return str(value)
        case Arrivals(extent=extent, span=span):
            return f"rate({extent}) * {calendar.describe(span)}"
        case TableRows(extent=extent):
            return f"rows({extent})"
        case Sum(parts=parts):
            return " + ".join(formula_text(p, calendar) for p in parts)
        case Product(parts=parts):
            return " * ".join(_power_text(p, count, calendar) for p, count in Counter(parts).items())
        case CeilDivision(operand=operand, divisor=divisor):
            return f"ceil({_factor_text(operand, calendar)} / {divisor})"
        case Minimum(parts=parts):
            return f"least({', '.join(formula_text(p, calendar) for p in parts)})"
        case DeclaredBound(extent=extent, hint=hint):
            return f"{hint.value}({extent})" if hint is not Hint.DWELL else f"rate({extent}) * max_dwell({extent})"
        case HintedBound(operand=operand):
            return formula_text(operand, calendar)
        case Unbounded(why=why):
            return f"unbounded ({why})"
        case _:
            assert_never(formula)


def _factor_text(formula: Formula, calendar: Calendar) -> str:
    """Format a formula as a factor of a product: like `formula_text`, but with a sum in parentheses."""
    text = formula_text(formula, calendar)
    return f"({text})" if isinstance(formula, Sum) else text


def _power_text(formula: Formula, count: int, calendar: Calendar) -> str:
    """Format a factor that occurs `count` times in a product, as a power if it occurs more than twice."""
    text = _factor_text(formula, calendar)
    if count <= 2:
        return " * ".join([text] * count)
    return f"{text}^{count}" if isinstance(formula, CeilDivision | Sum) else f"({text})^{count}"


def leaves(formula: Formula) -> Iterator[Formula]:
    """Yield the operands at the leaves of a formula; a HintedBound is one leaf, although it contains a formula."""
    match formula:
        case Sum(parts=parts) | Product(parts=parts) | Minimum(parts=parts):
            for part in parts:
                yield from leaves(part)
        case CeilDivision(operand=operand):
            yield from leaves(operand)
        case HintedBound():
            yield formula
        case _:
            yield formula


def unverified_hints(formula: Formula, statistics: DeclaredStatistics) -> list[str]:
    """List the catalog hints in a formula that no engine enforces, such as `keys(road)`.

    `forget_after` is enforced.
    """
    hints: dict[str, None] = {}
    for atom in leaves(formula):
        match atom:
            case HintedBound(operand=operand):
                hints |= dict.fromkeys(unverified_hints(operand, statistics))
            case DeclaredBound(extent=extent, hint=hint) if hint is not Hint.FORGET and statistics.hints.get(
                (extent, hint)
            ):
                hints[f"{hint.value}({extent})"] = None
            case _:
                pass
    return list(hints)


def missing_declarations(formula: Formula, statistics: DeclaredStatistics) -> list[Arrivals | TableRows | Unbounded]:
    """List why a formula has no value in rows: undeclared rates and table sizes, and parts without a bound."""
    if evaluate_rows(formula, statistics) is not None:
        return []
    gaps: dict[str, Arrivals | TableRows | Unbounded] = {}
    for atom in leaves(formula):
        match atom:
            case Arrivals(extent=extent) if statistics.rates.get(extent) is None:
                gaps.setdefault(extent, atom)
            case TableRows(extent=extent) if statistics.tables.get(extent) is None:
                gaps.setdefault(extent, atom)
            case Unbounded(why=why):
                gaps.setdefault(why, atom)
            case HintedBound(operand=operand, unbounded=gap) if evaluate_rows(operand, statistics) is None:
                gaps.setdefault(gap.why, gap)
    return list(gaps.values())
