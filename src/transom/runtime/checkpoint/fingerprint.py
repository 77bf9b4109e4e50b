"""The fingerprint of a query, kept in its checkpoint so that a changed query cannot resume from its state."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pyspark import __version__ as SPARK_VERSION

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.servers import Kafka, KafkaTopic
from transom.catalog.sources import Files, FileVersions, FromQuery, Generator, StatementTemplate, Table
from transom.errors import CheckpointError
from transom.machines.windows.window import WindowSpec
from transom.model.geometry.regions import Region
from transom.model.schema import Schema
from transom.physical.nodes.node import is_node
from transom.physical.nodes.rdf import TableToChanges
from transom.physical.nodes.walk import walk
from transom.runtime.checkpoint.node_codes import NODE_CODES
from transom.runtime.checkpoint.remembered import PLAN_FILE, QUERY, VERSIONS, read_remembered
from transom.runtime.checkpoint.sealed import write_sealed
from transom.runtime.job import Job
from transom.version import __version__

RUN_ID_FILE = "id"
"""The file with the run id; checkpoints of runs with one of Spark's own sinks do not have it."""
FINGERPRINT_FORMAT = 4
"""The version of the state layout. Increase it when a release cannot continue the state of the previous one."""
SOURCE_OF = "the source of "
"""The prefix of entries that say where the rows of an extent come from."""

_EXTENT = "extent "
_EXTENT_FIELDS = ("declaration", "every", "sites", "order", "lateness", "idle_after", "iri")
"""The fields of an extent, as an entry of the fingerprint lists them."""


def fingerprint(job: Job, opened_by_caller: Collection[str] = ()) -> dict[str, Any]:
    """Return what a checkpoint's state depends on, as JSON; sources `opened_by_caller` (DataFrames) are left out.

    The sources in `opened_by_caller`, which the caller opens, are not known and not included, nor are hints that do not
    change answers (`rate`, `rows`, `keys`).
    """
    calendar, options = job.catalog.calendar, job.options
    entries = {
        "format": FINGERPRINT_FORMAT,
        "the plan": plan_shape(job.plan),
        "the length of a tick": calendar.length,
        "the epoch": calendar.epoch.isoformat(),
        "start": options.start,
        "until": options.until,
        "index": options.index,
        "approximate_sums": options.approximate_sums,
    }
    if options.since is not None:
        entries["since"] = options.since
    for source in job.sources:
        entries |= _source_entry(source, job, from_catalog=source.name not in opened_by_caller)
    entries |= {f"region {region.name}": _region_digest(region) for region in _regions_in(job.plan)}
    if any(isinstance(node, TableToChanges) for node in walk(job.plan)):
        entries["the clock of stored graphs"] = "one tick"
    return entries


def _source_entry(extent: Extent, job: Job, *, from_catalog: bool) -> dict[str, Any]:
    """Return fingerprint entries that describe a source; with its paths or topic only if it is read `from_catalog`.

    It includes the paths or the topic only if `from_catalog`; other sources are opened by the caller.
    """
    name = extent.name
    settings = [extent.declaration, extent.every, list(map(str, extent.sites)), list(extent.order)]
    iri = [extent.iri] if extent.holds_statements else []
    entries: dict[str, Any] = {f"{_EXTENT}{name}": [*settings, extent.lateness, extent.idle_after, *iri]}
    if extent.position is not None or extent.forget_after:
        entries[f"objects of {name}"] = _object_settings(extent)
    if columns := _file_columns(extent):
        entries[f"columns of {name}"] = columns
    if from_catalog and (location := _source_location(extent, job.catalog.folder)):
        entries[f"{SOURCE_OF}{name}"] = location
        if extent.holds_statements and isinstance(extent.source, Files | Kafka):
            entries[f"the files of {name}"] = [_message_format(extent.source), extent.source.time]
    return entries


def _message_format(source: Files | Kafka) -> str | None:
    """Return the declared format of the messages that carry RDF statements; None if the source declares none."""
    return None if source.payload is None else source.payload.value


def _source_location(extent: Extent, catalog_folder: Path | None) -> list[str] | None:
    """Return a source's absolute paths (relative ones from `catalog_folder`) or Spark's name of its topic, or None."""
    if extent.kind is ExtentKind.STORED and not extent.grows:
        return None
    match extent.source:
        case Files(paths=paths):
            return absolute_paths(paths, catalog_folder)
        case Kafka(topic=topic):
            return [spark_topic_name(topic)]
        case Generator() | Table() | FileVersions() | FromQuery() | StatementTemplate() | None:
            return None
        case collected:
            log = collected.log
            return [f"Assign[{log.topic}-0]"] if isinstance(log, KafkaTopic) else absolute_paths([log], catalog_folder)


def spark_topic_name(topic: str) -> str:
    """Return the name that Spark's progress reports give to the source of a Kafka topic."""
    return f"Subscribe[{topic}]"


def absolute_paths(paths: Sequence[str], folder: Path | None) -> list[str]:
    """Make paths and patterns absolute; relative ones start from `folder` (None: the current folder)."""
    return [os.path.abspath(os.path.join(folder or "", path)) for path in paths]


def _file_columns(extent: Extent) -> list[Any]:
    """Return how cells of files become values: columns, time format, separators, time zone; [] if all default."""
    source = extent.source
    if not isinstance(source, Files | FileVersions):
        return []
    time_format = source.time_format if isinstance(source, Files) else None
    marks = [source.delimiter, source.decimal]
    columns = [[list(pair) for pair in source.fields], time_format and time_format.text]
    if source.zone is not None:
        return [*columns, *marks, source.zone.zone]
    if marks != [",", "."]:
        return [*columns, *marks]
    return columns if source.fields or time_format else []


def _object_settings(extent: Extent) -> list[Any]:
    """Return the settings of moving objects that affect answers: position, key, max_speed and forget_after."""
    speed = None if extent.max_speed is None else [extent.max_speed.length, extent.max_speed.ticks]
    return [str(extent.position), extent.object, speed, extent.forget_after]


def _regions_in(value: Any) -> Iterator[Region]:
    """Yield all regions in a plan, in a node of it or in a field of a node, at any depth."""
    if isinstance(value, Region):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _regions_in(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _regions_in(getattr(value, field.name))


def _region_digest(region: Region) -> str:
    """Compute the SHA-256 digest of a region's shape, for the fingerprint."""
    shape = [region.geodesic, region.polygons]
    return hashlib.sha256(json.dumps(shape).encode("ascii")).hexdigest()


def plan_shape(value: Any) -> Any:
    """Convert a plan to JSON values for a checkpoint's fingerprint: all fields that affect the stored state.

    Reasons and state bounds are left out. The names of nodes and fields are for messages only; `node_identity` ignores
    them.
    """
    if is_node(value):
        entries = {
            field.name: plan_shape(getattr(value, field.name)) for field in fields(value) if field.name != "decision"
        }
        code, executor = NODE_CODES[type(value)], str(value.decision.executor)
        return {"node": type(value).__name__, "code": code, "executor": executor, "fields": entries}
    if isinstance(value, WindowSpec):
        return value.to_json()
    if isinstance(value, tuple | Schema):
        return [plan_shape(part) for part in value]
    return value if value is None or isinstance(value, bool | int) else str(value)


def node_identity(value: Any) -> Any:
    """Return the parts of a recorded plan node that upgrades compare: code, executor and field values.

    Names are left out.
    """
    if isinstance(value, dict) and "code" in value:
        return [value["code"], value["executor"], *map(node_identity, value["fields"].values())]
    return [node_identity(part) for part in value] if isinstance(value, list) else value


def check_fingerprint(
    folder: Path,
    current_entries: dict[str, Any],
    query_text: str,
    *,
    spark_has_written: bool = False,
    uncompared_notes: Mapping[str, Any] | None = None,
) -> bool:
    """Return True if a checkpoint fits the query, else CheckpointError; False if it is new and now recorded.

    Raises CheckpointError that names what changed, or if there is none although Spark has written its part. A new
    checkpoint also gets `uncompared_notes`, entries that are never compared.
    """
    file = folder / PLAN_FILE
    if not spark_has_written and not file.exists():
        write_sealed(
            file, {QUERY: query_text, VERSIONS: versions_in_use(), **(uncompared_notes or {}), **current_entries}
        )
        return False
    remembered = read_remembered(folder)
    recorded = remembered.fingerprint
    now = json.loads(json.dumps(current_entries))
    if recorded.get("format") != now.get("format"):
        raise CheckpointError(
            f"the checkpoint {folder} has format {recorded.get('format')}; this version of Transom writes format "
            f"{now.get('format')} and cannot continue it",
            detail=f"made by {remembered.made_by}",
            hint="start with a new checkpoint, or continue with the version that made this one",
        )
    changed = changed_entries(recorded, now)
    if changed:
        parts = "; ".join(changed.values())
        raise CheckpointError(
            f"the checkpoint {folder} belongs to another query: changed {'is' if len(changed) == 1 else 'are'} "
            + ", ".join(changed),
            detail=f"{parts}; it was made by: {remembered.query.strip()}",
            hint="start with a new folder, or run the query as it was",
        )
    return True


def check_format(folder: Path) -> None:
    """Raise CheckpointError if a checkpoint is missing, damaged, or was made by a version with another state layout."""
    remembered = read_remembered(folder)
    version = remembered.fingerprint.get("format")
    if version != FINGERPRINT_FORMAT:
        raise CheckpointError(
            f"the checkpoint {folder} has format {version}, and this version of Transom reads format "
            f"{FINGERPRINT_FORMAT}",
            detail=f"made by {remembered.made_by}",
            hint="use the version that made it",
        )


def changed_entries(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, str]:
    """Map each entry that differs between two fingerprints to a description of the entry's first difference."""
    changed = [
        name for name in {**recorded, **now} if node_identity(recorded.get(name)) != node_identity(now.get(name))
    ]
    return {name: _difference(name, recorded.get(name), now.get(name)) for name in changed}


def versions_in_use() -> dict[str, str]:
    """Return the versions of Transom and Spark in use, which are recorded in new checkpoints."""
    return {"transom": __version__, "spark": SPARK_VERSION}


def _difference(name: str, recorded: Any, now: Any) -> str:
    """Describe the first difference between the recorded and the current entry `name` of a fingerprint."""
    if _is_same_node(recorded, now):
        if recorded["executor"] != now["executor"]:
            return _difference(f"{name}, {now['node']}.executor", recorded["executor"], now["executor"])
        for field, before, after in zip(now["fields"], recorded["fields"].values(), now["fields"].values()):
            if node_identity(before) != node_identity(after):
                return _difference(f"{name}, {now['node']}.{field}", before, after)
    if isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        pairs = enumerate(zip(recorded, now))
        index = next(index for index, (before, after) in pairs if node_identity(before) != node_identity(after))
        if name.startswith(_EXTENT):
            name = f"{_EXTENT_FIELDS[index]} of {name.removeprefix(_EXTENT)}"
            return _difference(name, recorded[index], now[index])
        if _is_nested(recorded):
            return _difference(f"{name}[{index}]", recorded[index], now[index])
    first = 0
    if isinstance(recorded, str) and isinstance(now, str):
        different = next((index for index, (before, after) in enumerate(zip(recorded, now)) if before != after), 0)
        first = max(0, different - 30)
    return f"{name} was {_abbreviate(recorded, first)}, and is {_abbreviate(now, first)}"


def _is_same_node(recorded: Any, now: Any) -> bool:
    """Whether two entries of fingerprints are plan nodes of one class (same class number) with equally many fields."""
    if not (isinstance(recorded, dict) and isinstance(now, dict) and "code" in recorded and "code" in now):
        return False
    return bool(recorded["code"] == now["code"] and len(recorded["fields"]) == len(now["fields"]))


def _is_nested(value: list[Any]) -> bool:
    """Whether a fingerprint entry holds lists or dictionaries."""
    return any(isinstance(part, dict | list) for part in value)


def _abbreviate(value: Any, first: int = 0) -> str:
    """Shorten a fingerprint entry to 80 characters, from character `first` on; a plan node becomes its name.

    A text begins with its character `first`.
    """
    if isinstance(value, dict) and "node" in value:
        return str(value["node"])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = f"...{text[first:]}" if first else text
    return text if len(text) <= 80 else f"{text[:77]}..."
