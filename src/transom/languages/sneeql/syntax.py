"""The syntax tree of SNEEql."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from transom.errors import Span
from transom.languages.sql.syntax import NOWHERE, Node, SelectItem, TimeZone
from transom.record import Record


class OffsetUnit(Enum):
    """The unit of a window's offsets and slide, written once, after SLIDE or SCAN (S3)."""

    SEC = "SEC"
    MIN = "MIN"
    HOUR = "HOUR"
    ROWS = "ROWS"

    @property
    def seconds(self) -> int:
        """The length of a time unit in seconds; raises KeyError for ROWS."""
        return {"SEC": 1, "MIN": 60, "HOUR": 3600}[self.value]


class Converter(Enum):
    """An operator from a stream of windows to a stream of tuples."""

    RSTREAM = "RSTREAM"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class FromToWindow(Record):
    """[FROM NOW-past TO NOW-until SLIDE slide unit]."""

    past: int
    until: int
    slide: int
    unit: OffsetUnit
    span: Span = field(default=NOWHERE, compare=False)
    slide_span: Span = field(default=NOWHERE, compare=False)
    past_span: Span = field(default=NOWHERE, compare=False)
    until_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class CalendarWindow(Record):
    """[FROM NOW-past TO NOW-until SLIDE slide unit AT zone], with a calendar unit such as DAY."""

    past: int
    until: int
    slide: int
    unit: str
    zone: TimeZone
    span: Span = field(default=NOWHERE, compare=False)
    slide_span: Span = field(default=NOWHERE, compare=False)
    past_span: Span = field(default=NOWHERE, compare=False)
    until_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ScanWindow(Record):
    """[SCAN every unit]."""

    every: int
    unit: OffsetUnit
    span: Span = field(default=NOWHERE, compare=False)
    every_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Source(Record):
    """An item of FROM: an extent or a subquery, with an optional alias and window."""

    input: str | Query
    alias: str | None = None
    window: FromToWindow | CalendarWindow | ScanWindow | None = None
    span: Span = field(default=NOWHERE, compare=False)
    input_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Select(Record):
    """SELECT .. FROM .. WHERE .. GROUP BY .. HAVING; no items means `*`. `starts` are the clauses' offsets."""

    items: tuple[SelectItem, ...]
    sources: tuple[Source, ...]
    where: Node | None = None
    group_by: tuple[Node, ...] = ()
    having: Node | None = None
    span: Span = field(default=NOWHERE, compare=False)
    starts: tuple[int, ...] = field(default=(), compare=False)
    star_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Convert(Record):
    """RSTREAM(q), ISTREAM(q) or DSTREAM(q)."""

    converter: Converter
    query: Query
    span: Span = field(default=NOWHERE, compare=False)


Query: TypeAlias = Select | Convert
"""Any SNEEql query."""
