"""Settings of sources: files, tables, generators, queries, servers. `connectors` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from transom.catalog.payload import Payload
from transom.catalog.time_formats import TimeFormat
from transom.model.bag import TableVersion
from transom.model.time import Rate
from transom.model.types import Value
from transom.record import Record

if TYPE_CHECKING:
    from transom.catalog.servers import CollectedSource, Kafka
    from transom.model.local_times import LocalTimes


class Format(Enum):
    """The format of a file; `STATEMENTS` is RDF, or tables of terms or messages, depending on the extension."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    AIS = "ais"
    GPX = "gpx"
    GEOJSON = "geojson"
    STATEMENTS = "statements"

    @property
    def has_tracks(self) -> bool:
        """Whether the format is for positions of moving objects: AIS, GPX or GeoJSON."""
        return self in (Format.AIS, Format.GPX, Format.GEOJSON)

    @property
    def parsed_in_python(self) -> bool:
        """Whether Python code in Spark tasks parses a file in one piece, as Spark has no reader for the format."""
        return self.has_tracks or self is Format.STATEMENTS

    @property
    def default_time_column(self) -> str:
        """The name of the time column in files of this format if the catalog declares none."""
        return "time" if self.has_tracks else "tick"


FORMAT_BY_SUFFIX = {
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
"""The format of each file extension."""

DELIMITERS = {",": "','", ";": "';'", "\t": '"\\t"', "|": "'|'"}
"""What may separate the cells of a CSV file, each as it is written in a catalog."""

LOG_COLUMNS = ("_seq", "_kind", "_tick", "_at", "_origin", "_token", "_raw", "_reason", "_words")
"""The columns of a log besides the attributes; attributes of collected extents cannot use these names."""


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Files(Record):
    """Rows in files; `paths` may contain wildcards, `time` is the time column (default: that of the format).

    `fields` maps attributes to columns with a different name. For statements, `time` is the predicate that states their
    times, `payload` the format of messages in tables, and `prefixes` abbreviate the terms in tables. CSV files have a
    `delimiter` between cells, and a `decimal` mark in numbers; times without an offset are in the `zone` (None: UTC).
    With `rejects_invalid`, invalid rows are rejected and counted; otherwise the first one is an error.
    """

    paths: tuple[str, ...]
    format: Format
    time: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    time_format: TimeFormat | None = None
    payload: Payload | None = None
    prefixes: tuple[tuple[str, str], ...] = ()
    delimiter: str = ","
    decimal: str = "."
    zone: LocalTimes | None = None
    rejects_invalid: bool = False

    def columns(self, attributes: Sequence[str]) -> list[str]:
        """Return the names of the file columns that hold these attributes, in the same order."""
        return _columns(attributes, self.fields)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class FileVersions(Record):
    """A stored table in several versions, each in its own file, valid from a tick on; for CSV as in `Files`."""

    versions: tuple[tuple[int, str], ...]
    format: Format
    fields: tuple[tuple[str, str], ...] = ()
    delimiter: str = ","
    decimal: str = "."
    zone: LocalTimes | None = None

    def columns(self, attributes: Sequence[str]) -> list[str]:
        """Return the names of the file columns that hold these attributes, in the same order."""
        return _columns(attributes, self.fields)


def _columns(attributes: Sequence[str], fields: tuple[tuple[str, str], ...]) -> list[str]:
    """Map attributes to columns of a file: the one declared in `fields`, else the column with the attribute's name."""
    column_of_attribute = dict(fields)
    return [column_of_attribute.get(name, name) for name in attributes]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Table(Record):
    """A stored table with its rows in the catalog."""

    versions: tuple[TableVersion, ...]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class FromQuery(Record):
    """The answer of another query, in a file whose extension names the language."""

    path: str


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class StatementTemplate(Record):
    """Statements from the rows of another extent: the subject's IRI, and predicates for some columns.

    The subject's IRI is made of `parts`, with the values of `columns` between them.
    """

    extent: str
    parts: tuple[str, ...]
    columns: tuple[str, ...]
    predicates: tuple[tuple[str, str], ...]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ConstantSignal(Record):
    """A constant value."""

    value: Value


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class WalkSignal(Record):
    """A random walk: each value differs from the last by at most `step`, reflected at `low` and `high`."""

    start: float
    step: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SineSignal(Record):
    """A sine wave around `mean` with a period in ticks, plus normal noise of standard deviation `noise`."""

    mean: float
    amplitude: float
    period: int
    noise: float = 0.0


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ChoiceSignal(Record):
    """A random choice among weighted values."""

    values: tuple[Value, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ClockSignal(Record):
    """The tick of the row, or the instant at which it begins."""


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SiteSignal(Record):
    """The site of the reading."""


Signal: TypeAlias = ConstantSignal | WalkSignal | SineSignal | ChoiceSignal | ClockSignal | SiteSignal
"""How the values of one attribute are generated."""


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class PoissonArrivals(Record):
    """Random arrivals (a Poisson process) with a mean rate."""

    rate: Rate


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RegularArrivals(Record):
    """One arrival at tick 0, then one every `every` ticks."""

    every: int


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Gaps(Record):
    """Missing rows: each row with probability `chance`, and all rows in `spans` of ticks, end excluded."""

    chance: float = 0.0
    spans: tuple[tuple[int, int], ...] = ()

    def in_gap(self, tick: int) -> bool:
        """Whether a generator makes no rows in a tick, because the tick lies in one of the declared spans."""
        return any(start <= tick < end for start, end in self.spans)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Generator(Record):
    """Generated rows, reproducible by seed; one signal per attribute; `arrivals` for pushed extents."""

    seed: int
    signals: tuple[Signal, ...]
    arrivals: PoissonArrivals | RegularArrivals | None = None
    gaps: Gaps = Gaps()


Source: TypeAlias = "Files | FileVersions | Table | Generator | CollectedSource | Kafka | FromQuery | StatementTemplate"
"""Any source of rows."""
