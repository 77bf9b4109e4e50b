"""Texts of windows for hints and warnings, and the counterparts of CQL windows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transom.languages.sneeql.syntax import OffsetUnit
from transom.languages.sneeql.unparse import now_text
from transom.model.time import UNITS

_QUANTITY = r"'?(\d{1,9})\s*([A-Za-z]+)'?"
_CQL_RANGE = re.compile(rf"RANGE\s+{_QUANTITY}(?:\s*,?\s*SLIDE\s+{_QUANTITY})?\s*\]", re.IGNORECASE)
_CQL_ROWS = re.compile(r"ROWS?\s+(\d{1,9})\s*\]", re.IGNORECASE)
_CQL_NOW = re.compile(r"NOW\s*\]", re.IGNORECASE)


def window_text(past: int, until: int, slide: int, unit: OffsetUnit) -> str:
    """Return a SNEEql window as text: `[FROM NOW-past TO NOW-until SLIDE slide unit]`.

    >>> window_text(59, 0, 60, OffsetUnit.SEC)
    '[FROM NOW-59 TO NOW SLIDE 60 SEC]'
    """
    return f"[FROM {now_text(past)} TO {now_text(until)} SLIDE {slide} {unit.value}]"


def exact_window(lengths: Sequence[int]) -> str | None:
    """Return a window with `lengths` past, until, slide (microseconds) in the largest exact unit; None if no unit fits.

    `lengths` are past, until and slide.

    >>> exact_window([3_600_000_000, 0, 60_000_000])
    '[FROM NOW-60 TO NOW SLIDE 1 MIN]'
    """
    for unit in (OffsetUnit.HOUR, OffsetUnit.MIN, OffsetUnit.SEC):
        size = unit.seconds * 1_000_000
        if not any(length % size for length in lengths):
            past, until, slide = (length // size for length in lengths)
            return window_text(past, until, slide, unit)
    return None


def cql_tumbling_window(slide: int, tick: int) -> str:
    """Return the CQL window of one `slide` without overlap or gap, with a reason; `slide` and `tick` are microseconds.

    >>> cql_tumbling_window(60_000_000, 1_000)
    "the query in CQL with [RANGE '59999 ms', SLIDE '60 seconds'], because SNEEql has no unit shorter than SEC"
    """
    width, step = (_cql_quantity(length) for length in (slide - tick, slide))
    return f"the query in CQL with [RANGE '{width}', SLIDE '{step}'], because SNEEql has no unit shorter than SEC"


def _cql_quantity(microseconds: int) -> str:
    """Write a length of time for CQL in the largest unit up to seconds that is exact."""
    unit = next(unit for unit in ("seconds", "ms", "us") if microseconds % UNITS[unit] == 0)
    return f"{microseconds // UNITS[unit]} {unit}"


def counterpart_of_cql(text: str) -> str | None:
    """Convert a CQL window, given after its `[`, such as `ROWS 5]`, to an equal SNEEql one; None without one.

    >>> counterpart_of_cql("RANGE '5 minutes', SLIDE '1 minute'] WHERE ...")
    '[FROM NOW-5 TO NOW SLIDE 1 MIN]'
    """
    if _CQL_NOW.match(text):
        return window_text(0, 0, 1, OffsetUnit.SEC)
    rows = _CQL_ROWS.match(text)
    if rows:
        return window_text(int(rows[1]) - 1, 0, 1, OffsetUnit.ROWS) if int(rows[1]) else None
    time = _CQL_RANGE.match(text)
    if time is None or any(unit and unit.lower() not in UNITS for unit in (time[2], time[4])):
        return None
    width = int(time[1]) * UNITS[time[2].lower()]
    slide = int(time[3]) * UNITS[time[4].lower()] if time[3] else 1_000_000
    return exact_window([width, 0, slide]) if slide else None
