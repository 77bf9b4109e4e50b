"""What a checkpoint was made by: kept beside it, so that a changed query is not started on the state of another."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pyspark import __version__ as SPARK_VERSION

from transom.catalog.extents import Extent, Kind
from transom.catalog.servers import Kafka, Topic
from transom.catalog.sources import Files, FileVersions, FromQuery, Generate, StatementTemplate, Table
from transom.connectors.private import make_folder
from transom.errors import CheckpointError
from transom.machines.window import WindowSpec
from transom.model.regions import Region
from transom.model.schema import Schema
from transom.physical.node import is_node
from transom.physical.rdf_plan import Stand
from transom.physical.walk import walk
from transom.runtime.job import Job
from transom.version import __version__

FILE = "plan.json"
ID = "id"
"""The file with the name of a run, in checkpoints of runs that do not end in a sink of Spark's own."""
FORMAT = 3
"""The version of the state layout. Raise it when a release cannot continue the state of the one before."""
SOURCE_OF = "the source of "
"""The beginning of entries that say where the rows of an extent come from."""


def fingerprint(job: Job, given: Collection[str] = ()) -> dict[str, Any]:
    """All that the state in a checkpoint depends on, by the names that people know it by.

    Extents whose DataFrames are `given` have no source that is known here. Hints that change no answer (`rate`, `rows`,
    `keys`) are not part of it.
    """
    calendar, options = job.catalog.calendar, job.options
    found = {
        "format": FORMAT,
        "the plan": shape(job.plan),
        "the length of a tick": calendar.length,
        "the epoch": calendar.epoch.isoformat(),
        "start": options.start,
        "until": options.until,
        "index": options.index,
        "approximate_sums": options.approximate_sums,
    }
    for source in job.sources:
        own = source.name not in given
        found |= _of_source(source, job, own=own)
    found |= {f"region {region.name}": _corners(region) for region in _regions(job.plan)}
    if any(isinstance(node, Stand) for node in walk(job.plan)):
        found["the clock of stored graphs"] = "one tick"
    return found


def _of_source(extent: Extent, job: Job, *, own: bool) -> dict[str, Any]:
    """What the state depends on of a source; its place counts if the catalog's own source is read."""
    name = extent.name
    about = [extent.declaration, extent.every, list(map(str, extent.sites)), list(extent.order)]
    named = [extent.iri] if extent.holds_statements else []
    found: dict[str, Any] = {f"extent {name}": [*about, extent.lateness, extent.idle_after, *named]}
    if extent.position is not None or extent.forget_after:
        found[f"objects of {name}"] = _objects(extent)
    if columns := _columns(extent):
        found[f"columns of {name}"] = columns
    if own and (place := _place(extent, job.catalog.folder)):
        found[f"{SOURCE_OF}{name}"] = place
        if extent.holds_statements and isinstance(extent.source, Files | Kafka):
            found[f"the files of {name}"] = [_written(extent.source), extent.source.time]
    return found


def _written(source: Files | Kafka) -> str | None:
    """How messages of statements are written."""
    return None if source.payload is None else source.payload.value


def _place(extent: Extent, folder: Path | None) -> list[str] | None:
    """Where the rows of a stream come from; None for generators, and for tables, which may get new versions."""
    if extent.kind is Kind.STORED and not extent.grows:
        return None
    match extent.source:
        case Files(paths=paths):
            return located(paths, folder)
        case Kafka(topic=topic):
            return [on_topic(topic)]
        case Generate() | Table() | FileVersions() | FromQuery() | StatementTemplate() | None:
            return None
        case collected:
            log = collected.log
            return [f"Assign[{log.topic}-0]"] if isinstance(log, Topic) else located([log], folder)


def on_topic(topic: str) -> str:
    """A topic as Spark calls it in its reports."""
    return f"Subscribe[{topic}]"


def located(paths: Sequence[str], folder: Path | None) -> list[str]:
    """Paths and patterns without what depends on the present folder."""
    return [os.path.abspath(os.path.join(folder or "", path)) for path in paths]


def _columns(extent: Extent) -> list[Any]:
    """Which columns of files the rows of an extent are made of, where the catalog says so."""
    source = extent.source
    if not isinstance(source, Files | FileVersions):
        return []
    written = source.time_format if isinstance(source, Files) else None
    return [[list(pair) for pair in source.fields], written and written.text] if source.fields or written else []


def _objects(extent: Extent) -> list[Any]:
    """What a catalog says of the objects of an extent that changes answers: units, the key, speed, forgetting."""
    speed = None if extent.max_speed is None else [extent.max_speed.length, extent.max_speed.ticks]
    return [str(extent.position), extent.object, speed, extent.forget_after]


def _regions(value: Any) -> Iterator[Region]:
    """The regions anywhere in a plan."""
    if isinstance(value, Region):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _regions(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _regions(getattr(value, field.name))


def _corners(region: Region) -> str:
    """A digest of the shape of a region: a moved corner makes another one."""
    drawn = [region.geodesic, region.polygons]
    return hashlib.sha256(json.dumps(drawn).encode("ascii")).hexdigest()


def shape(value: Any) -> Any:
    """A plan with all that its state depends on, not what is only said of it: reasons, and bounds by rates."""
    if is_node(value):
        entries = {f.name: shape(getattr(value, f.name)) for f in fields(value) if f.name != "choice"}
        return {"node": type(value).__name__, "path": str(value.choice.path), **entries}
    if isinstance(value, WindowSpec):
        return value.to_json()
    if isinstance(value, tuple | Schema):
        return [shape(part) for part in value]
    return value if value is None or isinstance(value, bool | int) else str(value)


def check(folder: Path, print_now: dict[str, Any], text: str, *, begun: bool = False) -> bool:
    """Whether a checkpoint is there already, made by the same plan; CheckpointError that names what changed.

    Where Spark has `begun` its part, the fingerprint must be there.
    """
    file = folder / FILE
    try:
        kept = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        if begun:
            raise CheckpointError(
                f"{file} is missing, which says what query the checkpoint belongs to",
                hint="put it back from a copy, or start with a new checkpoint",
            ) from None
        make_folder(folder)
        half = folder / f"{FILE}.{os.getpid()}"  # whoever is killed while writing leaves no half a file
        half.write_text(
            json.dumps({"query": text, "made by": _versions(), **print_now}, indent=1, ensure_ascii=False), "utf-8"
        )
        half.replace(file)
        return False
    except ValueError as error:
        raise CheckpointError(
            f"the checkpoint is damaged: {file} is not what Transom wrote",
            detail=str(error),
            hint="put it back from a copy, or start with a new checkpoint",
        ) from error
    now = json.loads(json.dumps(print_now))
    if kept.get("format") != now.get("format"):
        raise CheckpointError(
            f"the checkpoint {folder} has format {kept.get('format')}; this version of Transom writes format "
            f"{now.get('format')} and cannot continue it",
            detail=f"made by {_maker(kept)}",
            hint="start with a new checkpoint, or continue with the version that made this one",
        )
    names = [n for n in {**kept, **now} if n not in ("query", "made by")]
    changed = [n for n in names if kept.get(n) != now.get(n)]
    if changed:
        parts = "; ".join(_difference(n, kept.get(n), now.get(n)) for n in changed)
        raise CheckpointError(
            f"the checkpoint {folder} belongs to another query: changed {'is' if len(changed) == 1 else 'are'} "
            + ", ".join(changed),
            detail=f"{parts}; it was made by: {kept.get('query', '').strip()}",
            hint="start with a new folder, or run the query as it was",
        )
    return True


def _maker(kept: dict[str, Any]) -> str:
    """The versions that made a checkpoint, in words."""
    made: Any = kept.get("made by")
    if not isinstance(made, dict):
        return "an earlier version"
    return f"Transom {made.get('transom')} on Spark {made.get('spark')}"


def _versions() -> dict[str, str]:
    return {"transom": __version__, "spark": SPARK_VERSION}


def _difference(name: str, kept: Any, now: Any) -> str:
    """The first place in which two entries differ, with both values."""
    if isinstance(kept, dict) and isinstance(now, dict) and kept.get("node") == now.get("node"):
        inner = next((key for key in {**kept, **now} if kept.get(key) != now.get(key)), None)
        if inner is not None:
            return _difference(f"{name}, {kept.get('node', '')}.{inner}", kept.get(inner), now.get(inner))
    if isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now) and _nested(kept):
        place = next(place for place, (one, other) in enumerate(zip(kept, now)) if one != other)
        return _difference(f"{name}[{place}]", kept[place], now[place])
    first = 0
    if isinstance(kept, str) and isinstance(now, str):
        same = next((place for place, (one, other) in enumerate(zip(kept, now)) if one != other), 0)
        first = max(0, same - 30)
    return f"{name} was {_short(kept, first)}, and is {_short(now, first)}"


def _nested(value: list[Any]) -> bool:
    return any(isinstance(part, dict | list) for part in value)


def _short(value: Any, first: int = 0) -> str:
    """A value in few words: a node of a plan by its name, a text from its `first` sign that matters."""
    if isinstance(value, dict) and "node" in value:
        return str(value["node"])
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    words = f"...{words[first:]}" if first else words
    return words if len(words) <= 80 else f"{words[:77]}..."


def kept_start(folder: Path) -> int | None:
    """The first tick of the run that made a checkpoint; None if there is none."""
    try:
        found: Any = json.loads((folder / FILE).read_bytes())["start"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) else None
