"""A stream of RDF that may fall silent does not hold the others up."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

import transom
from tests.spark.running.test_running import until_true
from transom.model.rdf.formats import rows
from transom.runtime.results.rdf import rdf_answer_from_rows

JOINED = """
PREFIX : <http://ex/>
SELECT ?a ?c FROM STREAM :s WINDOW RANGE 5 S SLIDE 1 S FROM STREAM :u WINDOW RANGE 5 S SLIDE 1 S
WHERE { ?a :p ?b . ?b :q ?c }
"""


def test_silent_stream_holds_nobody_up(spark: SparkSession, tmp_path: Path) -> None:
    """`u` says nothing after tick 4, long ago; answers come up to the last statement of `s`."""
    epoch = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=60)
    entries = {"s": {"stream": "http://ex/s"}, "u": {"stream": "http://ex/u", "idle_after": "10 s"}}
    catalog = transom.Catalog.from_dict({"tick": "1 s", "epoch": epoch.isoformat(), "rdf": entries})
    query = transom.compile(JOINED, catalog, language="sparql")
    given = {
        "s": [(tick, "<http://ex/a>", "<http://ex/p>", "<http://ex/b>") for tick in range(0, 24, 3)],
        "u": [(tick, "<http://ex/b>", "<http://ex/q>", f'"{tick}"') for tick in range(5)],
    }
    frames = {}
    for name, held in given.items():
        folder = str(tmp_path / name)
        spark.createDataFrame(held, "tick long, s string, p string, o string").write.parquet(folder)
        frames[name] = spark.readStream.schema("tick long, s string, p string, o string").parquet(folder)
    running = query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "kept", sources=frames, until=20)
    try:
        assert until_true(lambda: (running.closed_tick() or 0) >= 20, 90)
        running.stream.processAllAvailable()
    finally:
        running.stop()
    balances = running.progress().sources
    assert {name: (one.read, one.used, one.outside) for name, one in balances.items()} == {
        "s": (8, 7, 1),
        "u": (5, 5, 0),
    }
    told = spark.read.parquet(str(tmp_path / "out")).selectExpr(
        f"unix_seconds(tick) - {int(epoch.timestamp()) + 1} AS tick_number", "change", "a AS c0", "c AS c1"
    )
    found = rdf_answer_from_rows(told.collect(), query.physical(), query.result_kind, query.columns)
    wanted = Counter(rows(query.simulate(given).up_to(20)))
    assert len(wanted) > 3
    assert Counter(rows(found)) == wanted
