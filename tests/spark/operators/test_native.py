"""What Spark itself runs and what runs in Python, read from Spark's plans; the rules of event time, each on its own."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import transom
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from tests.gate.thin import thinned
from tests.spark.trying import plain
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.physical import decisions
from transom.physical.nodes.node import ReadClock
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Executor as Way
from transom.physical.nodes.windows import Form, ReadStream, RowNumber, RowWindow, TimeWindow, WindowDiff, WindowProduct
from transom.runtime.verify.harness import streaming_frame
from transom.runtime.verify.micro_batches import Split
from transom.spark import event_time, windows
from transom.spark.columns import TICK, VALID_TO
from transom.spark.event_time import TickTime, ceil_to, floor_to, join_table, with_watermark, without_event_time
from transom.spark.frames import LoweringContext

CASES = [c for c in golden_cases() if c.expected["kind"] != "error"]

IN_PYTHON = {
    "s02": (2, 1),  # a row window, paired with a time window
    "s06": (0, 1),
    "s07": (1, 0),
    "s08": (1, 0),
    "s09": (0, 1),
    "s10": (1, 0),
    "s11": (0, 2),
    "s12": (0, 2),
    "s13": (0, 1),
    "s14": (2, 2),
    "s15": (3, 0),
    "s16": (4, 0),  # two row windows, their product, and its windows compared
    "s19": (1, 0),
    "s21": (1, 0),
    "s22": (0, 1),
    "s23": (0, 2),
    "s24": (0, 3),
    "s25": (0, 1),
    "s27": (1, 1),
    "s28": (0, 1),
    "s29": (4, 0),
    "s30": (4, 0),
    "s31": (0, 1),
    "s33": (0, 2),
    "s35": (0, 1),
}
"""Machines and clocks of a case, where it has any; the others run without Python from end to end."""

NATIVE = {
    "CollectMetrics",
    "EventTimeWatermark",
    "Exchange",
    "Expand",
    "Filter",
    "Generate",
    "HashAggregate",
    "LocalTableScan",
    "ObjectHashAggregate",
    "PlanLater",
    "Project",
    "Scan",
    "Sort",
    "SortAggregate",
    "StateStoreRestore",
    "StateStoreSave",
    "StreamingRelation",
    "StreamingSymmetricHashJoin",
    "Union",
    "Window",
    "WindowGroupLimit",
    "BroadcastExchange",
    "BroadcastHashJoin",
    "BroadcastNestedLoopJoin",
    "CartesianProduct",
    "ShuffledHashJoin",
    "SortMergeJoin",
    "AdaptiveSparkPlan",
    "InMemoryTableScan",
    "Range",
    "Coalesce",
    "UnionLoop",
}
"""Operators of Spark that run in the JVM. One that is not listed fails a test, so that none slips in unseen."""

MACHINE = "TransformWithStateInPySpark"
KERNEL_CLOCK = "transom.kernel.spark.ClockSource"
KERNEL = {"TransformWithState", "SerializeFromObject", "DeserializeToObject"}


def operators(frame: DataFrame) -> tuple[Counter[str], list[str]]:
    """The operators of a plan of Spark's by name, and the sources that it streams from."""
    words = io.StringIO()
    with contextlib.redirect_stdout(words):
        frame.explain()
    names: Counter[str] = Counter()
    sources = []
    for line in words.getvalue().splitlines()[1:]:
        found = re.match(r"[\s:+|-]*(?:\*\(\d+\) )?!?([A-Z]\w+)(.*)", line)
        if found:
            names[found[1]] += 1
            if found[1] == "StreamingRelation":
                sources.append(found[2].split(",")[0].split("[")[0].strip())
    assert names, words.getvalue()
    return names, sources


@pytest.mark.parametrize("case", thinned(CASES, 8), ids=lambda c: c.name)
def test_python_only_where_the_plan_says_so(spark: Any, case: Case, tmp_path: Path) -> None:
    query = transom.compile(case.text, catalog_of(case.schema))
    inputs = query.inputs(inputs_of(case.schema, case.inputs), until=case.until)
    names, sources = operators(streaming_frame(query, spark, inputs, Split(), tmp_path, kernel="off"))
    declared = [node for node in walk(query.physical()) if node.decision.executor is Way.MACHINE]
    assert all(
        isinstance(node, RowWindow | ReadClock | WindowProduct | WindowDiff) and node.decision.reason
        for node in declared
    )
    clocks = sum(isinstance(node, ReadClock) for node in declared)
    assert set(names) - {MACHINE} <= NATIVE
    assert names[MACHINE] == len(declared) - clocks
    assert Counter(sources)["transom_clock"] == clocks
    assert set(sources) <= {"transom_clock", "FileSource"}
    assert (names[MACHINE], clocks) == IN_PYTHON.get(case.name[:3], (0, 0))


@pytest.mark.parametrize("case", thinned(CASES, 8, 4), ids=lambda c: c.name)
def test_no_python_at_all_with_the_kernel(spark: Any, case: Case, tmp_path: Path) -> None:
    query = transom.compile(case.text, catalog_of(case.schema))
    inputs = query.inputs(inputs_of(case.schema, case.inputs), until=case.until)
    index = query.result_kind == "tagged-tuples"
    names, sources = operators(streaming_frame(query, spark, inputs, Split(), tmp_path, index=index, kernel="on"))
    plan = list(walk(query.physical(index=index, kernel=True)))
    declared = [node for node in plan if node.decision.executor is Way.KERNEL]
    clocks = sum(isinstance(node, ReadClock) for node in declared)
    assert not [node for node in plan if node.decision.executor is Way.MACHINE]
    assert set(names) - KERNEL <= NATIVE
    assert names["TransformWithState"] == len(declared) - clocks
    assert Counter(sources) - Counter(FileSource=len(sources)) == Counter({KERNEL_CLOCK: clocks})


def test_an_operator_in_python_would_be_seen(spark: Any) -> None:
    """The reading of plans is not blind: functions and groups in Python show up under names that are not allowed."""
    frame = spark.range(3).select(F.udf(lambda n: n, "long")(F.col("id")).alias("id"))
    assert set() < set(operators(frame)[0]) - NATIVE <= {"BatchEvalPython", "ArrowEvalPython"}
    frame = spark.range(3).mapInPandas(lambda parts: parts, "id long")
    assert set(operators(frame)[0]) - NATIVE == {"MapInPandas"}


def test_the_index_costs_a_machine_and_says_so(spark: Any, tmp_path: Path) -> None:
    case = next(c for c in CASES if c.name.startswith("s01"))
    query = transom.compile(case.text, catalog_of(case.schema))
    inputs = query.inputs(inputs_of(case.schema, case.inputs), until=case.until)
    names, _ = operators(streaming_frame(query, spark, inputs, Split(), tmp_path, index=True, kernel="off"))
    assert names[MACHINE] == 1
    assert [type(n) for n in walk(query.physical(index=True)) if n.decision.executor is Way.MACHINE] == [RowNumber]


# --- the rules of event time ---------------------------------------------------------------------------

TIME = TickTime(Calendar())


def source(spark: Any, folder: Path, batches: list[list[int]]) -> DataFrame:
    """A stream of ticks `t`, so many per micro-batch, with the end of each as `tick`."""
    folder.mkdir()
    for number, ticks in enumerate(batches):
        file = folder / f"{number:04}.parquet"
        pq.write_table(pa.table({"t": pa.array(ticks, pa.int64())}), file)
        os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))  # files are taken in the order of their age
    raw = spark.readStream.schema("t long").option("maxFilesPerTrigger", 1).parquet(str(folder))
    return raw.select(TIME.end_of_tick(F.col("t")).alias(TICK), "t")


def counted(frame: DataFrame, folder: Path, *more: str) -> dict[int, int]:
    """How many rows each tick has, as a stream in append mode: only ticks that are closed come out, each once."""
    name = "rule_" + re.sub(r"\W", "_", folder.name)
    sums = frame.groupBy(TICK, *more).count().select(TIME.tick_number().alias("t"), "count")
    writer = sums.writeStream.format("memory").queryName(name).outputMode("append")
    running = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        running.processAllAvailable()
    finally:
        running.stop()
    rows = frame.sparkSession.table(name).collect()
    assert len({row["t"] for row in rows}) == len(rows)
    return {row["t"]: row["count"] for row in rows}


def test_r1_a_derived_column_is_event_time_only_by_its_mark(spark: Any, tmp_path: Path) -> None:
    rows = with_watermark(source(spark, tmp_path / "in", [[1, 2], [4, 7], [30]]), 0, "r1")
    marked = rows.select(TIME.as_event_time(ceil_to(TIME.tick_number(), 5)))
    assert counted(marked, tmp_path / "marked") == {5: 3, 10: 1}
    with pytest.raises(AnalysisException, match=r"(?i)watermark"):
        counted(rows.select(TIME.end_of_tick(ceil_to(TIME.tick_number(), 5)).alias(TICK)), tmp_path / "not")


def test_r2_a_mark_below_the_event_time_loses_rows(spark: Any, tmp_path: Path) -> None:
    rows = with_watermark(source(spark, tmp_path / "in", [[1], [3], [4], [6], [8], [9], [30]]), 0, "r2")
    assert counted(rows.select(TIME.as_event_time(ceil_to(TIME.tick_number(), 5))), tmp_path / "up") == {5: 3, 10: 3}
    down = counted(rows.select(TIME.as_event_time(floor_to(TIME.tick_number(), 5))), tmp_path / "down")
    assert sum(down.values()) < 6


@pytest.mark.parametrize("slide", [1, 2, 3, 7])
def test_r2_no_time_window_marks_below(spark: Any, slide: int) -> None:
    schema = Schema((Attribute("x", Type.INTEGER),))
    read = ReadStream("a", schema, False, decisions.read_stream("a"))
    frame = spark.range(40).select(TIME.end_of_tick(F.col("id")).alias(TICK), F.col("id").alias("c0"))
    run = LoweringContext(spark, Calendar(), {}, {}, live=False)
    for past, until in ((0, 0), (5, 0), (5, 2), (9, 9), (2, 5)):
        node = TimeWindow(read, past, until, slide, (), schema, False, decisions.time_window())
        assert node.form is Form.INTERVALS
        held = {(t, w) for t in range(40) for w in range(0, 70, slide) if w - past <= t <= w - until}
        rows = (
            windows.time_window(node, frame, run)
            .select(TIME.tick_number().alias("f"), F.col(VALID_TO).alias("g"), "c0")
            .collect()
        )
        assert all(row["f"] >= row["c0"] for row in rows)
        assert {(row["c0"], w) for row in rows for w in range(row["f"], row["g"], slide)} == held


def test_r3_two_marks_in_one_operator_are_refused(spark: Any, tmp_path: Path) -> None:
    rows = with_watermark(source(spark, tmp_path / "in", [[1, 2], [30]]), 0, "r3")
    twice = rows.select(
        TICK, TIME.end_of_tick(TIME.tick_number() + 1).alias("later", metadata=event_time.EVENT_TIME_METADATA)
    )
    with pytest.raises(StreamingQueryException, match=r"(?i)more than one event time column|MULTIPLE"):
        counted(twice, tmp_path / "two", "later")
    once = twice.select(TICK, without_event_time("later"))
    assert counted(once, tmp_path / "one", "later") == {1: 1, 2: 1}


def test_r4_equal_ticks_in_batches_of_their_own(spark: Any, tmp_path: Path) -> None:
    """With a delay of 0 a tick would be closed by its first row, and the others would be late."""
    rows = source(spark, tmp_path / "in", [[3], [3], [3], [3], [3], [30]])
    assert counted(with_watermark(rows, 0, "r4"), tmp_path / "delayed") == {3: 5}
    assert counted(rows.withWatermark(TICK, "0 milliseconds"), tmp_path / "hasty")[3] < 5


def test_r5_a_filter_does_not_hold_back_the_watermark(spark: Any, tmp_path: Path) -> None:
    """Of one source no row passes; without the barrier its watermark would stay where it began, and hold the other."""
    plain = source(spark, tmp_path / "plain", [[1], [2], [30]])
    filtered = source(spark, tmp_path / "filtered", [[1], [2], [30]])
    guarded = with_watermark(plain, 0, "r5a").unionByName(with_watermark(filtered, 0, "r5b").where("t < 0"))
    assert counted(guarded, tmp_path / "guarded") == {1: 1, 2: 1}
    marked = [frame.withWatermark(TICK, "1 milliseconds") for frame in (plain, filtered)]
    assert counted(marked[0].unionByName(marked[1].where("t < 0")), tmp_path / "frozen") == {}


def test_r6_an_empty_table_does_not_hold_back_the_watermark(spark: Any, tmp_path: Path) -> None:
    """Spark does not read a stream that meets nothing, at least where it writes no code for the join."""
    session = plain(spark)
    table = session.createDataFrame(pa.table({"k": pa.array([], pa.int64())}), "k long")
    met, other = (
        with_watermark(source(session, tmp_path / name, [[1], [2], [30]]), 0, f"r6{name}") for name in ("met", "other")
    )
    pairs = join_table(met, table, F.col("t") == F.col("k"), "k", "r6").drop("k")
    assert counted(pairs.unionByName(other), tmp_path / "outer") == {1: 1, 2: 1}
    inner = met.join(table, F.col("t") == F.col("k")).drop("k")
    assert counted(inner.unionByName(other), tmp_path / "inner") == {}
