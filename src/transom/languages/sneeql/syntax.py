"""The syntax tree of SNEEql."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from transom.errors import Span
from transom.languages.sql.syntax import NOWHERE, Node, SelectItem


class Unit(Enum):
    """The unit of a window's offsets and slide; it stands once, after SLIDE or SCAN (S3)."""

    SEC = "SEC"
    MIN = "MIN"
    HOUR = "HOUR"
    ROWS = "ROWS"

    @property
    def seconds(self) -> int:
        """Its length, for units of time."""
        return {"SEC": 1, "MIN": 60, "HOUR": 3600}[self.value]


class Converter(Enum):
    """What makes a stream of tuples from a stream of windows."""

    RSTREAM = "RSTREAM"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"


@dataclass(frozen=True, slots=True)
class RangeWindow:
    """[FROM NOW-past TO NOW-until SLIDE slide unit]."""

    past: int
    until: int
    slide: int
    unit: Unit
    span: Span = field(default=NOWHERE, compare=False)
    slide_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ScanWindow:
    """[SCAN every unit]."""

    every: int
    unit: Unit
    span: Span = field(default=NOWHERE, compare=False)
    every_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Source:
    """One item of FROM: an extent or a subquery, an alias and a window where there is one."""

    input: str | Query
    alias: str | None = None
    window: RangeWindow | ScanWindow | None = None
    span: Span = field(default=NOWHERE, compare=False)
    input_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT .. FROM .. WHERE .. GROUP BY .. HAVING; no items means `*`. `starts` is where each clause begins."""

    items: tuple[SelectItem, ...]
    sources: tuple[Source, ...]
    where: Node | None = None
    group_by: tuple[Node, ...] = ()
    having: Node | None = None
    span: Span = field(default=NOWHERE, compare=False)
    starts: tuple[int, ...] = field(default=(), compare=False)
    star_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Convert:
    """RSTREAM(q), ISTREAM(q) or DSTREAM(q)."""

    converter: Converter
    query: Query
    span: Span = field(default=NOWHERE, compare=False)


Query: TypeAlias = Select | Convert
"""Any SNEEql query."""
