"""Declared extents (Sec. 3 of the SNEEql document; S30)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from transom.catalog.growing import Growing
from transom.catalog.sources import Source
from transom.model.schema import Attribute, Schema
from transom.model.space import Position, Speed
from transom.model.time import Calendar, Rate
from transom.model.types import Type, Value

AHEAD = 300_000_000
"""Microseconds that a row may be ahead of the receiver's clock, unless the extent says otherwise."""


class Kind(Enum):
    """How the tuples of an extent come about."""

    SENSED = "sensed"
    PUSHED = "pushed"
    STORED = "stored"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Extent:
    """One declared source of tuples; its attributes are qualified by its name.

    `every` and `sites` are the acquisition interval in ticks and the list of sites of a sensed extent, `site` is the
    attribute that holds the site, `order` puts rows of one tick in order (E1), `rate` bounds a pushed extent, `rows`
    bounds a stored one. `lateness` is how many ticks a row may come behind the latest one of a live run, `idle_after`
    after how many ticks a silent source no longer holds a live run up (E12). `max_ahead` is how many ticks a row may be
    ahead of the clock of whoever receives it, 5 min if None. `keys` is how many values the attributes have by which
    rows are grouped: it helps to choose a plan, and no answer depends on it.

    `position` says which attributes hold the place of a row and `object` which one tells moving objects apart;
    `max_speed` rejects rows that an object cannot have reached. Hints bound what has no bound of its own (E8):
    `max_rows_per_key` is how many rows are held for an object, `max_dwell` how many ticks one needs to leave a region
    or to cover the range of a window, and `forget_after` after how many ticks an unseen one is forgotten.

    An extent of statements is a stream of RDF or a stored graph. Queries name it by its `iri`; a graph without one is
    part of the default graph. `local` says that all statements about a subject come in one message, at one instant;
    `predicates` are all that statements have, None where nobody says so.
    """

    name: str
    kind: Kind
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
        """The names of the attributes, in order."""
        return tuple(attribute.name for attribute in self.schema)

    @property
    def arrival_rate(self) -> Rate | None:
        """How many rows can come in how many ticks, where that is known."""
        if self.kind is Kind.SENSED and self.sites and self.every:
            return Rate(len(self.sites), self.every)
        return self.rate

    @property
    def is_stream(self) -> bool:
        """Whether rows come while a query runs."""
        return self.kind is not Kind.STORED

    @property
    def holds_statements(self) -> bool:
        """Whether its rows are statements of RDF."""
        return any(attribute.type is Type.TERM for attribute in self.schema)

    @property
    def runs_live(self) -> bool:
        """Whether it keeps a live run going: all but a stored graph, which a query reads once."""
        return self.is_stream or not self.holds_statements

    @property
    def grows(self) -> bool:
        """Whether it is a table whose log goes on while a query runs."""
        return isinstance(self.source, Growing)

    def most_ahead(self, calendar: Calendar) -> int:
        """How many ticks a row may be ahead of the clock of whoever receives it."""
        return -(-AHEAD // calendar.length) if self.max_ahead is None else self.max_ahead

    @property
    def declaration(self) -> str:
        """The extent as the document declares extents: `road: sensed (site:integer, temp:integer)`."""
        return f"{self.name}: {self.kind} ({', '.join(map(_undecorated, self.schema))})"


def _undecorated(attribute: Attribute) -> str:
    return f"{attribute.name}:{attribute.type}"
