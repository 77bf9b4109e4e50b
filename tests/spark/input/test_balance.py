"""The balance of a source closes, and a row that is lost on its way into the plan stops the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from transom.connectors.files import spark as files
from transom.errors import CheckpointError, LostRows
from transom.model.balance import Balance
from transom.runtime import dataframe
from transom.runtime.sinks.folder import FolderWriter
from transom.spark.input import statements

CATALOG = """
extents:
  road: {declare: 'pushed (site:integer, temp:integer)', source: {files: 'road-*.csv'}}
"""
ROWS = [(tick, tick % 3, 10 * tick) for tick in range(20)]
QUERY = "RSTREAM(SELECT site, MAX(temp) AS top FROM road [FROM NOW-2 TO NOW SLIDE 1 SEC] GROUP BY site)"
BY_ROW = "RSTREAM(SELECT temp FROM road [FROM NOW-1 TO NOW SLIDE 1 ROWS])"
GRAPH = """
tick: 1 ms
rdf:
  s: {stream: "urn:x:s", subjects: local}
"""


def written(folder: Path) -> transom.Catalog:
    """Two files of rows with their catalog."""
    for number, part in enumerate((ROWS[:10], ROWS[10:])):
        lines = ["tick,site,temp", *(",".join(map(str, row)) for row in part), ""]
        (folder / f"road-{number}.csv").write_text("\n".join(lines))
    return transom.Catalog.read(CATALOG, folder=folder)


def dropping(step: Callable[..., DataFrame], column: str, value: object) -> Callable[..., DataFrame]:
    """A step of reading that loses the row with a value."""

    def lossy(*given: Any, **more: Any) -> DataFrame:
        return step(*given, **more).where(~F.col(column).eqNullSafe(F.lit(value)))

    return lossy


def doubling(step: Callable[..., DataFrame], column: str, value: object) -> Callable[..., DataFrame]:
    """A step of reading that returns the row with a value twice."""

    def twofold(*given: Any, **more: Any) -> DataFrame:
        times = F.when(F.col(column).eqNullSafe(F.lit(value)), 2).otherwise(1)
        return step(*given, **more).withColumn("_time", F.explode(F.sequence(F.lit(1), times))).drop("_time")

    return twofold


FAULTS: dict[str, tuple[str, Any, str, str, object]] = {
    "reader": (QUERY, files, "_lines", "line", "7,1,70"),
    "reader of whole files": (BY_ROW, files, "_lines", "line", "7,1,70"),
    "decoder": (QUERY, files, "_frame", "c1", 70),
    "ordering": (BY_ROW, dataframe, "with_order", "c1", 70),
}


def test_row_that_is_lost_stops_the_run(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = written(tmp_path)
    for text in (QUERY, BY_ROW):
        running = transom.compile(text, catalog).start(spark, "console", tmp_path / f"right-{text[:24]}", once=True)
        assert running.wait()
        assert running.progress().sources == {"road": Balance(read=20, used=20)}
    for number, (name, (text, owner, step, column, value)) in enumerate(FAULTS.items()):
        query = transom.compile(text, catalog)
        with monkeypatch.context() as patched:
            patched.setattr(owner, step, dropping(getattr(owner, step), column, value))
            running = query.start(spark, "console", tmp_path / str(number), once=True)
            with pytest.raises(LostRows, match="the rows of road in micro-batch 0 do not add up: 20 read = 19") as lost:
                running.wait()
        assert lost.value.detail == "rows missing: 1", name
        assert not running.is_active
        with pytest.raises(CheckpointError, match="lost rows"):
            query.start(spark, "console", tmp_path / str(number), once=True)


@pytest.mark.parametrize(("fault", "used"), [(dropping, 19), (doubling, 21)], ids=["dropped", "doubled"])
def test_rows_that_do_not_add_up_never_reach_a_folder(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Any, used: int
) -> None:
    """The counts are compared before the files of the micro-batch are shown."""
    query = transom.compile(QUERY, written(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(files, "_frame", fault(files._frame, "c1", 70))
        running = query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "k", once=True)
        with pytest.raises(LostRows, match=f"rows of road in micro-batch 0 do not add up: 20 read = {used} used"):
            running.wait()
    assert not list((tmp_path / "out").glob("part-*"))
    with pytest.raises(CheckpointError, match="lost rows"):
        query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "k", once=True)


class Killed(Exception):
    """What happens to a run in these tests."""


def test_balance_over_restarts(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run dies in each of its deliveries, before or after the counts are written: every row still counts once."""
    query, out = transom.compile(QUERY, written(tmp_path)), f"parquet:{tmp_path / 'out'}"
    real = FolderWriter._publish
    for number in range(2, 5):
        for dies_late in (False, True):

            def dying(self: FolderWriter, staged: Any, batch: int, late: bool = dies_late) -> None:
                if late:
                    real(self, staged, batch)
                raise Killed

            with monkeypatch.context() as patched:
                patched.setattr(FolderWriter, "_publish", dying)
                with pytest.raises(Exception, match="Killed"):
                    query.start(spark, out, tmp_path / "k", once=True).wait()
        running = query.start(spark, out, tmp_path / "k", once=True)
        assert running.wait()
        progress = running.progress()
        assert progress.totals == {"road": Balance(read=10 * number, used=10 * number)}
        assert progress.uncounted == 0
        lines = ["tick,site,temp", *(f"{tick},0,1" for tick in range(10 * number, 10 * number + 10)), ""]
        (tmp_path / f"road-{number}.csv").write_text("\n".join(lines))
    assert progress.earlier.sources["road"].read + progress.sources["road"].read == 40
    answer = spark.read.parquet(str(tmp_path / "out")).groupBy("tick", "site").count()
    assert answer.where("count > 1").count() == 0


def test_statement_that_is_lost_stops_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages are taken apart into statements: one of them is lost there."""
    catalog = transom.Catalog.read(GRAPH, folder=tmp_path)
    text = "PREFIX : <urn:x:> SELECT ?a ?b FROM STREAM :s WINDOW RANGE 5 MS SLIDE WHERE { ?a :p ?b . ?b :q ?c }"
    query = transom.compile(text, catalog, language="sparql")
    statement = "struct<s: string, p: string, o: string>"
    folder = tmp_path / "in"
    spark.sql(
        f"SELECT id AS tick, cast(array(named_struct('s', '<urn:x:a>', 'p', '<urn:x:p>', 'o', '<urn:x:b>'), "
        f"named_struct('s', '<urn:x:b>', 'p', '<urn:x:q>', 'o', '<urn:x:c>')) AS array<{statement}>) AS statements "
        f"FROM range(10) UNION ALL SELECT 10, cast(NULL AS array<{statement}>)"
    ).write.parquet(str(folder))
    for lossy in (False, True):
        given = {"s": spark.readStream.schema(spark.read.parquet(str(folder)).schema).parquet(str(folder))}
        with monkeypatch.context() as patched:
            if lossy:
                patched.setattr(
                    statements, "_explode_messages", dropping(statements._explode_messages, "c0", "<urn:x:b>")
                )
            running = query.start(spark, "console", tmp_path / f"kept-{lossy}", sources=given, once=True)
            if not lossy:
                assert running.wait()
                assert running.progress().sources == {"s": Balance(read=20, used=20)}
                continue
            with pytest.raises(LostRows, match="20 read = 10 used"):
                running.wait()
