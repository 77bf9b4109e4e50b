"""Where the rows of an extent come from: files, a table, a generator, a query, a server. `connectors` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from transom.catalog.payload import Payload
from transom.catalog.time_formats import TimeFormat
from transom.model.bag import Version
from transom.model.time import Rate
from transom.model.types import Value

if TYPE_CHECKING:
    from transom.catalog.servers import Collected, Kafka


class Format(Enum):
    """How the rows of a file are written; `STATEMENTS` are RDF, or tables of terms or messages, as the ending says."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    AIS = "ais"
    GPX = "gpx"
    GEOJSON = "geojson"
    STATEMENTS = "statements"

    @property
    def tracks(self) -> bool:
        """Whether the columns are fixed by the format: positions of moving objects."""
        return self in (Format.AIS, Format.GPX, Format.GEOJSON)

    @property
    def whole(self) -> bool:
        """Whether Spark reads a file as a whole, by Python."""
        return self.tracks or self is Format.STATEMENTS

    @property
    def clock(self) -> str:
        """The column with the tick or the instant of a row, unless a source says otherwise."""
        return "time" if self.tracks else "tick"


ENDINGS = {
    ".csv": Format.CSV,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".ais": Format.AIS,
    ".nmea": Format.AIS,
    ".gpx": Format.GPX,
    ".geojson": Format.GEOJSON,
    ".geojsonl": Format.GEOJSON,
}
"""The format that the ending of a file's name stands for."""

LOG_COLUMNS = ("_seq", "_kind", "_tick", "_at", "_origin", "_token", "_raw", "_reason", "_words")
"""The columns of a log beside the attributes; no attribute of a collected extent has one of these names."""


@dataclass(frozen=True, slots=True)
class Files:
    """Rows in files; `paths` may hold wildcards, `time` names the column with the tick (else the format's clock).

    `fields` has the columns of attributes whose column has another name. Of statements, `time` is the predicate that
    states their times, `payload` how the messages in tables are written, and `prefixes` shorten the terms in tables.
    """

    paths: tuple[str, ...]
    format: Format
    time: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    time_format: TimeFormat | None = None
    payload: Payload | None = None
    prefixes: tuple[tuple[str, str], ...] = ()

    def columns(self, names: Sequence[str]) -> list[str]:
        """The columns of some attributes."""
        return _columns(names, self.fields)


@dataclass(frozen=True, slots=True)
class FileVersions:
    """A stored table, one file for its whole content from a tick on."""

    versions: tuple[tuple[int, str], ...]
    format: Format
    fields: tuple[tuple[str, str], ...] = ()

    def columns(self, names: Sequence[str]) -> list[str]:
        """The columns of some attributes."""
        return _columns(names, self.fields)


def _columns(names: Sequence[str], fields: tuple[tuple[str, str], ...]) -> list[str]:
    others = dict(fields)
    return [others.get(name, name) for name in names]


@dataclass(frozen=True, slots=True)
class Table:
    """A stored table whose rows stand in the catalog."""

    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class FromQuery:
    """The answer of another query, in a file whose ending names the language."""

    path: str


@dataclass(frozen=True, slots=True)
class StatementTemplate:
    """The rows of another extent as statements: the IRI of the subject, and a predicate for each of some columns.

    `parts` of the subject's IRI have the values of `columns` between them.
    """

    extent: str
    parts: tuple[str, ...]
    columns: tuple[str, ...]
    predicates: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value every time."""

    value: Value


@dataclass(frozen=True, slots=True)
class Walk:
    """A random walk: each value is the one before plus at most `step` up or down, reflected at `low` and `high`."""

    start: float
    step: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Sine:
    """A wave around `mean` with a period in ticks, plus normal noise of standard deviation `noise`."""

    mean: float
    amplitude: float
    period: int
    noise: float = 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some values, each with a weight."""

    values: tuple[Value, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """The tick of the row itself, or the instant at which it begins."""


@dataclass(frozen=True, slots=True)
class Site:
    """The site of the reading."""


Signal: TypeAlias = Constant | Walk | Sine | Choice | Clock | Site
"""How one attribute is made up."""


@dataclass(frozen=True, slots=True)
class Poisson:
    """Arrivals at random, on average so many in so many ticks."""

    rate: Rate


@dataclass(frozen=True, slots=True)
class Regular:
    """One arrival at tick 0 and then one every so many ticks."""

    every: int


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is missing: each row with a chance, and all rows from one tick up to, but not at, another."""

    chance: float = 0.0
    spans: tuple[tuple[int, int], ...] = ()

    def hide(self, tick: int) -> bool:
        """Whether a tick lies in a span in which nothing comes."""
        return any(start <= tick < end for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Generate:
    """Made-up rows, the same for the same seed; one signal per attribute; `arrivals` for pushed extents."""

    seed: int
    signals: tuple[Signal, ...]
    arrivals: Poisson | Regular | None = None
    gaps: Gaps = Gaps()


Source: TypeAlias = "Files | FileVersions | Table | Generate | Collected | Kafka | FromQuery | StatementTemplate"
"""Any source of rows."""
