"""The columns of a log: those of its own, and the attributes of the extent by name."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import NamedTuple

import pyarrow as pa

from transom.catalog.extents import Extent
from transom.model.bag import Row
from transom.model.reasons import Reason
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
"""How values are kept."""


class Entered(Enum):
    """What an entry of a log is; in the log of a table a row has appeared or left."""

    ROW = "row"
    BEAT = "beat"
    DEAD = "dead"
    GAP = "gap"
    LEFT = "left"


class Entry(NamedTuple):
    """One entry: a row, the word that time moved on, what could not be read, or a reading that is missing.

    `origin` says where it comes from, `token` is what its source would send again with it, `raw` and `words` say what
    was wrong with it.
    """

    kind: Entered
    tick: int | None
    at: datetime
    row: Row | None = None
    origin: str | None = None
    token: str | None = None
    raw: bytes | None = None
    reason: Reason | None = None
    words: str | None = None


class Answered(NamedTuple):
    """A message of the log that may be sent again: its token, and why it is dead if it is."""

    token: str
    reason: str | None
    words: str | None


def schema(extent: Extent) -> pa.Schema:
    """The columns of an extent's log."""
    own = [
        pa.field("_seq", pa.int64(), False),
        pa.field("_kind", pa.string(), False),
        pa.field("_tick", pa.int64()),
        pa.field("_at", pa.timestamp("us", tz="UTC"), False),
        *(pa.field(name, pa.string()) for name in ("_origin", "_token")),
        pa.field("_raw", pa.binary()),
        *(pa.field(name, pa.string()) for name in ("_reason", "_words")),
    ]
    return pa.schema([*own, *(pa.field(a.name, ARROW[a.type]) for a in extent.schema)])


def table(extent: Extent, first: int, entries: list[Entry]) -> pa.Table:
    """Entries as a table, numbered from `first` on."""
    shape = schema(extent)
    nothing: Row = (None,) * len(extent.schema)
    values = list(zip(*(entry.row or nothing for entry in entries)))
    columns = [
        list(range(first, first + len(entries))),
        [entry.kind.value for entry in entries],
        [entry.tick for entry in entries],
        [entry.at for entry in entries],
        [entry.origin for entry in entries],
        [entry.token for entry in entries],
        [entry.raw for entry in entries],
        [entry.reason.value if entry.reason else None for entry in entries],
        [entry.words for entry in entries],
        *values,
    ]
    return pa.table([pa.array(c, field.type) for c, field in zip(columns, shape)], schema=shape)
