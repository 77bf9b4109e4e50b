"""Spark rejects the same rows of CSV files as the reference engine, in replays and in live runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.connectors.files import test_zone
from tests.connectors.files.test_invalid_rows import BROKEN, CATALOG, COUNTS, FIRST, QUERY, written
from transom.model.balance import Balance
from transom.model.reject_reason import rejected_line
from transom.runtime.verify.verify import verify
from transom.spark.input.rejected import RejectedRows

MARKS = CATALOG.replace("invalid_rows", "delimiter: '|', invalid_rows")


def test_spark_reads_the_same_local_times(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    query = transom.compile(test_zone.QUERY, test_zone.written(tmp_path))
    rejected = RejectedRows()
    with pytest.warns(transom.RejectedWarning) as caught:
        query.simulate()
    assert [result.difference for result in verify(query, spark, splits=["all"], rejected=rejected)] == [None] * 3
    messages = rejected.messages()["door"]
    assert (messages.counts, next(iter(messages.first.values()))) == (test_zone.COUNTS, test_zone.FIRST)
    said = str(caught[0].message).replace(f"{tmp_path}/", "")
    assert said.startswith(rejected_line("door", messages.counts, messages.first, messages.unit))

    strict = test_zone.CATALOG.replace(", invalid_rows: reject", "")
    query = transom.compile(test_zone.QUERY, test_zone.written(tmp_path, strict))
    running = query.start(spark, f"jsonl:{tmp_path}/out", tmp_path / "state", once=True)
    with pytest.raises(transom.DataError, match=r"occurs twice in|is skipped in|is outside of the years"):
        running.wait()


@pytest.mark.parametrize(("catalog", "content"), [(CATALOG, BROKEN), (MARKS, BROKEN.replace(",", "|"))])
def test_spark_rejects_the_same_rows(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalog: str, content: str
) -> None:
    monkeypatch.chdir(tmp_path)
    query = transom.compile(QUERY, written(tmp_path, catalog, content))
    rejected = RejectedRows()
    with pytest.warns(transom.RejectedWarning):
        expected = query.simulate()
    assert [result.difference for result in verify(query, spark, splits=["all"], rejected=rejected)] == [None] * 3
    messages = rejected.messages()["logger"]
    assert (messages.counts, next(iter(messages.first.values())), messages.unit) == (COUNTS, FIRST, "rows")
    assert messages.first.keys() == COUNTS.keys()

    running = query.start(spark, f"jsonl:{tmp_path}/out", tmp_path / "state", once=True)
    running.wait()
    read = sum(COUNTS.values()) + len(expected)
    assert running.progress().totals["logger"] == Balance(read=read, used=len(expected), rejected=COUNTS)


def test_the_error_shows_the_line_of_the_catalog(spark: Any, tmp_path: Path) -> None:
    strict = CATALOG.replace(", invalid_rows: reject", "")
    query = transom.compile(QUERY, written(tmp_path, strict, "at,temp,device\n1,n/a,2\n"))
    running = query.start(spark, f"jsonl:{tmp_path}/out", tmp_path / "state", once=True)
    with pytest.raises(transom.DataError, match="is not of type float") as caught:
        running.wait()
    assert str(caught.value.hint).startswith("write invalid_rows: reject under files")
