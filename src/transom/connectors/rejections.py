"""The hint for a source most of whose rows are rejected: the setting of the catalog that is probably wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from transom.catalog.extent import Extent
from transom.catalog.reading.ticks import ISO, accepted_hint
from transom.catalog.sources import Files
from transom.model.reject_reason import RejectReason, is_mostly_rejected, most_frequent
from transom.model.time import Calendar

_AHEAD = re.compile(r"tick (\d+), the last one that is allowed now is (\d+)")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?")
_NEGATIVE = re.compile(r"(?<!\S)'?\s*-[0-9.]+'? lies before tick 0")
_COMMA_NUMBER = re.compile(r"'\s*[-+]?[0-9.]*[0-9],[0-9]+\s*' is not of type (?:float|decimal)")
_POINT_NUMBER = re.compile(r"'\s*[-+]?[0-9,]*[0-9]\.[0-9]+\s*' is not of type (?:float|decimal)")
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NEAR = timedelta(days=3653)
"""How far from now the times of live rows may plausibly be."""


def rejection_hint(
    extent: Extent, calendar: Calendar, counts: Mapping[str, int], used: int, example: str
) -> str | None:
    """Return the probable remedy if most rows of an extent are rejected; None if most are used, or none is known.

    `counts` are the rejected rows by reason, `used` is the number of the others, and `example` says what is wrong with
    the first row that has the most frequent reason.
    """
    if extent.holds_statements or not is_mostly_rejected(counts, used):
        return None
    match RejectReason(most_frequent(counts)):
        case RejectReason.AHEAD:
            return _ahead_hint(calendar, example)
        case RejectReason.EPOCH:
            return _epoch_hint(example)
        case RejectReason.TIME:
            return _time_hint(extent)
        case RejectReason.TYPE:
            return _type_hint(extent, example)
        case _:
            return None


def _epoch_hint(example: str) -> str:
    """Return the hint for times before tick 0, with the time of the row that `example` describes."""
    if _NEGATIVE.search(example):
        return "ticks are whole numbers from 0"
    instant = _INSTANT.search(example)
    return f"set `epoch` in the catalog before {instant[0]}" if instant else "set `epoch` in the catalog earlier"


def _ahead_hint(calendar: Calendar, example: str) -> str | None:
    """Return the hint for times far ahead of the clock: they may be in another unit, or count from another instant."""
    match = _AHEAD.search(example)
    if match is None:
        return None
    tick, limit = int(match[1]), int(match[2])
    now = calendar.instant_of(limit)
    if _is_near(now, tick, timedelta(milliseconds=1)):
        return "are the values milliseconds since 1970? then write `epoch: 1970-01-01` and `tick: 1 ms` in the catalog"
    if 500 * limit < tick < 2000 * limit:
        return "are the values milliseconds? then shorten `tick` in the catalog to 1 ms"
    if calendar.epoch != _UNIX_EPOCH and _is_near(now, tick, timedelta(seconds=1)):
        return "are the values seconds since 1970? then write `epoch: 1970-01-01` in the catalog"
    return "are the values in another unit than `tick`, or is `epoch` in the catalog too late?"


def _is_near(now: datetime, number: int, unit: timedelta) -> bool:
    """Whether so many `unit`s after 1970 it is `now`, within ten years."""
    try:
        return abs(_UNIX_EPOCH + number * unit - now) < _NEAR
    except OverflowError:
        return False


def _time_hint(extent: Extent) -> str:
    """Return the hint for times that cannot be read, which names `time_format` where the source can have it."""
    accepted = f"write a whole number of ticks, or {ISO}"
    if not isinstance(extent.source, Files):
        return accepted
    if extent.source.time_format is not None:
        return "correct the times, or `time_format` under files in the catalog"
    return f"{accepted}; or declare the format under files in the catalog, such as `time_format: '%d/%m/%Y %H:%M:%S'`"


def _type_hint(extent: Extent, example: str) -> str | None:
    """Return the hint for values of a wrong type, which names `decimal` if the decimal mark is not the declared one."""
    if isinstance(extent.source, Files):
        if extent.source.decimal == "." and _COMMA_NUMBER.search(example):
            if extent.source.delimiter == ",":
                return "the numbers have a decimal comma: write 1.5, or use another `delimiter` and `decimal: ','`"
            return "the numbers have a decimal comma: write `decimal: ','` under files in the catalog"
        if extent.source.decimal == "," and _POINT_NUMBER.search(example):
            return "the numbers have a decimal point: remove `decimal` under files in the catalog"
    name = example.partition(":")[0]
    return next((accepted_hint(attribute.type) for attribute in extent.schema if attribute.name == name), None)
