"""What a checkpoint was made by: kept beside it, so that a changed query is not started on the state of another."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.catalog.extents import Extent
from transom.catalog.sources import Files, FileVersions
from transom.errors import UsageError
from transom.machines.window import WindowSpec
from transom.model.regions import Region
from transom.model.schema import Schema
from transom.physical.plan import Physical, is_node

if TYPE_CHECKING:
    from transom.query import Query

FILE = "plan.json"
ID = "id"
"""The file with the name of a run, in checkpoints of runs that do not end in a sink of Spark's own."""
FORMAT = 1


def fingerprint(
    query: Query, plan: Physical, start: int, until: int | None, *, index: bool, approximate: bool
) -> dict[str, Any]:
    """All that the state in a checkpoint depends on, by the names that people know it by."""
    calendar = query.catalog.calendar
    extents = {
        f"extent {e.name}": [e.declaration, e.every, list(map(str, e.sites)), list(e.order), e.lateness, e.idle_after]
        for e in query.reads
    }
    moving = {f"objects of {e.name}": _objects(e) for e in query.reads if e.position is not None or e.forget_after}
    columns = {f"columns of {e.name}": found for e in query.reads if (found := _columns(e))}
    regions = {f"region {region.name}": _corners(region) for region in _regions(query.plan)}
    return {
        "format": FORMAT,
        "the plan": shape(plan),
        "the length of a tick": calendar.length,
        "the epoch": calendar.epoch.isoformat(),
        "start": start,
        "until": until,
        "index": index,
        "approximate_sums": approximate,
        **extents,
        **moving,
        **columns,
        **regions,
    }


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


def check(folder: Path, print_now: dict[str, Any], text: str) -> bool:
    """Whether a checkpoint is there already, made by the same plan; UsageError that names what changed."""
    file = folder / FILE
    try:
        kept = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        half = folder / f"{FILE}.{os.getpid()}"  # whoever is killed while writing leaves no half a file
        half.write_text(json.dumps({"query": text, **print_now}, indent=1, ensure_ascii=False), "utf-8")
        half.replace(file)
        return False
    except ValueError as error:
        raise UsageError(f"{file} is not what Transom wrote", detail=str(error), hint="use another folder") from error
    names = [n for n in {**kept, **print_now} if n != "query"]
    changed = [n for n in names if kept.get(n) != json.loads(json.dumps(print_now.get(n)))]
    if changed:
        raise UsageError(
            f"the checkpoint {folder} belongs to another query: changed {'is' if len(changed) == 1 else 'are'} "
            + ", ".join(changed),
            detail=f"it was made by: {kept.get('query', '').strip()}",
            hint="start with a new folder, or run the query as it was",
        )
    return True
