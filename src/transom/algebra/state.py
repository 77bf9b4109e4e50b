"""Formulas for how many rows an operator must remember, over declared rates and sizes (E8)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias, assert_never

from transom.model.time import Calendar, Rate


@dataclass(frozen=True, slots=True)
class Number:
    """So many rows, whatever the data."""

    value: int


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The most rows of an extent in any span of ticks: its rate times the span."""

    extent: str
    span: int


@dataclass(frozen=True, slots=True)
class TableRows:
    """The most rows that a stored table has."""

    extent: str


@dataclass(frozen=True, slots=True)
class Sum:
    """All parts together."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Times:
    """All parts multiplied."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """One of every so many, rounded up."""

    of: Formula
    divisor: int


@dataclass(frozen=True, slots=True)
class Least:
    """The smallest part."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Unbounded:
    """No bound: why, and the catalog hints that would give one."""

    why: str
    hints: tuple[str, ...] = ()


class Hint(Enum):
    """What a catalog may say of the objects of an extent (E8)."""

    KEYS = "keys"
    ROWS_PER_KEY = "max_rows_per_key"
    DWELL = "max_dwell"
    FORGET = "forget_after"


@dataclass(frozen=True, slots=True)
class Told:
    """What a hint of the catalog allows: so many keys, so many rows of a key, or the rows of so many ticks."""

    extent: str
    hint: Hint


@dataclass(frozen=True, slots=True)
class Hinted:
    """A bound that only hints give; without them there is none."""

    of: Formula
    gap: Unbounded


Formula: TypeAlias = Number | Arrivals | TableRows | Sum | Times | Share | Least | Told | Hinted | Unbounded

NOTHING = Number(0)
ONE = Number(1)


def plus(*parts: Formula) -> Formula:
    """A sum without zeros; equal parts are counted, not repeated."""
    flat = [p for part in parts for p in (part.parts if isinstance(part, Sum) else (part,)) if p != NOTHING]
    numbers = sum(p.value for p in flat if isinstance(p, Number))
    counts: Counter[Formula] = Counter()
    for part in flat:
        if isinstance(part, Times) and isinstance(part.parts[0], Number):
            counts[times(*part.parts[1:])] += part.parts[0].value
        elif not isinstance(part, Number):
            counts[part] += 1
    terms = [times(Number(count), part) for part, count in counts.items()] + ([Number(numbers)] if numbers else [])
    return terms[0] if len(terms) == 1 else Sum(tuple(terms)) if terms else NOTHING


def times(*parts: Formula) -> Formula:
    """A product without ones; nothing if a part is nothing."""
    flat = [p for part in parts for p in (part.parts if isinstance(part, Times) else (part,)) if p != ONE]
    if NOTHING in flat:
        return NOTHING
    numbers = math.prod(p.value for p in flat if isinstance(p, Number))
    rest = [p for p in flat if not isinstance(p, Number)]
    factors = ([Number(numbers)] if numbers != 1 else []) + rest
    return factors[0] if len(factors) == 1 else Times(tuple(factors)) if factors else ONE


def share(of: Formula, divisor: int) -> Formula:
    """One of every so many, rounded up."""
    if divisor == 1 or of == NOTHING:
        return of
    return Number(-(-of.value // divisor)) if isinstance(of, Number) else Share(of, divisor)


def least(*parts: Formula) -> Formula:
    """The smallest part; one number is enough of all numbers."""
    numbers = [p.value for p in parts if isinstance(p, Number)]
    rest = tuple(dict.fromkeys(p for p in parts if not isinstance(p, Number)))
    chosen = ((Number(min(numbers)),) if numbers else ()) + rest
    return chosen[0] if len(chosen) == 1 or NOTHING in chosen else Least(chosen)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the catalog declares: the rate of each stream, the size of each table, hints on objects, where it does.

    `hints` has numbers of keys and rows, and lengths of time in ticks.
    """

    rates: Mapping[str, Rate | None] = field(default_factory=dict)
    tables: Mapping[str, int | None] = field(default_factory=dict)
    hints: Mapping[tuple[str, Hint], int | None] = field(default_factory=dict)


def rows(formula: Formula, known: Knowledge) -> int | None:
    """The number of rows that a formula stands for, or None where something is not declared or has no bound."""
    match formula:
        case Number(value=value):
            return value
        case Arrivals(extent=extent, span=span):
            rate = known.rates.get(extent)
            return None if rate is None else rate.within(span)
        case TableRows(extent=extent):
            return known.tables.get(extent)
        case Sum(parts=parts):
            values = [rows(p, known) for p in parts]
            return None if None in values else sum(v for v in values if v is not None)
        case Times(parts=parts):
            values = [rows(p, known) for p in parts]
            return None if None in values else math.prod(v for v in values if v is not None)
        case Share(of=of, divisor=divisor):
            value_of = rows(of, known)
            return None if value_of is None else -(-value_of // divisor)
        case Least(parts=parts):
            return min((v for p in parts if (v := rows(p, known)) is not None), default=None)
        case Told(extent=extent, hint=hint):
            return _told(extent, hint, known)
        case Hinted(of=of):
            return rows(of, known)
        case Unbounded():
            return None
        case _:
            assert_never(formula)


def _told(extent: str, hint: Hint, known: Knowledge) -> int | None:
    amount = known.hints.get((extent, hint))
    if amount is None or hint in (Hint.KEYS, Hint.ROWS_PER_KEY):
        return amount
    rate = known.rates.get(extent)
    return None if rate is None else rate.within(amount + 1)


def bounded(formula: Formula, known: Knowledge) -> bool:
    """Whether nothing in a formula lacks a bound; a rate that is not declared is only not known."""
    return not any(isinstance(gap, Unbounded) for gap in missing(formula, known))


def text(formula: Formula, calendar: Calendar) -> str:
    """A formula as people write it: `rate(road) * 601 s`."""
    match formula:
        case Number(value=value):
            return str(value)
        case Arrivals(extent=extent, span=span):
            return f"rate({extent}) * {calendar.describe(span)}"
        case TableRows(extent=extent):
            return f"rows({extent})"
        case Sum(parts=parts):
            return " + ".join(text(p, calendar) for p in parts)
        case Times(parts=parts):
            return " * ".join(f"({text(p, calendar)})" if isinstance(p, Sum) else text(p, calendar) for p in parts)
        case Share(of=of, divisor=divisor):
            return f"ceil({text(of, calendar)} / {divisor})"
        case Least(parts=parts):
            return f"least({', '.join(text(p, calendar) for p in parts)})"
        case Told(extent=extent, hint=hint):
            return f"{hint.value}({extent})" if hint is not Hint.DWELL else f"rate({extent}) * max_dwell({extent})"
        case Hinted(of=of):
            return text(of, calendar)
        case Unbounded(why=why):
            return f"unbounded ({why})"
        case _:
            assert_never(formula)


def atoms(formula: Formula) -> Iterator[Formula]:
    """The parts of a formula that have no parts."""
    match formula:
        case Sum(parts=parts) | Times(parts=parts) | Least(parts=parts):
            for part in parts:
                yield from atoms(part)
        case Share(of=of):
            yield from atoms(of)
        case Hinted():
            yield formula
        case _:
            yield formula


def promises(formula: Formula, known: Knowledge) -> list[str]:
    """The hints of the catalog that a formula rests on and that no engine makes true; forgetting is none of them."""
    found: dict[str, None] = {}
    for atom in atoms(formula):
        match atom:
            case Hinted(of=of):
                found |= dict.fromkeys(promises(of, known))
            case Told(extent=extent, hint=hint) if hint is not Hint.FORGET and known.hints.get((extent, hint)):
                found[f"{hint.value}({extent})"] = None
            case _:
                pass
    return list(found)


def missing(formula: Formula, known: Knowledge) -> list[Arrivals | TableRows | Unbounded]:
    """What keeps a formula from being a number: rates and sizes that are not declared, ranges without a bound."""
    if rows(formula, known) is not None:
        return []
    gaps: dict[str, Arrivals | TableRows | Unbounded] = {}
    for atom in atoms(formula):
        match atom:
            case Arrivals(extent=extent) if known.rates.get(extent) is None:
                gaps.setdefault(extent, atom)
            case TableRows(extent=extent) if known.tables.get(extent) is None:
                gaps.setdefault(extent, atom)
            case Unbounded(why=why):
                gaps.setdefault(why, atom)
            case Hinted(of=of, gap=gap) if rows(of, known) is None:
                gaps.setdefault(gap.why, gap)
    return list(gaps.values())
