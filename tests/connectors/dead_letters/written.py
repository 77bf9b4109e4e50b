"""Dead letters as a run and a collector write them, without Spark and without a collector."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transom.catalog.catalog import Catalog
from transom.connectors.dead_letters.files import SCHEMA, file_name, schema_of_run
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog
from transom.model.reject_reason import RejectReason

QUERY = "0123abcd-4567-89ab-cdef-0123456789ab"
OTHER = "fedc9876-5432-10fe-dcba-9876543210fe"
AT = datetime(2024, 6, 1, 6, tzinfo=UTC)
CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (watts:integer)
    source: {kafka: {servers: '127.0.0.1:1', topic: power, time: at, dead: dead/power}}
  car:
    declare: pushed (plate:string)
    source: {http: {listen: '127.0.0.1:28519', path: /cars, time: at}}
  oven:
    declare: sensed (site:integer, temp:float) RATE 1 SEC SITES (1)
    source: {modbus: {devices: {1: '127.0.0.1:502'}, registers: {temp: {address: 40}}}}
  strict:
    declare: pushed (watts:integer)
    source: {kafka: {servers: '127.0.0.1:1', topic: strict, time: at}}
"""


def catalog(folder: Path) -> Catalog:
    """The catalog of this module in a folder, also as the file `catalog.yaml`."""
    (folder / "catalog.yaml").write_text(CATALOG)
    return Catalog.load(folder / "catalog.yaml")


def letter(offset: int, reason: str = "wrong type", **more: Any) -> dict[str, Any]:
    """The columns of a dead letter of partition 0."""
    at = AT + timedelta(seconds=offset)
    content = {"key": b"m1", "value": b"v%d" % offset, "headers": [{"key": "trace", "value": b"t1"}]}
    position = {"source": "power", "topic": "power", "partition": 0, "offset": offset, "timestamp": at}
    return {**position, **content, "reason": reason, **more}


def write_file(
    folder: Path,
    letters: Sequence[dict[str, Any]],
    *,
    query: str = QUERY,
    batch: int = 0,
    checkpoint: Path | None = None,
    headers: bool = True,
) -> Path:
    """Write a file of dead letters of partition 0; without `headers` and a checkpoint, as an earlier version did."""
    schema = SCHEMA if checkpoint is None else schema_of_run(str(checkpoint))
    table = pa.Table.from_pylist(list(letters), schema=schema)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file_name(query, batch, "power", 0)
    pq.write_table(table if headers else table.drop_columns(["headers"]), path)
    return path


def write_log(folder: Path, raws: Sequence[bytes], *, tick: int | None = None) -> None:
    """Write the log of the extent `car` with a row and then dead letters of these bytes."""
    extent = catalog(folder).extents["car"]
    records = [LogRecord(LogRecordKind.ROW, 7, AT, ("a",), "POST")]
    records += [
        LogRecord(LogRecordKind.DEAD, tick, AT, None, "POST", None, raw, RejectReason.TYPE, "plate: 1") for raw in raws
    ]
    with SegmentLog(folder / "log" / "car", extent, segment_interval_seconds=0) as log:
        log.append(records)
