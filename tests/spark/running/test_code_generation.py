"""A run starts without generated code if its sources hold little, and turns code generation on for many rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import transom
from tests.spark.running.test_running import GROUPS, ROWS, Rows, catalog, cut, expected, finished, read, source, write
from transom.runtime import code_generation
from transom.runtime.code_generation import WITHOUT_GENERATED_CODE, local_bytes, reads_few_bytes
from transom.runtime.start import Running

WHOLE_STAGE = "spark.sql.codegen.wholeStage"
CROWD: Rows = [(20, site % 5, site) for site in range(code_generation.MAX_ROWS + 1)]


def begun(spark: SparkSession, folder: Path, text: str = GROUPS) -> Running:
    """A run over the files of a folder, one per micro-batch, that has read them all."""
    frames = {"traffic": source(spark, folder / "in")}
    query = transom.compile(text, catalog(rate="20000 per s"))
    running = query.start(spark, f"parquet:{folder / 'out'}", folder / "checkpoint", sources=frames)
    running.stream.processAllAvailable()
    return running


def settings_of(running: Running) -> dict[str, str]:
    """The settings with which the newest micro-batch of a run was planned and the next one will be."""
    conf = running.stream._jsq.streamingQuery().lastExecution().sparkSession().conf()
    return {name: conf.get(name) for name in WITHOUT_GENERATED_CODE}


def is_compiled(running: Running) -> bool:
    """Whether Spark has generated code for the stages of the newest micro-batch."""
    return "*(1)" in running.stream._jsq.streamingQuery().lastExecution().executedPlan().toString()


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """A session in which nobody has set anything about generated code."""
    new = spark.newSession()
    assert not any(new._jsparkSession.sessionState().conf().contains(name) for name in WITHOUT_GENERATED_CODE)
    return new


def test_many_rows_turn_code_generation_on(session: SparkSession, tmp_path: Path) -> None:
    rows = [*ROWS, *CROWD, (22, 0, 0), (23, 0, 0)]
    write(tmp_path / "in", cut(ROWS, 9))
    running = begun(session, tmp_path)
    assert settings_of(running) == WITHOUT_GENERATED_CODE
    assert not is_compiled(running)
    for first, batch in ((10, CROWD), (11, [(22, 0, 0)]), (12, [(23, 0, 0)])):
        write(tmp_path / "in", [batch], first=first)
        running.stream.processAllAvailable()
        running.progress()
    assert settings_of(running) == {WHOLE_STAGE: "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
    assert is_compiled(running)
    assert session.conf.get(WHOLE_STAGE) == "true"
    finished(running)
    query = transom.compile(GROUPS, catalog())
    assert read(session, query, tmp_path / "out") == expected(query, rows, 22)


def test_session_with_a_setting_keeps_it(session: SparkSession, tmp_path: Path) -> None:
    session.conf.set(WHOLE_STAGE, "true")
    write(tmp_path / "in", cut(ROWS, 9, end=20))
    running = begun(session, tmp_path)
    assert is_compiled(running)
    finished(running)


def test_sources_of_unknown_or_large_size_start_with_generated_code(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "in", cut(ROWS, 9))
    files: Any = source(session, tmp_path / "in")
    table = session.sql("SELECT * FROM VALUES (1, 'a') AS names (site, name)")
    computed = session.createDataFrame([(1, "a")], "site long, name string")
    rates = session.readStream.format("rate").load().selectExpr("value AS site")
    assert reads_few_bytes(files)
    assert reads_few_bytes(files.join(table, "site"))
    assert not reads_few_bytes(files.join(computed, "site"))
    assert not reads_few_bytes(rates)
    assert not reads_few_bytes(files.select("site").unionAll(rates))
    held = local_bytes(str(tmp_path / "in"))
    assert held is not None
    monkeypatch.setattr(code_generation, "MAX_BYTES_AT_START", held - 1)
    assert not reads_few_bytes(files)


def test_bytes_of_local_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.csv").write_text("12345")
    (tmp_path / "a" / "two.csv").write_text("123")
    (tmp_path / "a" / "_hidden").write_text("1234567")
    assert local_bytes(str(tmp_path / "a")) == 8
    assert local_bytes(f"file://{tmp_path}/a/o*.csv") == 5
    assert local_bytes(str(tmp_path / "missing")) == 0
    assert local_bytes("s3a://bucket/rows") is None
    assert local_bytes("") is None
