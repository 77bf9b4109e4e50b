"""Declared extents, and the catalog that holds them (Sec. 3 of the SNEEql document; S30, S39)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from transom.catalog.rdf import Rdf
from transom.catalog.sources import Growing, Source
from transom.catalog.wording import did_you_mean, quoted, show
from transom.errors import CatalogError, NameProblem, UsageError
from transom.model.regions import Region
from transom.model.schema import Attribute, Schema
from transom.model.space import Position, Speed
from transom.model.time import Calendar, Rate
from transom.model.types import Value

AHEAD = 300_000_000
"""Microseconds that a row may be ahead of the receiver's clock, unless the extent says otherwise."""
_A_FILE = "give the path of a YAML file"


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


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that queries may read: how long a tick is, the declared extents and regions, and values of parameters.

    `folder` is what the paths of sources are relative to; `text` and `name` are the file's, for messages.
    """

    calendar: Calendar = field(default_factory=Calendar)
    extents: Mapping[str, Extent] = field(default_factory=dict)
    folder: Path | None = None
    text: str | None = field(default=None, repr=False, compare=False)
    name: str | None = field(default=None, compare=False)
    regions: Mapping[str, Region] = field(default_factory=dict)
    rdf: Rdf = field(default_factory=Rdf)
    parameters: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Catalog:
        """The catalog in a YAML file."""
        if not isinstance(path, str | os.PathLike):
            raise UsageError(f"a catalog is loaded from a path, not {show(path)}", hint=_A_FILE)
        place = Path(path)
        try:
            text = place.read_bytes().decode("utf-8-sig")
        except FileNotFoundError as error:
            raise UsageError(f"no catalog file {place}", hint=_A_FILE) from error
        except UnicodeDecodeError as error:
            raise CatalogError("the file is not UTF-8 text", hint="save it as UTF-8", source=str(place)) from error
        except (OSError, ValueError) as error:
            message = f"cannot read the catalog file {quoted(place)}"
            raise UsageError(message, detail=str(error), hint=_A_FILE) from error
        return cls.read(text, name=str(place), folder=place.parent)

    @classmethod
    def read(cls, text: str, *, name: str | None = None, folder: str | os.PathLike[str] | None = None) -> Catalog:
        """The catalog in a YAML text."""
        from transom.catalog.reading import read_catalog

        if not isinstance(text, str):
            raise UsageError(f"a catalog is read from text, not {show(text)}", hint="Catalog.load reads a file")
        return read_catalog(text, name, None if folder is None else Path(folder))

    @classmethod
    def from_dict(cls, entries: Mapping[str, object], *, folder: str | os.PathLike[str] | None = None) -> Catalog:
        """The catalog in Python's own dictionaries and lists, in the shape of the YAML."""
        from transom.catalog.reading import read_entries

        return read_entries(entries, None if folder is None else Path(folder))

    def extent(self, name: str) -> Extent:
        """The extent of that name; NameProblem if there is none."""
        found = self.extents.get(name)
        if found is None:
            raise NameProblem(f"no extent {quoted(name)} in the catalog", hint=did_you_mean(name, self.extents))
        return found

    def region(self, name: str) -> Region:
        """The region of that name; NameProblem if there is none."""
        found = self.regions.get(name)
        if found is None:
            raise NameProblem(f"no region {quoted(name)} in the catalog", hint=did_you_mean(name, self.regions))
        return found

    def _repr_html_(self) -> str:
        from transom.catalog.page import catalog_table

        return catalog_table(self)
