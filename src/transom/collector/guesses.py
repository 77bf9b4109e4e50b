"""What a sample of a source suggests: types, the time of a row, its pace, what groups rows. Guesses, and no more."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from transom.catalog.ticks import read_instant
from transom.catalog.time_formats import TimeFormat, read_time_format
from transom.model.types import DIGITS, INTEGER_MAX

Columns = Mapping[str, Sequence[object]]
"""The values of a sample by column; ABSENT where a row does not have it."""

_TIMES = ("tick", "time", "timestamp", "ts", "at", "when", "date", "datetime", "instant")
_TIME = re.compile(r"(.*_)?(time|timestamp|ts|at|date)")
_KEY = re.compile(r"(.*_)?(id|site|sensor|device|machine|node|station|unit|line|key|no|number|mmsi|zone)", re.I)
_OBJECT = re.compile(
    r"(.*_)?(vehicle|car|truck|bus|ship|vessel|object|tracker|mmsi|imei|callsign|plate)(_?(id|no|number|name))?", re.I
)
_FORMATS = tuple(
    read_time_format(f"{day}{clock}")
    for day in (
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d.%m.%Y",
        "%d-%m-%Y",
        "%Y/%m/%d",
        "%d-%b-%Y",
        "%d %b %Y",
        "%d/%m/%y",
        "%m/%d/%y",
    )
    for clock in (" %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p", "")
)
"""Formats that are tried where no column has instants in ISO 8601; the day before the month where both fit."""
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})\Z")
_FLOAT = re.compile(r"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?\Z")
_SINCE_1970 = {"1 s": (10**9, 4 * 10**9), "1 ms": (10**12, 4 * 10**12), "1 us": (10**15, 4 * 10**15)}
"""Numbers that are instants of this century, by the length that they count."""


class Absent:
    """Stands for what a row does not have at all, not even as NULL."""


ABSENT = Absent()


@dataclass(frozen=True)
class Clock:
    """When rows are: their instants as far as known, and what the catalog says of it, each with its comment."""

    instants: tuple[datetime, ...]
    tick: str | None
    epoch: str | None


def typed(cell: object) -> object:
    """What the text of a cell, or of a level of a topic, looks like; 007 is no number."""
    if not isinstance(cell, str):
        return cell
    if cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    if _WHOLE.match(cell):
        return int(cell)
    return float(cell) if _FLOAT.match(cell) else cell


def kind_of(column: Sequence[object], *, text: bool = False) -> str | None:
    """The narrowest type that holds all values; None where there is none. As `text`, a string holds whatever it is."""
    given = [value for value in column if value is not None and value is not ABSENT]
    for name, holds in _HOLDS.items():
        if given and all(map(holds, given)):
            return name
    return "string" if text or not given else None


def _number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_HOLDS = {
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _whole(value) and abs(value) <= INTEGER_MAX,
    "decimal": lambda value: isinstance(value, Decimal) or (_whole(value) and len(str(abs(value))) <= DIGITS),
    "float": lambda value: _number(value) and (not isinstance(value, float) or math.isfinite(value) or value != value),
    "timestamp": lambda value: instant(value) is not None,
    "string": lambda value: isinstance(value, str),
}


def instant(value: object) -> datetime | None:
    """The instant that a value is, or that its text says."""
    if not isinstance(value, date | str) or (isinstance(value, str) and (len(value) < 10 or typed(value) != value)):
        return None
    try:
        return read_instant(value)
    except ValueError:
        return None


def time_of(columns: Columns) -> str | None:
    """The column that says when: one that is called so, else the only one of instants. All rows have it."""
    whole = {name: column for name, column in columns.items() if all(v is not None and v is not ABSENT for v in column)}
    kinds = {name: kind_of(column) for name, column in whole.items()}
    fitting = [n for n, kind in kinds.items() if kind == "timestamp" or (kind == "integer" and _ticks(whole[n]))]
    last = {name: name.rpartition(".")[2].lower() for name in fitting}
    for known in _TIMES:
        if known in last.values():
            return next(name for name in fitting if last[name] == known)
    named = [name for name in fitting if _TIME.fullmatch(last[name])]
    if named:
        return named[0]
    instants = [name for name in fitting if kinds[name] == "timestamp"]
    return instants[0] if len(instants) == 1 else None


def _ticks(column: Sequence[object]) -> bool:
    return all(isinstance(value, int) and value >= 0 for value in column)


def clock_of(column: Sequence[object]) -> Clock:
    """What the values of a time column say: instants, numbers that count from 1970, or ticks."""
    whole = [value for value in column if isinstance(value, int)]
    if not whole:
        return of_instants([found for value in column if (found := instant(value)) is not None])
    for length, (least, most) in _SINCE_1970.items():
        if all(least <= value < most for value in whole):
            one = timedelta(microseconds=10 ** (6 - 3 * list(_SINCE_1970).index(length)))
            instants = tuple(datetime(1970, 1, 1, tzinfo=UTC) + value * one for value in whole)
            epoch = "1970-01-01T00:00:00Z  # windows begin there: give simulate and run a --start"
            return Clock(instants, f"{length}  # a guess: the time counts it since 1970, by its size", epoch)
    return Clock((), None, None)


def of_instants(instants: Sequence[datetime], what: str = "the earliest time of the sample") -> Clock:
    """Ticks of a second from the midnight before the first."""
    if not instants:
        return Clock((), None, None)
    first = min(instants).replace(hour=0, minute=0, second=0, microsecond=0)
    epoch = f"{first:%Y-%m-%dT%H:%M:%SZ}  # a guess: the midnight before {what}; nothing may be older"
    return Clock(tuple(instants), "1 s  # a guess: what is closer together has the same time", epoch)


def pace(instants: Sequence[datetime]) -> list[str]:
    """The rate of a sample in the order in which it came, and how far it was out of order."""
    if len(instants) < 2 or max(instants) <= min(instants):
        return []
    lines = []
    twice = 2 * len(instants) / (max(instants) - min(instants)).total_seconds()
    rate = f"{math.ceil(twice)} per s" if twice > 10 else f"{max(1, math.ceil(twice * 60))} per min"
    lines.append(f"rate: {rate}  # a guess: twice the rate of the sample")
    latest, behind = instants[0], 0.0
    for moment in instants:
        behind = max(behind, (latest - moment).total_seconds())
        latest = max(latest, moment)
    if behind > 0:
        lines.append(f"lateness: {math.ceil(2 * behind)} s  # a guess: twice as late as the latest of the sample")
    return lines


def written_time(columns: Columns) -> tuple[str, list[TimeFormat]] | None:
    """The column of text that says when in a format of its own, and the formats that all its values have."""
    found: dict[str, list[TimeFormat]] = {}
    for name, column in columns.items():
        texts = [value for value in column if isinstance(value, str)]
        fitting = [one for one in _FORMATS if all(_instant_of(one, text) for text in texts)]
        if texts and len(texts) == len(column) and fitting:
            found[name] = fitting
    named = [name for name in found if name.lower() in _TIMES] or [n for n in found if _TIME.fullmatch(n.lower())]
    chosen = named[0] if named else next(iter(found)) if len(found) == 1 else None
    return None if chosen is None else (chosen, found[chosen])


def _instant_of(written: TimeFormat, text: str) -> datetime | None:
    iso = written.iso(text)
    try:
        return None if iso is None else read_instant(iso)
    except ValueError:
        return None


def instants_of(written: TimeFormat, column: Sequence[object]) -> list[datetime]:
    """The instants of a column that is written in a format."""
    return [one for text in column if isinstance(text, str) and (one := _instant_of(written, text)) is not None]


def object_of(columns: Columns, kinds: Mapping[str, str], fields: Mapping[str, str]) -> list[str]:
    """The attribute that names the moving object: one that is called so, else one that rows are grouped by."""
    found = []
    for name, kind in kinds.items():
        column = columns[fields.get(name, name)]
        repeated = len({value for value in column if isinstance(value, str | int)}) <= max(1, len(column) // 2)
        if kind in ("string", "integer") and repeated:
            found.append(name)
    called = [name for name in found if _OBJECT.fullmatch(name)] or [name for name in found if _KEY.fullmatch(name)]
    grouped = [name for name in found if kinds[name] == "string"]
    if not (called or grouped):
        return ["# note: no column seems to name the moving object; without `object` all rows are one path"]
    return [f"object: {(called or grouped)[0]}  # a guess: each value is a moving object with a path of its own"]


def keys_of(columns: Columns, time: str | None) -> list[str]:
    """How many values the column has that rows seem to be grouped by."""
    for name, column in columns.items():
        kind = kind_of(column)
        told = kind == "string" or (kind == "integer" and _KEY.fullmatch(name.rpartition(".")[2]))
        values = {value for value in column if isinstance(value, str | int)}
        if name != time and told and 1 < len(values) <= len(column) // 2:
            return [f"keys: {len(values)}  # a guess: {name} has so many values in the sample"]
    return []


def place_of(kinds: Mapping[str, str]) -> list[str]:
    """The position, where the names of two attributes say longitude and latitude."""
    known = {name.lower(): name for name, kind in kinds.items() if kind in ("float", "decimal")}
    for east, north in (("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"), ("long", "lat")):
        for low, name in known.items():
            other = known.get(low.removesuffix(east) + north) if low == east or low.endswith(f"_{east}") else None
            if other is not None:
                return [f"position: {{lon: {name}, lat: {other}}}  # a guess, by the names"]
    return []


def name_of(text: str, taken: Sequence[str] = ()) -> str:
    """A name that queries can write; one that is not taken, whatever the case."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "source"
    name = f"_{name}" if name[0].isdigit() else name
    used, found, number = {one.lower() for one in taken}, name, 1
    while found.lower() in used:
        number += 1
        found = f"{name}_{number}"
    return found


def quoted(text: str) -> str:
    """Text as YAML reads it back."""
    return text if re.fullmatch(r"[A-Za-z_][\w./-]*", text, re.ASCII) else "'" + text.replace("'", "''") + "'"
