"""The structure of a catalog file as pydantic models: the keys, and the types of their values.

The meaning of entries, and whether they fit together, is checked in `resolve.extent` and `resolve.source`.
"""

from __future__ import annotations

import os
from typing import Annotated, Literal

from pydantic import Field

from transom.catalog.schema.entry import Entry
from transom.catalog.schema.servers import (
    HttpEntry,
    KafkaEntry,
    ModbusEntry,
    MqttEntry,
    OpcUaEntry,
    PostgresEntry,
    TopicEntry,
)
from transom.model.types import INTEGER_MAX

MAX_MAGNITUDE = 1e12
"""The largest number that a generator accepts, so that generated values stay in range."""


Coordinate = Annotated[float, Field(ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)]
"""A coordinate in the catalog."""


class WalkEntry(Entry):
    """`walk: {start: 20, step: 0.5, min: 0, max: 40}`."""

    start: float = Field(ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)
    step: float = Field(ge=0, le=MAX_MAGNITUDE)
    low: float | None = Field(default=None, alias="min", ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)
    high: float | None = Field(default=None, alias="max", ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)


class SineEntry(Entry):
    """`sine: {mean: 15, amplitude: 10, period: 1 d, noise: 0.5}`."""

    mean: float = Field(ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)
    amplitude: float = Field(ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)
    period: str
    noise: float = Field(default=0.0, ge=0, le=MAX_MAGNITUDE)


class ChoiceEntry(Entry):
    """`choice: [car, lorry]`, or `choice: {values: [car, lorry], weights: [4, 1]}`."""

    values: list[object] = Field(min_length=1)
    weights: list[float] | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a `choice` entry, a list of equally weighted values, to a mapping."""
        return {"values": data} if isinstance(data, list) else data


class SignalEntry(Entry):
    """The signal of one attribute: exactly one of these."""

    constant: object = None
    walk: WalkEntry | None = None
    sine: SineEntry | None = None
    choice: ChoiceEntry | None = None
    clock: Literal[True] | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a signal entry, the word `clock`, to `clock: true`; other data is unchanged."""
        return {"clock": True} if data == "clock" else data


class ArrivalsEntry(Entry):
    """`arrivals: {poisson: 12 per min}` or `arrivals: {every: 5 s}`."""

    poisson: str | None = None
    every: str | None = None


class SpanEntry(Entry):
    """`{from: 10 min, to: 20 min}`."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")


class GapsEntry(Entry):
    """`gaps: 0.05`, `gaps: [{from: 10 min, to: 20 min}]`, or `gaps: {chance: 0.05, spans: [...]}`."""

    chance: float = Field(default=0.0, ge=0, le=1)
    spans: list[SpanEntry] = Field(default_factory=list)

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand short forms of a `gaps` entry to a mapping: a number is the chance of a gap, a list has time spans."""
        if isinstance(data, list):
            return {"spans": data}
        return {"chance": data} if isinstance(data, int | float) else data


class GenerateEntry(Entry):
    """`generate: {seed: 7, attributes: {...}, arrivals: {...}, gaps: ...}`."""

    seed: int = Field(default=0, ge=-INTEGER_MAX, le=INTEGER_MAX)
    attributes: dict[str, SignalEntry] = Field(default_factory=dict)
    arrivals: ArrivalsEntry | None = None
    gaps: GapsEntry = GapsEntry()


class FilesEntry(Entry):
    """`files: PATH`, `files: [PATH, PATH]`, or `files: {path: ..., format: csv, delimiter: ';', time: COLUMN}`."""

    path: list[str] | None = None
    format: Literal["csv", "jsonl", "parquet", "ais", "gpx", "geojson"] | None = None
    time: str | None = None
    time_format: str | None = None
    zone: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    invalid_rows: Literal["stop", "reject"] | None = None
    fields: dict[str, str] = Field(default_factory=dict)
    versions: dict[str | int, str] | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a `files` entry, a path or a list of paths, to a mapping with a list."""
        if isinstance(data, str | list | os.PathLike):
            data = {"path": data}
        if not isinstance(data, dict):
            return data
        data = {key: _paths_as_text(value) for key, value in data.items()}
        if isinstance(data.get("path"), str):
            data["path"] = [data["path"]]
        return data


def _paths_as_text(value: object) -> object:
    """Convert pathlib paths to text, also inside lists and mappings; other values are unchanged."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list):
        return [_paths_as_text(item) for item in value]
    return {key: _paths_as_text(item) for key, item in value.items()} if isinstance(value, dict) else value


class TableEntry(Entry):
    """`table: {rows: [[20, cool], [30, warm]]}` or `table: {versions: {0: [[...]], 600: [[...]]}}`."""

    rows: list[object] | None = None
    versions: dict[str | int, list[object]] | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a `table` entry, a list of rows, to a mapping; other data is unchanged."""
        return {"rows": data} if isinstance(data, list) else data


class SourceEntry(Entry):
    """The source of rows: exactly one of these."""

    files: FilesEntry | None = None
    generate: GenerateEntry | None = None
    table: TableEntry | None = None
    mqtt: MqttEntry | None = None
    modbus: ModbusEntry | None = None
    opcua: OpcUaEntry | None = None
    http: HttpEntry | None = None
    kafka: KafkaEntry | None = None
    postgresql: PostgresEntry | None = None
    query: str | None = None


class PositionEntry(Entry):
    """`position: {x: x, y: y, unit: m}`, `position: {x: km, unit: km}` or `position: {lon: lon, lat: lat}`."""

    x: str | None = None
    y: str | None = None
    unit: str | None = None
    lon: str | None = None
    lat: str | None = None


class RegionEntry(Entry):
    """`Zone: {wkt: ...}`, `{polygon: [[0, 0], ...]}`, `{geojson: {...}}` or `{file: sea.geojson, feature: NAME}`."""

    wkt: str | None = None
    geojson: dict[str, object] | None = None
    polygon: list[list[Coordinate]] | None = None
    file: str | None = None
    feature: str | None = None
    on: Literal["plane", "earth"] | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Convert the pathlib paths in the data of a region entry to text."""
        return {key: _paths_as_text(value) for key, value in data.items()} if isinstance(data, dict) else data


class TemplateEntry(Entry):
    """`{extent: cars, subject: "http://example.org/car/{id}", predicates: {speed: "http://example.org/speed"}}`."""

    extent: str
    subject: str
    predicates: dict[str, str] = Field(default_factory=dict)


class RdfEntry(Entry):
    """`td: {stream: IRI, files: td.csv}`, `parks: {graph: IRI, files: parks.ttl}`, or `facts: {graph: default}`."""

    stream: str | None = None
    graph: str | None = None
    files: list[str] | None = None
    kafka: TopicEntry | None = None
    format: str | None = None
    time: str | None = None
    order: list[str] | None = None
    rate: str | None = None
    lateness: str | None = None
    idle_after: str | None = None
    rows: int | None = Field(default=None, ge=1, le=INTEGER_MAX)
    subjects: Literal["local"] | None = None
    predicates: list[str] | None = None
    query: str | None = None
    template: TemplateEntry | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of `files` in an RDF entry, one path, to a list; convert pathlib paths to text."""
        if not isinstance(data, dict):
            return data
        data = {key: _paths_as_text(value) for key, value in data.items()}
        if isinstance(data.get("files"), str):
            data["files"] = [data["files"]]
        return data


class ExtentEntry(Entry):
    """One extent: a declaration in the document's syntax, or kind and attributes, and further keys."""

    declare: str | None = None
    kind: Literal["sensed", "pushed", "stored"] | None = None
    attributes: object = None
    every: str | None = None
    sites: list[object] | None = None
    site: str | None = None
    order: list[str] | None = None
    rate: str | None = None
    lateness: str | None = None
    idle_after: str | None = None
    max_ahead: str | None = None
    rows: int | None = Field(default=None, ge=1, le=INTEGER_MAX)
    keys: int | None = Field(default=None, ge=1, le=INTEGER_MAX)
    position: PositionEntry | None = None
    moving: str | None = Field(default=None, alias="object")
    max_speed: str | None = None
    max_rows_per_key: int | None = Field(default=None, ge=1, le=INTEGER_MAX)
    max_dwell: str | None = None
    forget_after: str | None = None
    source: SourceEntry | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of an extent entry, the text of a declaration, to a mapping with the key `declare`."""
        return {"declare": data} if isinstance(data, str) else data


class CatalogEntry(Entry):
    """The top level of a catalog file."""

    tick: str = "1 s"
    epoch: object = "1970-01-01T00:00:00Z"
    extents: dict[str, ExtentEntry] = Field(default_factory=dict)
    regions: dict[str, RegionEntry] = Field(default_factory=dict)
    parameters: dict[str, object] | list[str] = Field(default_factory=dict)
    prefixes: dict[str, str] = Field(default_factory=dict)
    rdf: dict[str, RdfEntry] = Field(default_factory=dict)
