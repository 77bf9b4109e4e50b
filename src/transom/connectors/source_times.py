"""The times of a source as its catalog entry says that they are written: in a `time_format`, in a time `zone`."""

from __future__ import annotations

from datetime import datetime

from transom.catalog.reading.ticks import HintedError, is_tick
from transom.catalog.reading.wording import display_value
from transom.catalog.time_formats import TimeFormat
from transom.model.local_times import LocalTimes

_TEXT_HINT = "write the offset behind the time, such as +01:00"
_DATETIME_HINT = "give the times a time zone, in pandas with tz_localize(zone, ambiguous=..)"


def formatted_time(value: object, time_format: TimeFormat, zone: LocalTimes | None) -> object:
    """Convert a text in a time format to ISO 8601, or to an instant if it is a local time of `zone` (None: UTC).

    HintedError if the value is no text in this format, or if `zone` skips the local time or has it twice.
    """
    iso_text = time_format.iso(value) if isinstance(value, str) else None
    if iso_text is None:
        raise HintedError(f"{display_value(value)} is not written as {time_format.text}", "correct it, or time_format")
    try:
        return with_zone(iso_text, zone)
    except HintedError as error:
        problem = str(error).removeprefix(f"{display_value(iso_text)} ")
        raise HintedError(f"{display_value(value)} {problem}", error.hint) from error


def with_zone(value: object, zone: LocalTimes | None) -> object:
    """Convert a local time of `zone`, a datetime or ISO 8601, to a datetime in UTC; return other values unchanged.

    Without a zone, all values are unchanged. HintedError if the zone skips the local time, or has it twice.
    """
    if zone is None or not isinstance(value, str | datetime) or (isinstance(value, str) and is_tick(value)):
        return value
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
    except ValueError:
        return value
    if moment.tzinfo is not None:
        return value
    try:
        return zone.instant_of(moment)
    except ValueError as error:
        if isinstance(value, str):
            raise HintedError(f"{display_value(value)} {error}", _TEXT_HINT) from error
        raise HintedError(f"{moment.isoformat(' ')} {error}", _DATETIME_HINT) from error
