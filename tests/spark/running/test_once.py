"""One run over what is there (`--once`, Trigger.AvailableNow): the answers of all closed ticks, in the first run.

Each golden case runs once, in one of many ways: with the kernel and without, by `start(once=True)` into files and by
`to_df` into a memory sink, with and without `until`, all files in one micro-batch and one file in each, with rows up to
the last tick and with a row beyond it. The expected answer is that of the reference up to the last closed tick. Without
`until` the clock follows the wall clock, which is far ahead of all rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from tests.gate.thin import thinned
from tests.rdf.build import rows as rdf_rows
from tests.spark.golden import test_golden_rdf as rdf
from tests.spark.trying import AT_ONCE, UNEVEN, patiently, side_by_side
from tests.spark.trying import plain as without_codegen
from transom.algebra.state.formula import ZERO
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.model.answer import Answer
from transom.model.time import Calendar
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results import rdf as rdf_answers
from transom.runtime.results import results
from transom.runtime.results import rows as answers
from transom.runtime.start import Running
from transom.runtime.verify import micro_batches

SNEEQL = "s01 s02 s03 s04 s05 s06 s07 s09 s11 s13 s14 s17 s19 s21 s26 s28 s34 s16"
CQL = "c01 c02 c05 c06 c07 c09 c11 c13 c15 c17 c18 c20 c22 c24 c25"
SPARQL = "r02 r05 r08 r13 r16 r19 r22 r24 r26 r27 r28 r30 r34 r38"
TOGETHER = 8
"""Cases in one test."""


@dataclass(frozen=True)
class Way:
    """How a case is run."""

    kernel: KernelMode
    by_start: bool
    until: bool
    beyond: bool
    one_file: bool

    def __str__(self) -> str:
        words = ["kernel" if self.kernel == "on" else "Python", "start" if self.by_start else "to_df"]
        words += ["until"] * self.until + ["open"] * (not self.beyond) + ["a file each"] * self.one_file
        return ", ".join(words)


@dataclass(frozen=True)
class Outcome:
    """What one run gave: the first difference from the reference, and how many rows or changes were compared."""

    difference: str | None
    compared: int


def way(number: int) -> Way:
    """The way of a case by its number: neighbours differ, and every setting meets every other."""
    kernel: KernelMode = "on" if number % 2 else "off"
    by_start, open_end = number // 2 % 2 == 0, number // 4 % 2 == 1
    return Way(kernel, by_start, until=number % 3 == 1, beyond=not open_end, one_file=number % 5 == 0)


def chosen(cases: list[Case], names: str) -> list[tuple[Case, Way]]:
    found = [case for name in names.split() for case in cases if case.name.startswith(f"{name}-")]
    assert len(found) == len(names.split())
    return [(case, way(number)) for number, case in enumerate(found)]


TUPLES = chosen(golden_cases("sneeql"), SNEEQL) + chosen(golden_cases("cql"), CQL)
STATEMENTS = chosen(rdf.ANSWERS, SPARQL)


def compiled(case: Case) -> transom.Query:
    """The query on a calendar whose wall clock is an hour ahead of the rows."""
    catalog = replace(catalog_of(case.schema), calendar=Calendar(epoch=datetime.now(UTC) - timedelta(hours=1)))
    return transom.compile(case.text, catalog, language=case.language)


def waits(plan: PhysicalNode) -> bool:
    """Whether answers wait for the watermark; those of a plan without state come with their rows."""
    return any(node.decision.state != ZERO for node in walk(plan))


def last_run(
    spark: Any, folder: Path, query: transom.Query, way: Way, frames: dict[str, Any], until: int | None
) -> tuple[Any, int | None]:
    """The answer of one run as a DataFrame, None if there are no files, and which tick it says is the last closed."""
    if way.by_start:
        more: dict[str, Any] = {"until": until, "once": True, "kernel": way.kernel, "allow_unbounded": True}
        running = query.start(spark, f"parquet:{folder / 'out'}", folder / "checkpoint", sources=frames, **more)
        assert running.wait(180)
        files = any((folder / "out").glob("*.parquet"))
        return (spark.read.parquet(str(folder / "out")) if files else None), running.closed_tick()
    more = {} if until is None else {"until": until}
    frame = query.to_df(spark, frames, kernel=way.kernel, **more)
    name = f"once_{uuid4().hex}"
    writer = frame.writeStream.format("memory").queryName(name).option("checkpointLocation", str(folder / "checkpoint"))
    assert writer.trigger(availableNow=True).start().awaitTermination(180)
    return spark.table(name), None


def without_the_end(folder: Path) -> None:
    """Remove the file beyond the last tick, which every source has."""
    for source in folder.iterdir():
        sorted(source.iterdir())[-1].unlink()


def streams(spark: Any, extents: Sequence[Extent], paths: Mapping[str, Path], *, one_file: bool) -> dict[str, Any]:
    """The files as streams: one in each micro-batch, or all at once."""
    frames = micro_batches.read_streams(spark, extents, paths, live=True)
    if one_file:
        return frames
    for extent in extents:
        if extent.name in paths:
            raw = spark.readStream.schema(micro_batches.source_schema(extent)).parquet(str(paths[extent.name]))
            cells = [raw[f"c{place}"].alias(name) for place, name in enumerate(extent.names)]
            frames[extent.name] = raw.select("tick", "position", *cells)
    return frames


def cut(answer: Answer, last: int) -> Answer:
    windows = tuple(window for window in answer.windows if window.tick <= last)
    return replace(answer, windows=windows, elements=tuple(e for e in answer.elements if e.tick <= last))


def try_tuples(spark: Any, folder: Path, case: Case, way: Way) -> Outcome:
    query = compiled(case)
    inputs = query.inputs(given := inputs_of(case.schema, case.inputs), until=case.until)
    split = UNEVEN if way.one_file else AT_ONCE
    paths = micro_batches.write_streams(folder / "in", query.sources, inputs, split)
    closed = case.until
    if not way.beyond:
        without_the_end(folder / "in")
        closed = min(max((e.tick for e in inputs.streams[name]), default=0) for name in paths) - 1
    frames = streams(spark, query.sources, paths, one_file=way.one_file)
    frames |= micro_batches.table_frames(spark, query.sources, inputs)
    frame, said = last_run(spark, folder, query, way, frames, case.until if way.until else None)
    schema = query.optimized.schema
    rows = [] if frame is None else results.plain_frame(frame, schema, query.catalog.calendar).collect()
    found = answers.answer_from_rows(rows, schema, query.columns, query.result_kind)
    expected = cut(query.simulate(given, until=case.until), closed)
    count = len(expected.windows) + len(expected.elements)
    if waits(query.physical(kernel=way.kernel == "on")):
        if said not in (None, closed):
            return Outcome(f"the last closed tick is {closed}, and the run says {said}", count)
        if cut(found, closed) != found:
            return Outcome(f"rows beyond tick {closed}: {found}", count)
    return Outcome(answers.row_difference(expected, cut(found, closed), index=False), count)


def try_statements(spark: Any, folder: Path, case: Case, way: Way) -> Outcome:
    asked = rdf.asked(case.name)
    query, inputs = asked.query, asked.inputs
    last = rdf.last_change(case, inputs)
    split = UNEVEN if way.one_file else AT_ONCE
    micro_batches.write_streams(folder / "in", query.sources, inputs, split, last)
    closed = last
    if not way.beyond:
        without_the_end(folder / "in")
        closed = min(max((one.tick for one in given), default=0) for given in inputs.streams.values()) - 1
    frames: dict[str, Any] = micro_batches.table_frames(spark, query.sources, inputs)
    for name in inputs.streams:
        reader = spark.readStream.schema("tick bigint, position bigint, s string, p string, o string")
        reader = reader.option("maxFilesPerTrigger", 1) if way.one_file else reader
        frames[name] = reader.parquet(str(folder / "in" / name))
    frame, _ = last_run(spark, folder, query, way, frames, last if way.until and way.by_start else None)
    plan = query.physical(kernel=way.kernel == "on")
    rows = (
        []
        if frame is None
        else results.plain_frame(
            frame, plan.schema, query.catalog.calendar, rdf_answers.RdfResults.meta_columns
        ).collect()
    )
    rows = [row for row in rows if row["tick_number"] <= closed]
    answer = rdf_answers.rdf_answer_from_rows(rows, plan, query.result_kind, query.columns)
    expected = [_until(row, closed) for row in rdf.expected(case) if row[0] <= closed]
    found = sorted(rdf_rows(answer), key=str)
    same = found == sorted(expected, key=str)
    return Outcome(None if same else f"expected {expected}, found {found}", len(expected))


def _until(row: list[Any], last: int) -> list[Any]:
    """An interval as it is known at a tick: what ends later has no end yet."""
    return [row[0], row[1] if row[1] != "inf" and row[1] <= last else "inf", *row[2:]]


def groups(pairs: Sequence[tuple[Case, Way]]) -> list[Sequence[tuple[Case, Way]]]:
    return [pairs[at : at + TOGETHER] for at in range(0, len(pairs), TOGETHER)]


def name_of(group: object) -> str:
    return f"{group[0][0].name[:3]}-{group[-1][0].name[:3]}"  # type: ignore[index]


def outcomes(spark: Any, folder: Path, one: Any, group: Sequence[tuple[Case, Way]]) -> dict[str, Outcome]:
    """Each case in its own folder, several side by side; again in a new one if Python was slow to start."""
    session = without_codegen(spark)

    def run(case: Case, way: Way) -> Outcome:
        return patiently(lambda: one(session, folder / f"{case.name[:3]}-{uuid4().hex[:6]}", case, way))

    found = side_by_side([partial(run, case, way) for case, way in group])
    return {f"{case.name} ({way})": outcome for (case, way), outcome in zip(group, found, strict=True)}


def test_all_kinds_of_plans_run() -> None:
    """The chosen cases have every kind of node that any golden case over a stream has, with the kernel and without."""

    def nodes(query: transom.Query) -> set[str]:
        plans = [query.physical(kernel=fast) for fast in (True, False)]
        return {type(node).__name__ for plan in plans for node in walk(plan)}

    everything: set[str] = set()
    for case in (*golden_cases("sneeql"), *golden_cases("cql")):
        if case.expected["kind"] != "error":
            everything |= nodes(compiled(case))
    for case in rdf.ANSWERS:
        asked = rdf.asked(case.name)
        everything |= nodes(asked.query) if asked.inputs.streams else set()
    found = set().union(*(nodes(compiled(case)) for case, _ in TUPLES))
    found |= set().union(*(nodes(rdf.asked(case.name).query) for case, _ in STATEMENTS))
    assert everything - found == set()
    assert len(TUPLES) + len(STATEMENTS) >= 40


@pytest.mark.parametrize("group", thinned(groups(TUPLES), 3), ids=name_of)
def test_tuples(spark: Any, tmp_path: Path, group: Sequence[tuple[Case, Way]]) -> None:
    found = outcomes(spark, tmp_path, try_tuples, group)
    assert {name: one.difference for name, one in found.items()} == dict.fromkeys(found)
    assert sum(one.compared > 0 for one in found.values()) >= len(found) * 3 // 4


@pytest.mark.parametrize("group", thinned(groups(STATEMENTS), 2), ids=name_of)
def test_statements(spark: Any, tmp_path: Path, group: Sequence[tuple[Case, Way]]) -> None:
    found = outcomes(spark, tmp_path, try_statements, group)
    assert {name: one.difference for name, one in found.items()} == dict.fromkeys(found)
    assert sum(one.compared > 0 for one in found.values()) >= len(found) * 3 // 4


SLIDING = "SELECT a FROM s [FROM NOW-5 TO NOW SLIDE 3 SEC]"


def sliding(epoch: datetime) -> transom.Query:
    extent = {"kind": "pushed", "rate": "9 per s", "attributes": ["a:integer"]}
    catalog = Catalog.from_dict({"tick": "1 s", "epoch": epoch.isoformat(), "extents": {"s": extent}})
    return transom.compile(SLIDING, catalog)


def write(folder: Path, files: Sequence[Sequence[int]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for ticks in files:
        column = pa.array(ticks, pa.int64())
        file = folder / f"{ticks[0]:04}.parquet"
        pq.write_table(pa.table({"tick": column, "a": column}), file)
        os.utime(file, (1_000_000_000 + ticks[0],) * 2)  # Spark takes files of one instant in any order
    return folder


def windows(spark: Any, query: transom.Query, folder: Path) -> Counter[tuple[Any, ...]]:
    frame = results.plain_frame(spark.read.parquet(str(folder)), query.optimized.schema, query.catalog.calendar)
    return Counter((row["tick_number"], row["empty"], row["c0"]) for row in frame.collect())


def expected(query: transom.Query, ticks: Sequence[int], until: int) -> Counter[tuple[Any, ...]]:
    found = query.simulate({"s": [(tick, tick) for tick in ticks]}, until=until).windows
    return Counter((window.tick, not window.rows, *row) for window in found for row in (window.rows or [(None,)]))


@pytest.mark.covers("run:once")
@pytest.mark.parametrize("kernel", ["on", "off"])
def test_first_run_answers_all_closed_ticks(spark: Any, tmp_path: Path, kernel: KernelMode) -> None:
    """Files with a clock and no `until`: the first run answers all closed ticks, the second run adds nothing.

    A later file then closes later ticks, and only their answers come.
    """
    query = sliding(datetime.now(UTC) - timedelta(hours=1))
    folder = write(tmp_path / "in", [(0, 2, 4), (5, 7, 9), (500,), (900,)])

    def run() -> Running:
        frames = {"s": spark.readStream.schema("tick long, a long").parquet(str(folder))}
        running = query.start(
            spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", sources=frames, once=True, kernel=kernel
        )
        assert running.wait(180)
        return running

    first = run()
    ticks = [0, 2, 4, 5, 7, 9, 500, 900]
    assert first.closed_tick() == 899
    assert windows(spark, query, tmp_path / "out") == expected(query, ticks, 899)
    assert first.progress().rows_out == sum(expected(query, ticks, 899).values()) > 300
    again = run()
    assert (again.resumed, again.progress().rows_out, again.progress().rows_in) == (True, 0, 0)
    write(folder, [(1000,)])
    assert run().closed_tick() == 999
    assert windows(spark, query, tmp_path / "out") == expected(query, [*ticks, 1000], 999)


@pytest.mark.parametrize("kernel", ["on", "off"])
def test_available_now_answers_all_closed_ticks(spark: Any, tmp_path: Path, kernel: KernelMode) -> None:
    """The same files with `until`, as a DataFrame that a user writes with Trigger.AvailableNow."""
    query = sliding(datetime(2026, 1, 1, tzinfo=UTC))
    folder = write(tmp_path / "in", [(0, 2, 4), (5, 7, 9), (500,), (900,)])
    frames = {"s": spark.readStream.schema("tick long, a long").parquet(str(folder))}
    writer = query.to_df(spark, frames, until=11, kernel=kernel).writeStream.format("parquet")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    assert writer.start(str(tmp_path / "out")).awaitTermination(180)
    found = windows(spark, query, tmp_path / "out")
    assert found == expected(query, [0, 2, 4, 5, 7, 9], 11)
    assert sum(not empty for _, empty, _ in found.elements()) == 10


@pytest.mark.parametrize("name", ["s23", "s24"])
def test_tables_alone(spark: Any, tmp_path: Path, name: str) -> None:
    """Without a stream the wall clock alone closes ticks."""
    case = next(case for case in golden_cases("sneeql") if case.name.startswith(name))
    query = compiled(case)
    given = inputs_of(case.schema, case.inputs)
    frames = micro_batches.table_frames(spark, query.sources, query.inputs(given, until=case.until))
    frame, closed = last_run(spark, tmp_path, query, Way("off", True, False, True, False), frames, None)
    assert frame is not None
    assert closed is None or closed >= 3600 - 60
    rows = results.plain_frame(frame, query.optimized.schema, query.catalog.calendar).collect()
    found = answers.answer_from_rows(rows, query.optimized.schema, query.columns, query.result_kind)
    assert answers.row_difference(query.simulate(given, until=case.until), cut(found, case.until), index=False) is None
