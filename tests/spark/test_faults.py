"""Faults sown into the planner, the lowering and the machines: the golden cases and a few small ones must notice."""

from __future__ import annotations

import inspect
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
from tests.spark.trying import AT_ONCE, replay, stream
from tests.test_faults import Fault, seeded
from transom.machines import change, order, product, steps, window
from transom.model.answer import Answer
from transom.physical import stays
from transom.runtime.answers import answer, difference
from transom.runtime.micro_batches import Split
from transom.runtime.results import plain
from transom.spark import marks, relations, runner, sources, streams, windows

IN_WORKERS = (steps, product, order, change, window, marks, runner)
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


def sow(name: str, module: ModuleType, right: str, wrong: str, *tries: tuple[str, str], falls: bool = False) -> Sown:
    return Sown(Fault(name, module, right, wrong), tries, falls)


SOWN = [
    sow(
        "R1: no mark on a derived tick",
        marks,
        ".alias(TICK, metadata=MARK)",
        ".alias(TICK)",
        ("s17", "stream"),
        falls=True,
    ),
    sow(
        "R2: first window before the row",
        windows,
        "enters = ceil_to(tick + F.lit(node.until), node.slide)",
        "enters = div(tick + F.lit(node.until), node.slide) * F.lit(node.slide)",
        ("s11", "replay"),
        ("s31", "replay"),
    ),
    sow(
        "R4: no delay",
        marks,
        "delay = delay_ms + LEAST_DELAY_MS",
        "delay = delay_ms",
        ("three-at-once", "rows"),
    ),
    sow("R5: no barrier", marks, '.observe(name, F.max(TICK).alias("latest"))', "", ("three-at-once", "stream")),
    sow("R6: an empty table", marks, 'condition, "left")', 'condition, "inner")', ("empty-table", "rows")),
    sow(
        "a tuple leaves one window early",
        windows,
        "leaves = (div(tick + F.lit(node.past), node.slide) + F.lit(1))",
        "leaves = div(tick + F.lit(node.past), node.slide)",
        ("s12", "replay"),
    ),
    sow(
        "empty windows lost",
        windows,
        "return rows.unionByName(words, allowMissingColumns=True)",
        "return rows",
        ("s28", "replay"),
    ),
    sow(
        "windows without rows have no count",
        relations,
        'clock.withColumn("p", F.lit(False)), allowMissingColumns=True',
        'clock.withColumn("p", F.lit(False)).where("false"), allowMissingColumns=True',
        ("s11", "replay"),
    ),
    sow(
        "valid until the next window of one side",
        windows,
        "return ends[0] if len(ends) == 1 else F.least(*ends)",
        "return ends[-1]",
        ("two-slides", "replay"),
    ),
    sow(
        "panes known by their first window alone",
        stays,
        "return ticks if (past - until + 1) % slide == 0 else None",
        "return ticks",
        ("s12", "replay"),
        ("some-stay-longer", "replay"),
    ),
    sow(
        "a pair counted in both spans",
        relations,
        'here = div(early, node.cell) == div(run.time.number(F.col("lx")), node.cell)',
        "here = F.lit(True)",
        ("long-and-short", "replay"),
        ("s13", "replay"),
    ),
    sow(
        "a scan sees a version one tick late",
        sources,
        "first = ceil_to(version, node.schedule.periods[0])",
        "first = ceil_to(version + F.lit(1), node.schedule.periods[0])",
        ("s24", "replay"),
    ),
    sow(
        "NULL joins NULL",
        relations,
        "condition = condition & (one == other)",
        "condition = condition & one.eqNullSafe(other)",
        ("null-keys", "replay"),
    ),
    sow(
        "NULL joins NULL in a machine",
        relations,
        'frame = frame.where(~F.col("p") | key.isNotNull())',
        "pass",
        ("null-keys-by-row", "replay"),
    ),
    sow(
        "DSTREAM says what came",
        streams,
        'left = F.col("n") if node.report == "came" else -F.col("n")',
        'left = F.col("n")',
        ("s18", "replay"),
    ),
    sow(
        "a window that is not new is forgotten",
        product,
        "            if not events:\n                return False\n",
        "            if not events:\n                self.current[place] = None\n                return False\n",
        ("s14", "replay"),
    ),
    sow("windows of a tick not counted", steps, "seq += 1", "seq = 1", ("s07", "replay")),
    sow(
        "windows of a tick compared as one",
        steps,
        "windows.setdefault(arrival.seq, [])",
        "windows.setdefault(1, [])",
        ("s29", "replay"),
        ("s16", "replay"),
    ),
    sow(
        "rows of one tick as they come",
        steps,
        "(a.side, a.seq, a.sign, sort_key(a.order))",
        "(a.side, a.seq, a.sign)",
        ("s01", "backwards"),
        ("s26", "backwards"),
    ),
    sow(
        "a machine forgets between batches",
        runner,
        "self._keep(None if blank else machine.save(), rest)",
        "self._keep(None, rest)",
        ("row-windows", "rows"),
    ),
    sow(
        "a tick closed while it lasts",
        marks,
        "return (watermark * 1000 - self.zero) // self.calendar.length",
        "return (watermark * 1000 - self.zero) // self.calendar.length + 1",
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
    (extent,) = query.reads
    rows = [(tick, place, *values) for place, (tick, *values) in enumerate(inputs[extent.name])]
    kinds = {"INTEGER": "long", "FLOAT": "double", "STRING": "string"}
    attributes = ", ".join(f"{a.name} {kinds[a.type.name]}" for a in extent.schema)
    frame = spark.createDataFrame(rows[::-1], f"tick long, position long, {attributes}").coalesce(1)
    index = query.gives == "tagged-tuples"
    result = query.to_df(spark, {extent.name: frame}, index=index, until=until, kernel="off")
    found = plain(result, query.plan.schema, query.catalog.calendar).collect()
    return answer(found, query.plan.schema, query.columns, query.gives)


def notices(spark: Any, name: str, way: str, *, falls: bool = False) -> str | None:
    """How an answer differs from the right one; an engine that falls over is noticed only where that is expected.

    All without the kernel: its machines are watched by the tests that compare them with these.
    """
    query, rows, until = ask(name)
    index = query.gives == "tagged-tuples" and way == "backwards"
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
    return difference(expected(name), found, index=index)


TRIES = sorted({one for sown in SOWN for one in sown.tries})


def test_enough_faults_of_every_kind() -> None:
    assert len(SOWN) >= 10
    assert {sown.fault.module for sown in SOWN} >= {
        marks,
        windows,
        relations,
        streams,
        sources,
        stays,
        steps,
        product,
    }
    assert all(sown.tries for sown in SOWN)
    for fault in (sown.fault for sown in SOWN):
        assert inspect.getsource(fault.module).count(fault.right) == 1, fault.name


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
