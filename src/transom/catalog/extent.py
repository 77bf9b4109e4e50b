"""Declared extents (Sec. 3 of the SNEEql document; S30)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from transom.catalog.growing import GrowingTable
from transom.catalog.sources import Files, Source
from transom.model.geometry.space import Position, Speed
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar, Rate
from transom.model.types import Type, Value

DEFAULT_MAX_AHEAD = 300_000_000
"""Default for how far a row may be ahead of the receiver's clock, in microseconds."""


class ExtentKind(Enum):
    """How the rows of an extent are acquired."""

    SENSED = "sensed"
    PUSHED = "pushed"
    STORED = "stored"

    def __str__(self) -> str:
        """Return the kind as it is written in catalogs."""
        return self.value


@dataclass(frozen=True, slots=True)
class Extent:
    """One declared source of tuples; its attributes are qualified by its name.

    `every` and `sites` are the acquisition interval in ticks and the list of sites of a sensed extent, `site` is the
    attribute that holds the site. `order` orders rows of one tick (E1). `rate` bounds a pushed extent, `rows` a stored
    one. `lateness` is how many ticks a row may lag the latest one in a live run. After `idle_after` ticks, a
    silent source no longer holds back a live run (E12). `max_ahead` is how many ticks a row may be ahead of the
    receiver's clock, 5 min if None. `keys` is the number of distinct values of the grouping attributes: it helps to
    choose a plan and affects no answer.

    `position` names the attributes that hold a row's position, and `object` the one that identifies moving objects;
    `max_speed` rejects rows that an object cannot have reached. Hints bound otherwise unbounded state (E8):
    `max_rows_per_key` is the number of rows kept per object, `max_dwell` the ticks an object needs to leave a region or
    to cover the range of a window, and `forget_after` the ticks after which an unseen object is forgotten.

    An extent of statements is an RDF stream or a stored graph. Queries name it by its `iri`; a graph without one is
    part of the default graph. `local` declares that all statements about a subject arrive in one message, at one
    instant. `predicates` lists all predicates of the statements, None if unknown.
    """

    name: str
    kind: ExtentKind
    schema: Schema
    every: int | None = None
    sites: tuple[Value, ...] = ()
    site: str | None = None
    order: tuple[str, ...] = ()
    rate: Rate | None = None
    rows: int | None = None
    source: Source | None = None
    lateness: int = 0
    idle_after: int | None = None
    max_ahead: int | None = None
    keys: int | None = None
    position: Position | None = None
    object: str | None = None
    max_speed: Speed | None = None
    max_rows_per_key: int | None = None
    max_dwell: int | None = None
    forget_after: int | None = None
    iri: str | None = None
    local: bool = False
    predicates: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The attribute names in declared order."""
        return tuple(attribute.name for attribute in self.schema)

    def frame_time_column(self, columns: Sequence[str], timestamp_columns: Collection[str]) -> str | None:
        """Return which of a data frame's `columns` holds rows' times, or None; `timestamp_columns` hold instants.

        It is the declared time column, `tick`, or the only column of instants that is no attribute. `timestamp_columns`
        are those of `columns` that hold instants; one that is no attribute counts if it is the only one. A table may
        have no such column, and its attributes are none.
        """
        declared = self.source.time if isinstance(self.source, Files) else None
        others = [name for name in columns if name in timestamp_columns and name not in self.names]
        candidates: list[str | None] = [declared, "tick", *(others if len(others) == 1 else [])]
        for name in candidates:
            if name is not None and name in columns and (self.is_stream or name not in self.names):
                return name
        return None

    @property
    def time_column(self) -> str | None:
        """The column or field of the source that holds the time of a row; None if the source declares none."""
        time = getattr(self.source, "time", None)
        return time if isinstance(time, str) and not self.holds_statements else None

    @property
    def declared_time_column(self) -> str | None:
        """The column with rows' times: as declared or, for files, the format's default; None without one."""
        if self.time_column is None and isinstance(self.source, Files):
            return self.source.format.default_time_column
        return self.time_column

    @property
    def arrival_rate(self) -> Rate | None:
        """The maximum rate at which rows arrive, or None if it is unknown.

        A sensed extent has one row per site and interval.
        """
        if self.kind is ExtentKind.SENSED and self.sites and self.every:
            return Rate(len(self.sites), self.every)
        return self.rate

    @property
    def is_stream(self) -> bool:
        """Whether rows arrive while a query runs: the extent is sensed (polled) or pushed, not a stored table."""
        return self.kind is not ExtentKind.STORED

    @property
    def holds_statements(self) -> bool:
        """Whether the rows are RDF statements, as those of an RDF stream or a stored graph."""
        return any(attribute.type is Type.TERM for attribute in self.schema)

    @property
    def speed_limit_warning(self) -> str | None:
        """Return a warning if `max_speed` compares rows of objects that no attribute tells apart; None if it is fine.

        An extent of one object needs no `object`; it declares `keys: 1`.
        """
        if self.max_speed is None or self.object is not None or self.keys == 1:
            return None
        return (
            f"max_speed of {self.name} compares the positions of different objects, and rejects rows by mistake; "
            "name the column of the object in the catalog, as in `object: id`, or declare keys: 1 if there is only one"
        )

    @property
    def runs_live(self) -> bool:
        """Whether a live query can read the extent; only a stored graph, which is read once, is excluded."""
        return self.is_stream or not self.holds_statements

    @property
    def grows(self) -> bool:
        """Whether the extent is a stored table that gets new versions while a query runs."""
        return isinstance(self.source, GrowingTable)

    def max_ahead_ticks(self, calendar: Calendar) -> int:
        """Return by how many ticks a row may be ahead of the clock; a row that is further ahead is rejected."""
        return -(-DEFAULT_MAX_AHEAD // calendar.length) if self.max_ahead is None else self.max_ahead

    @property
    def declaration(self) -> str:
        """The extent as a declaration in SNEEql, such as `road: sensed (site:integer, temp:integer)`."""
        return f"{self.name}: {self.kind} ({', '.join(map(_attribute_text, self.schema))})"


def _attribute_text(attribute: Attribute) -> str:
    """Return an attribute as written in a declaration, such as `site:integer`."""
    return f"{attribute.name}:{attribute.type}"
