"""Faults sown into the planner, the lowering and the machines: the golden cases and a few small ones must notice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark import cloudpickle
from pyspark.errors import AnalysisException

import transom
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from tests.faults import Fault, Where, faulty_tree, seeded
from tests.spark.trying import AT_ONCE, replay, stream
from transom.machines import numbering, protocol
from transom.machines.joins import product
from transom.machines.windows import window, window_changes
from transom.model.answer import Answer
from transom.physical import lifetimes
from transom.runtime.results.results import plain_frame
from transom.runtime.results.rows import answer_from_rows, row_difference
from transom.runtime.verify.micro_batches import Split
from transom.spark import event_time, relations, sources, streams, windows
from transom.spark.stateful import runner

IN_WORKERS = (protocol, product, numbering, window_changes, window, event_time, runner)
"""Modules that run inside Spark's Python workers, which import the installed ones; a fault there travels by value."""

A_T = {"a": {"kind": "pushed", "attrs": ["k:integer"]}, "t": {"kind": "stored", "attrs": ["k:integer"]}}
A_B = {"a": {"kind": "pushed", "attrs": ["k:integer", "x:integer"]}, "b": {"kind": "pushed", "attrs": ["k:integer"]}}
SMALL = [
    Case(
        "null-keys",
        A_B,
        {"a": [[0, 1, None, 1], [0, 2, 5, 2]], "b": [[0, 1, None], [1, 2, 5]]},
        2,
        "RSTREAM(SELECT a.x FROM a [FROM NOW-1 TO NOW SLIDE 1 SEC], b [FROM NOW-1 TO NOW SLIDE 1 SEC] WHERE a.k = b.k)",
        {},
    ),
    Case(
        "null-keys-by-row",
        A_B,
        {"a": [[0, 1, None, 1], [0, 2, 5, 2]], "b": [[0, 1, None], [1, 2, 5]]},
        2,
        "SELECT a.x FROM a [FROM NOW-1 TO NOW SLIDE 1 ROW], b [FROM NOW-1 TO NOW SLIDE 1 SEC] WHERE a.k = b.k",
        {},
    ),
    Case(
        "three-at-once",
        A_B,
        {"a": [[0, 1, 1, 5], [0, 2, 1, 5], [0, 3, 1, 5], [2, 4, 1, 0]]},
        3,
        "ISTREAM(SELECT x FROM a [FROM NOW-1 TO NOW SLIDE 1 SEC] WHERE x > 1)",
        {},
    ),
    Case(
        "empty-table",
        A_T,
        {"a": [[0, 1, 1]], "t": [[0, []]]},
        2,
        "SELECT a.k FROM a [FROM NOW TO NOW SLIDE 1 SEC], t [SCAN 1 SEC] WHERE a.k = t.k",
        {},
    ),
    Case(
        "row-windows",
        A_B,
        {"a": [[0, 1, 1, 1], [1, 2, 1, 2], [1, 3, 1, 3], [1, 4, 1, 4]]},
        2,
        "SELECT x FROM a [FROM NOW-1 TO NOW SLIDE 1 ROW]",
        {},
    ),
    Case(
        "two-slides",
        A_B,
        {"a": [[0, 1, 1, 1], [3, 2, 1, 2]], "b": [[0, 1, 1], [4, 2, 1]]},
        9,
        "DSTREAM(SELECT COUNT(*) FROM a [FROM NOW-1 TO NOW SLIDE 2 SEC], b [FROM NOW-1 TO NOW SLIDE 3 SEC])",
        {},
    ),
    Case(
        "some-stay-longer",
        A_B,
        {"a": [[1, 1, 1, 1], [2, 2, 1, 2], [2, 3, 2, 4]]},
        8,
        "SELECT COUNT(*), SUM(x) FROM a [FROM NOW-4 TO NOW SLIDE 2 SEC]",
        {},
    ),
    Case(
        "long-and-short",
        A_B,
        {"a": [[1, 1, 1, 1], [3, 2, 1, 2]], "b": [[0, 1, 1], [2, 2, 1], [4, 3, 1]]},
        8,
        "SELECT a.x, b.k FROM a [FROM NOW-3 TO NOW SLIDE 1 SEC], b [FROM NOW-2 TO NOW SLIDE 1 SEC] WHERE a.k = b.k",
        {},
    ),
]


@dataclass(frozen=True)
class Sown:
    """A fault with the tries that should notice it: each the beginning of a case's name, and a way of running it."""

    fault: Fault
    tries: tuple[tuple[str, str], ...]
    falls: bool = False
    """Whether Spark refuses the query; everything else must give an answer, and a wrong one."""


def sow(name: str, where: Where, right: str, wrong: str, *tries: tuple[str, str], falls: bool = False) -> Sown:
    return Sown(Fault(name, where, right, wrong), tries, falls)


SOWN = [
    sow(
        "R1: no mark on a derived tick",
        event_time.TickTime.as_event_time,
        "A_(B_, metadata=EVENT_TIME_METADATA)",
        "A_(B_)",
        ("s17", "stream"),
        falls=True,
    ),
    sow(
        "R2: first window before the row",
        windows.time_window,
        "ceil_to(A_, B_)",
        "div(A_, B_) * F.lit(B_)",
        ("s11", "replay"),
        ("s31", "replay"),
    ),
    sow(
        "R4: no delay",
        event_time.watermark_delay,
        "A_ + LEAST_DELAY_MS",
        "A_",
        ("three-at-once", "rows"),
    ),
    sow(
        "R5: no barrier",
        event_time.with_watermark,
        "A_.observe(metric_name, F.max(TICK).alias('latest'))",
        "A_",
        ("three-at-once", "stream"),
    ),
    sow("R6: an empty table", event_time.join_table, "'left'", "'inner'", ("empty-table", "rows")),
    sow(
        "a tuple leaves one window early",
        windows.time_window,
        "A_ + F.lit(1)",
        "A_",
        ("s12", "replay"),
    ),
    sow(
        "empty windows lost",
        windows.window_markers,
        "A_.unionByName(B_, allowMissingColumns=True)",
        "A_",
        ("s28", "replay"),
    ),
    sow(
        "windows without rows have no count",
        relations.window_aggregate,
        "clock.withColumn(IS_ROW, F.lit(False))",
        "clock.withColumn(IS_ROW, F.lit(False)).where('false')",
        ("s11", "replay"),
    ),
    sow(
        "valid until the next window of one side",
        windows.next_tick,
        "A_[0] if len(A_) == 1 else F.least(*A_)",
        "A_[-1]",
        ("two-slides", "replay"),
    ),
    sow(
        "panes known by their first window alone",
        lifetimes.fixed_lifetime,
        "A_ if (past - until + 1) % slide == 0 else None",
        "A_",
        ("s12", "replay"),
        ("some-stay-longer", "replay"),
    ),
    sow(
        "a pair counted in both spans",
        relations.interval_join,
        "div(early, node.cell) == div(run.time.tick_number(A_.col('left_cell')), node.cell)",
        "A_.lit(True)",
        ("long-and-short", "replay"),
        ("s13", "replay"),
    ),
    sow(
        "a scan sees a version one tick late",
        sources._first_scan_at,
        "B_(version, A_)",
        "B_(version + F.lit(1), A_)",
        ("s24", "replay"),
    ),
    sow(
        "NULL joins NULL",
        relations._key_condition,
        "A_ == B_",
        "A_.eqNullSafe(B_)",
        ("null-keys", "replay"),
    ),
    sow(
        "NULL joins NULL in a machine",
        relations._product_input,
        "frame = frame.where(~F.col(IS_ROW) | key.isNotNull())",
        "pass",
        ("null-keys-by-row", "replay"),
    ),
    sow(
        "DSTREAM says what came",
        streams.interval_diff,
        "A_ if node.report == 'inserted' else -A_",
        "A_",
        ("s18", "replay"),
    ),
    sow(
        "a window that is not new is forgotten",
        product.ProductMachine._update_side,
        "if not events:\n    return False",
        "if not events:\n    self.current[side] = None\n    return False",
        ("s14", "replay"),
    ),
    sow("windows of a tick not counted", protocol.WindowAdapter.feed, "seq += 1", "seq = 1", ("s07", "replay")),
    sow(
        "windows of a tick compared as one",
        protocol.WindowChangesAdapter.feed,
        "arrival.seq",
        "1",
        ("s29", "replay"),
        ("s16", "replay"),
    ),
    sow(
        "rows of one tick as they come",
        protocol.sort_inputs,
        "(A_, B_, C_, sort_key(a.order))",
        "(A_, B_, C_)",
        ("s01", "backwards"),
        ("s26", "backwards"),
    ),
    sow(
        "a machine forgets between batches",
        runner.MachineRunner.handleExpiredTimer,
        "None if A_ else machine.save()",
        "None",
        ("row-windows", "rows"),
    ),
    sow(
        "a tick closed while it lasts",
        event_time.TickTime.last_closed_tick,
        "(watermark_ms * 1000 - self.origin_micros) // self.calendar.length",
        "(watermark_ms * 1000 - self.origin_micros) // self.calendar.length + 1",
        ("row-windows", "rows"),
    ),
]


@contextmanager
def sown(fault: Fault, in_workers: Sequence[ModuleType] = IN_WORKERS) -> Iterator[None]:
    """The engine with a fault, in the workers too: what runs there travels by value, not by name."""
    with ExitStack() as undo:
        if fault.module in in_workers:
            for module in in_workers:
                cloudpickle.register_pickle_by_value(module)
                undo.callback(cloudpickle.unregister_pickle_by_value, module)
        with seeded(fault):
            yield


def case_of(name: str) -> Case:
    return next(c for c in [*SMALL, *golden_cases()] if c.name.startswith(name))


def ask(name: str) -> tuple[transom.Query, dict[str, Any], int]:
    case = case_of(name)
    return transom.compile(case.text, catalog_of(case.schema)), inputs_of(case.schema, case.inputs), case.until


@cache
def expected(name: str) -> Answer:
    query, inputs, until = ask(name)
    return query.simulate(inputs, until=until)


def backwards(query: transom.Query, spark: Any, inputs: dict[str, Any], until: int) -> Answer:
    """A replay of a stream whose rows come last to first; `position` says where they stand in their tick."""
    (extent,) = query.sources
    rows = [(tick, place, *values) for place, (tick, *values) in enumerate(inputs[extent.name])]
    kinds = {"INTEGER": "long", "FLOAT": "double", "STRING": "string"}
    attributes = ", ".join(f"{a.name} {kinds[a.type.name]}" for a in extent.schema)
    frame = spark.createDataFrame(rows[::-1], f"tick long, position long, {attributes}").coalesce(1)
    index = query.result_kind == "tagged-tuples"
    result = query.to_df(spark, {extent.name: frame}, index=index, until=until, kernel="off")
    found = plain_frame(result, query.optimized.schema, query.catalog.calendar).collect()
    return answer_from_rows(found, query.optimized.schema, query.columns, query.result_kind)


def notices(spark: Any, name: str, way: str, *, falls: bool = False) -> str | None:
    """How an answer differs from the right one; an engine that falls over is noticed only where that is expected.

    All without the kernel: its machines are watched by the tests that compare them with these.
    """
    query, rows, until = ask(name)
    index = query.result_kind == "tagged-tuples" and way == "backwards"
    inputs = query.inputs(rows, until=until)
    try:
        match way:
            case "replay":
                found = replay(query, spark, inputs, kernel="off")
            case "stream":
                found = stream(query, spark, inputs, AT_ONCE, kernel="off")
            case "backwards":
                found = backwards(query, spark, rows, until)
            case _:
                found = stream(query, spark, inputs, Split(1), kernel="off")
    except AnalysisException as error:
        if not falls:
            raise
        return str(error)
    return row_difference(expected(name), found, index=index)


TRIES = sorted({one for sown in SOWN for one in sown.tries})


def test_enough_faults_of_every_kind() -> None:
    assert len(SOWN) >= 10
    assert {sown.fault.module for sown in SOWN} >= {
        event_time,
        windows,
        relations,
        streams,
        sources,
        lifetimes,
        protocol,
        product,
    }
    assert all(sown.tries for sown in SOWN)
    for fault in (sown.fault for sown in SOWN):
        assert faulty_tree(fault), fault.name


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "way"), TRIES)
def test_without_a_fault_nothing_is_noticed(spark: Any, name: str, way: str) -> None:
    assert notices(spark, name, way) is None


@pytest.mark.nightly
@pytest.mark.parametrize("sown_fault", SOWN, ids=lambda s: s.fault.name)
def test_fault_is_noticed(spark: Any, sown_fault: Sown) -> None:
    with sown(sown_fault.fault):
        found = [notices(spark, name, way, falls=sown_fault.falls) for name, way in sown_fault.tries]
    assert any(found), found


@pytest.mark.nightly
def test_the_engine_is_whole_again(spark: Any) -> None:
    assert notices(spark, "s12", "replay") is None
    assert notices(spark, "s07", "replay") is None
