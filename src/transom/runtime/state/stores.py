"""Read what one stateful operator remembers, with Spark's source for state, and decode the entries of machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from transom.machines import codec
from transom.machines.buckets import Bucket, TimedMachineFactory, is_shared
from transom.machines.entries import StateEntry
from transom.machines.protocol import create_machine
from transom.spark.columns import BUCKET
from transom.spark.stateful.kernel import decode_entries
from transom.spark.stateful.runner import decode_arrivals

WAITING = "waiting"
"""The state variable of the rows whose tick is not closed yet, and the part of their entries."""
_JOIN = "symmetricHashJoin"
_PARTS = {"stateStoreSave": "group", "dedupe": "key", "dedupeWithinWatermark": "key"}
"""What a row in the state of one of Spark's own operators is."""


@dataclass(frozen=True)
class Store:
    """The state of one stateful operator in a checkpoint: its id and name in Spark, and its state variables.

    `variables` are empty for operators that have stores without variables.
    """

    spark: SparkSession
    checkpoint: str
    batch: int
    operator: int
    name: str
    variables: tuple[str, ...]

    def read(self, **options: str) -> DataFrame:
        """Read the whole store or, by Spark's `options`, a state variable or join side, as of its micro-batch."""
        reader = self.spark.read.format("statestore").option("operatorId", self.operator).option("batchId", self.batch)
        return reader.options(**options).load(self.checkpoint)


@dataclass(frozen=True)
class Kept:
    """What an operator remembers: the numbers of keys, of entries by part, and of rows, as its state bound counts them.

    `keys` is None if the operator has no keys. `entries` are those of the key that was asked for.
    """

    keys: int | None
    parts: Mapping[str, int]
    rows: int
    entries: tuple[StateEntry, ...] = ()


class _Saved(NamedTuple):
    """The decoded content of one saved value: its entries, each with its key, and the rows that it counts as."""

    entries: Iterable[tuple[Any, StateEntry]]
    rows: int


def count_rows(store: Store) -> Kept:
    """Count the rows in a store (state of a Spark operator): per state variable or join side, and in total."""
    if store.name.startswith(_JOIN):
        parts = {f"{side} row": store.read(joinSide=side).count() for side in ("left", "right")}
        return Kept(None, parts, sum(parts.values()))
    if store.variables:
        parts = {name: store.read(stateVarName=name).count() for name in store.variables}
        return Kept(None, parts, sum(parts.values()))
    rows = store.read().count()
    return Kept(None, {_PARTS.get(store.name, "row"): rows}, rows)


def decode_machine(store: Store, specification_json: str, key: str | None) -> Kept:
    """Count keys, entries and rows of a store, decoded by its machine's specification; also return entries of `key`."""
    chosen, parts, keys, rows = list[StateEntry](), Counter[str](), set[str](), 0
    java = "machine" not in store.variables
    decoded = _decode_in_kernel(store, specification_json) if java else _decode(store, specification_json)
    has_keys = is_shared(specification_json)
    for spark_key, saved in decoded:
        rows += saved.rows
        outer = _key_values(spark_key)
        has_keys = has_keys or outer is not None
        if outer and not is_shared(specification_json):
            keys.add(key_text(outer))
        for inner, entry in saved.entries:
            text = key_text(inner if is_shared(specification_json) else outer or ())
            keys.add(text)
            parts[entry.part] += 1
            if text == key:
                chosen.append(entry)
    rows += parts["position"]  # a state bound counts the last position of each object, and `held` does not
    return Kept(len(keys) if has_keys else None, dict(+parts), rows, tuple(chosen))


def key_text(values: Sequence[Any]) -> str:
    """Format a group's key for the command-line option `--key`: its values, separated by commas.

    >>> key_text((7, "north", None))
    '7,north,null'
    """
    return ",".join(value if isinstance(value, str) else json.dumps(value, default=str) for value in values)


def _key_values(key: Row) -> tuple[Any, ...] | None:
    """Return the values of a state key; None if the key is the number of a hash bucket, whose state has many keys."""
    fields = key.asDict()
    if set(fields) == {BUCKET}:
        return None
    values: list[Any] = []
    for name, value in fields.items():
        if name != BUCKET:
            values.extend(value if isinstance(value, Row) else (value,))
    return tuple(values)


def _decode_in_kernel(store: Store, specification_json: str) -> Iterator[tuple[Row, _Saved]]:
    """Decode a store in Java: yield (key, entries and row count of its machine), then (key, rows that wait)."""
    for variable in ("state", WAITING):
        if variable not in store.variables:
            continue
        waits = variable == WAITING
        columns = decode_entries(store.spark, None if waits else specification_json, F.col("value.value"))
        frame = store.read(stateVarName=variable).select("key", *columns)
        for spark_key, text, held in frame.toLocalIterator():
            entries = [
                (key, StateEntry(part, side, tick, copies, codec.nested_tuple(values)))
                for key, part, side, tick, copies, values in codec.decode_json(text or "[]")
            ]
            yield spark_key, _Saved(entries, len(entries) if waits else held)


def _decode(store: Store, specification_json: str) -> Iterator[tuple[Row, _Saved]]:
    """Decode a store in Python: yield (key, entries and row count of its machine), then (key, rows that wait)."""
    for row in store.read(stateVarName="machine").select("key", "value.state").toLocalIterator():
        if row.state is not None:
            yield row.key, _restore(specification_json, bytes(row.state))
    waiting = store.read(stateVarName=WAITING).select("key", "list_element.t", "list_element.body")
    for spark_key, tick, body in waiting.toLocalIterator():
        entries = [
            (arrival.key, StateEntry(WAITING, arrival.side, tick, arrival.sign, arrival.row))
            for arrival in decode_arrivals(body)
            if arrival.present
        ]
        yield spark_key, _Saved(entries, len(entries))


def _restore(specification_json: str, state: bytes) -> _Saved:
    """Restore a machine, or those of a hash bucket's keys, from saved `state`; return its entries and row count."""
    if is_shared(specification_json):
        bucket = Bucket(TimedMachineFactory(specification_json), state)
        return _Saved(bucket.entries(), bucket.held)
    machine = create_machine(specification_json, state)
    return _Saved([((), entry) for entry in machine.entries()], machine.held)
