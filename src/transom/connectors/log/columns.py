"""The columns of a log: Transom's own, which begin with `_`, and the extent's attributes by name."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import NamedTuple

import pyarrow as pa

from transom.catalog.extent import Extent
from transom.model.bag import Row
from transom.model.reject_reason import RejectReason
from transom.model.types import Type

ARROW = {
    Type.INTEGER: pa.int64(),
    Type.TIME: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.DECIMAL: pa.decimal128(38, 18),
    Type.STRING: pa.string(),
    Type.TERM: pa.string(),
    Type.BOOLEAN: pa.bool_(),
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}
"""The Arrow type in which a log stores each type."""


class LogRecordKind(Enum):
    """The kind of a log entry; in a table's log, ROW means appeared and LEFT means disappeared."""

    ROW = "row"
    HEARTBEAT = "beat"
    DEAD = "dead"
    GAP = "gap"
    LEFT = "left"


class LogRecord(NamedTuple):
    """One log entry: a row, a heartbeat, a rejected message, or a missing reading.

    `origin` names its source. `token` identifies the message if the source sends it again. `raw` and `detail` describe
    what was rejected.
    """

    kind: LogRecordKind
    tick: int | None
    at: datetime
    row: Row | None = None
    origin: str | None = None
    token: str | None = None
    raw: bytes | None = None
    reason: RejectReason | None = None
    detail: str | None = None
    readings: int = 1
    """How many readings or messages the entry stands for; a gap may stand for many ticks."""


class MessageOutcome(NamedTuple):
    """The outcome of a message that may be redelivered: its token, and why it was rejected, if it was."""

    token: str
    reason: str | None
    detail: str | None


def log_schema(extent: Extent) -> pa.Schema:
    """Build the Arrow schema of a source's log: its own columns, such as `_tick` and `_reason`, then the attributes."""
    log_columns = [
        pa.field("_seq", pa.int64(), False),
        pa.field("_kind", pa.string(), False),
        pa.field("_tick", pa.int64()),
        pa.field("_at", pa.timestamp("us", tz="UTC"), False),
        *(pa.field(name, pa.string()) for name in ("_origin", "_token")),
        pa.field("_raw", pa.binary()),
        *(pa.field(name, pa.string()) for name in ("_reason", "_words")),
    ]
    return pa.schema([*log_columns, *(pa.field(a.name, ARROW[a.type]) for a in extent.schema)])


def log_table(extent: Extent, first: int, entries: list[LogRecord]) -> pa.Table:
    """Convert log entries, the first of which has the number `first`, to an Arrow table with the log's columns."""
    schema = log_schema(extent)
    null_row: Row = (None,) * len(extent.schema)
    values = list(zip(*(entry.row or null_row for entry in entries)))
    columns = [
        list(range(first, first + len(entries))),
        [entry.kind.value for entry in entries],
        [entry.tick for entry in entries],
        [entry.at for entry in entries],
        [entry.origin for entry in entries],
        [entry.token for entry in entries],
        [entry.raw for entry in entries],
        [entry.reason.value if entry.reason else None for entry in entries],
        [entry.detail for entry in entries],
        *values,
    ]
    return pa.table([pa.array(c, field.type) for c, field in zip(columns, schema)], schema=schema)
