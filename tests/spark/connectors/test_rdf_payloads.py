"""Messages of RDF in a column: Spark reads what the plain reader reads, sets aside what it does, and counts it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

import transom
from tests.fuzz.rdf_payloads import input_of
from transom.connectors.payloads import RejectError
from transom.connectors.rdf.payloads import RdfReader, statement_text
from transom.connectors.rdf.spark import only_statements, parse_payloads, rejected_messages
from transom.errors import UsageError
from transom.model.rdf.read import FORMATS
from transom.model.reject_reason import RejectReason


def test_spark_reads_what_the_plain_reader_reads(spark: SparkSession) -> None:
    inputs = [input_of(3, number) for number in range(400)]
    for format in FORMATS:
        reader = RdfReader(format)
        raw = [payload for own, payload, _ in inputs if own.format == format]
        payloads = [one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in raw]
        frame = spark.createDataFrame(list(enumerate(payloads)), "t long, payload binary")
        parsed = parse_payloads(frame, reader).cache()
        wanted, dead = set(), []
        for tick, payload in enumerate(payloads):
            try:
                found = reader.statements(payload, tick)
                wanted |= {(one.tick, place, *statement_text(one)) for place, one in enumerate(found)}
            except RejectError as one:
                dead.append(one.reason.value)
        rows = only_statements(parsed).collect()
        assert {tuple(row) for row in rows} == wanted
        assert len(rows) == len(wanted) > 0
        assert sorted(row.reject_reason for row in rejected_messages(parsed).collect()) == sorted(dead)
        assert dead
        parsed.unpersist()


def test_times_of_every_kind(spark: SparkSession) -> None:
    text = "<http://ex/a> <http://ex/p> <http://ex/b> ."
    moment = datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    for value, kind in ((5, "long"), (moment, "timestamp"), ("1970-01-01T00:00:05Z", "string"), ("5", "string")):
        frame = spark.createDataFrame([(value, text)], f"moment {kind}, body string")
        [row] = parse_payloads(frame, RdfReader("nt"), payload_column="body", time_column="moment").collect()
        assert row.tick == 5
    stated = spark.createDataFrame([("<http://ex/a> <http://ex/at> 7 .",)], "payload string")
    [row] = parse_payloads(stated, RdfReader("ttl", time="http://ex/at"), time_column=None).collect()
    assert row.tick == 7
    with pytest.raises(UsageError, match="no time"):
        parse_payloads(stated, RdfReader("ttl"), time_column=None)
    with pytest.raises(UsageError, match="no column body"):
        parse_payloads(stated, RdfReader("ttl"), payload_column="body")


def test_a_query_over_messages_that_stream(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "one.json").write_text(
        '{"t": 1, "payload": "<http://ex/a> <http://ex/p> 1 ."}\n{"t": 2, "payload": "oops"}\n'
    )
    catalog = transom.Catalog.read('tick: 1 s\nrdf: {s: {stream: "http://ex/s"}}')
    asked = "SELECT ?x FROM STREAM <http://ex/s> WINDOW RANGE 5 S SLIDE WHERE { ?x <http://ex/p> 1 }"
    query = transom.compile(asked, catalog, language="sparql")
    messages = spark.readStream.schema("t long, payload string").json(str(folder))
    source = only_statements(parse_payloads(messages, RdfReader("ttl")), "set_aside")
    answer = query.to_df(spark, {"s": source}, kernel="off")
    running = (
        answer.writeStream.format("memory").queryName("messages").option("checkpointLocation", str(tmp_path / "c"))
    )
    started = running.outputMode("append").trigger(availableNow=True).start()
    started.awaitTermination(120)
    rows = spark.table("messages").select("change", "x").collect()
    assert ("<http://ex/a>", 1) in [(row.x, row.change) for row in rows]
    counted = [p["observedMetrics"]["set_aside"].asDict() for p in started.recentProgress if p["numInputRows"]]
    assert sum(one[RejectReason.RDF.name.lower()] for one in counted) == 1
