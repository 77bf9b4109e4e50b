"""Read what a query remembers from its checkpoint, per operator of the plan; the query may run meanwhile."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from transom.errors import CheckpointError
from transom.runtime.checkpoint.checkpoint import SPARK_FOLDER, Checkpoint
from transom.runtime.checkpoint.fingerprint import check_format
from transom.runtime.checkpoint.logs.spark_logs import batch_watermark
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.checkpoint.settings import applied, settings_for
from transom.runtime.checkpoint.state_files import find_damaged_changelog
from transom.runtime.state.operators import RecordedOperator, read_operators
from transom.runtime.state.stores import Kept, Store, count_rows, decode_machine
from transom.spark.stateful.kernel import load_kernel

INSPECTIONS = 3
"""How often logs that look damaged are read, since a running query writes and deletes them."""
INSPECTION_INTERVAL = 0.2
"""The seconds between two inspections."""
_NO_RECORD = (
    "the checkpoint does not record which operators of Spark run its plan, because the last run was of an earlier "
    "version or used Spark Connect; the next run without Spark Connect records them"
)
_OTHER_OPERATORS = "the operators in the state are not those of the last run"


@dataclass(frozen=True)
class StoredState:
    """What one operator of Spark keeps, with its id and name; `not_decoded` says why its entries are not decoded.

    `kept` is None if its state cannot be read at all.
    """

    operator: int
    name: str
    kept: Kept | None
    not_decoded: str | None = None


@dataclass(frozen=True)
class NodeState:
    """What a node of the plan remembers in all its operators, and its bound as text and, if it is known, in rows."""

    title: str
    bound: str | None
    limit: int | None
    operators: tuple[StoredState, ...]
    columns: tuple[str, ...] = ()

    @property
    def used(self) -> int | None:
        """The number of rows in state; None if the state of an operator cannot be read."""
        rows = [stored.kept.rows for stored in self.operators if stored.kept is not None]
        return sum(rows) if len(rows) == len(self.operators) else None


@dataclass(frozen=True)
class CheckpointState:
    """What a query remembers after a micro-batch, whose watermark is in milliseconds."""

    batch: int
    watermark: int
    nodes: tuple[NodeState, ...]


def read_state(spark: SparkSession, folder: Path, key: str | None = None) -> CheckpointState:
    """Read what a query has in state, with the entries of `key`, such as `7,north`, if given; changes nothing.

    Raises CheckpointError for a folder that is no checkpoint, is damaged, or has no committed micro-batch.
    """
    check_folder(folder)
    checkpoint = _inspect(spark, folder)
    batch = checkpoint.logs.committed
    if batch < 0:
        raise CheckpointError(
            f"no micro-batch of {folder} is committed, so it has no state", hint="wait until its query has read rows"
        )
    watermark = batch_watermark(checkpoint.files, batch)
    if not any(name.isdecimal() for name in checkpoint.files.entries("state")):
        return CheckpointState(batch, watermark, ())
    with applied(spark, settings_for(spark, folder)):
        stores = _stores(spark, folder, batch)
        recorded, reason = _match(read_operators(folder), stores)
        nodes: dict[Any, list[tuple[RecordedOperator, StoredState]]] = {}
        for store, operator in zip(stores, recorded, strict=True):
            stored = _read_store(store, operator, key, reason, folder)
            group = operator.node if operator.node is not None else f"operator {store.operator}"
            nodes.setdefault(group, []).append((operator, stored))
    return CheckpointState(batch, watermark, tuple(map(_node_state, nodes.values())))


def check_folder(folder: Path) -> None:
    """Raise CheckpointError if a folder is no checkpoint, or one whose state this version cannot read; needs no JVM."""
    if not (folder / PLAN_FILE).exists() and not (folder / SPARK_FOLDER).exists():
        raise CheckpointError(
            f"{folder} is not a checkpoint",
            detail=f"it has neither {PLAN_FILE} nor the folder {SPARK_FOLDER}",
            hint="name the folder that `run` has as --checkpoint",
        )
    check_format(folder)


def _inspect(spark: SparkSession, folder: Path, attempts: int = INSPECTIONS) -> Checkpoint:
    """Open and check a checkpoint, up to `attempts` times, as a running query may change its files meanwhile."""
    checkpoint = Checkpoint.open(spark, folder)
    try:
        checkpoint.inspect()
    except (CheckpointError, FileNotFoundError) as error:
        if attempts > 1:
            time.sleep(INSPECTION_INTERVAL)
            return _inspect(spark, folder, attempts - 1)
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"the checkpoint is damaged: {error.filename} is missing") from error
    return checkpoint


def _node_state(parts: Sequence[tuple[RecordedOperator, StoredState]]) -> NodeState:
    """Combine the stored states of all Spark operators that belong to the same plan node."""
    operator = parts[0][0]
    stored = tuple(stored for _, stored in parts)
    return NodeState(operator.title, operator.bound, operator.rows, stored, tuple(operator.columns))


def _stores(spark: SparkSession, folder: Path, batch: int) -> list[Store]:
    """List the state stores of a checkpoint's stateful operators after micro-batch `batch`, ordered by id."""
    path = str(folder / SPARK_FOLDER)
    try:
        rows = spark.read.format("state-metadata").load(path).collect()
    except (PySparkException, Py4JError) as error:
        raise CheckpointError(
            f"Spark does not read which operators have state in {folder}",
            detail=_first_line(error),
            hint="start its query, which checks the checkpoint; the command changes nothing",
        ) from error
    stores = {
        row.operatorId: Store(spark, path, batch, row.operatorId, row.operatorName, tuple(_variables(row)))
        for row in rows
    }
    return [stores[operator] for operator in sorted(stores)]


def _variables(row: Any) -> Iterator[str]:
    """Yield the names of an operator's state variables, without the timers that Spark keeps for itself."""
    for variable in json.loads(row.operatorProperties or "{}").get("stateVariables", ()):
        if not variable["stateName"].startswith("$"):
            yield variable["stateName"]


def _match(
    recorded: Sequence[RecordedOperator] | None, stores: Sequence[Store]
) -> tuple[Sequence[RecordedOperator], str | None]:
    """Return each store's operator and None; if the record does not fit, placeholders and the reason, as text."""
    if recorded is not None and len(recorded) == len(stores):
        names = zip(recorded, stores, strict=True)
        if all(store.name.startswith(operator.name) for operator, store in names):
            return recorded, None
    unknown = [
        RecordedOperator(store.name, None, f"operator {store.operator} of Spark", None, None, None) for store in stores
    ]
    return unknown, _NO_RECORD if recorded is None else _OTHER_OPERATORS


def _read_store(
    store: Store, operator: RecordedOperator, key: str | None, reason: str | None, folder: Path
) -> StoredState:
    """Read an operator's state; only count rows if it is Spark's own or there is a `reason` (text) not to decode it.

    Raises CheckpointError if a file of the state is damaged.
    """
    if operator.machine is not None and "state" in store.variables:
        reason = reason or _kernel_missing(store.spark)
    try:
        if operator.machine is not None and reason is None:
            return StoredState(store.operator, store.name, decode_machine(store, operator.machine, key))
        return StoredState(store.operator, store.name, count_rows(store), reason)
    except (PySparkException, Py4JError) as error:
        damaged = find_damaged_changelog(folder / SPARK_FOLDER / "state")
        if damaged is not None:
            raise CheckpointError(
                f"the checkpoint is damaged: {damaged} cannot be read",
                hint="put back a copy of the whole checkpoint, and of its sink from the same time",
            ) from error
        return StoredState(store.operator, store.name, None, f"Spark does not read it: {_first_line(error)}")


def _kernel_missing(spark: SparkSession) -> str | None:
    """Return why this session cannot decode the state of operators in the Java kernel; None if it can."""
    why = load_kernel(spark)
    return None if why is None else f"its machine runs in the kernel, and this session has no kernel: {why}"


def _first_line(error: Exception) -> str:
    """Return the first line of an error of Spark, at most 400 characters."""
    return (str(error).splitlines() or [type(error).__name__])[0][:400]
