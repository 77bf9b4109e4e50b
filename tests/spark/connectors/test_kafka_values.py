"""Values of messages taken apart on Spark, against the plain reader; tests/servers has them from a real broker."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.connectors.test_csv_lines import BROKEN, LINES
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.catalog.servers import Kafka
from transom.connectors.csv_lines import parse_csv_line
from transom.connectors.kafka.read import KafkaMessage
from transom.connectors.kafka.spark_values import decode_messages
from transom.connectors.payloads import RejectError
from transom.errors import UsageError

pytestmark = pytest.mark.spark

SHAPE = (
    "key binary, value binary, timestamp timestamp, partition int, offset long, "
    "headers array<struct<key: string, value: binary>>"
)


def topic(words: str, folder: Path | None = None) -> tuple[Extent, Kafka]:
    source = f"{{kafka: {{servers: 'a:1', topic: t, {words}}}}}"
    text = f"extents:\n  x:\n    declare: pushed (a:string, b:string, c:string)\n    source: {source}"
    extent = Catalog.read(text, folder=folder).extent("x")
    assert isinstance(extent.source, Kafka)
    return extent, extent.source


def test_lines_of_csv(spark: SparkSession) -> None:
    rng = Random(5)
    lines = [*LINES, *BROKEN, *("".join(rng.choices('ab ,,""\t\n\r', k=rng.randrange(1, 14))) for _ in range(2000))]
    rows = [(None, line.encode(), None, 0, place, None) for place, line in enumerate(lines)]
    extent, source = topic("payload: csv")
    frame = decode_messages(spark.createDataFrame(rows, SHAPE), extent, source).frame
    found = {row["offset"]: row["cells"] for row in frame.select("offset", "cells").collect()}
    for place, line in enumerate(lines):
        try:
            expected = parse_csv_line(line)
        except ValueError:
            expected = None
        cells = found[place]
        assert (None if cells is None else [cell or None for cell in cells]) == expected, repr(line)


ENDS = [
    '{"a":1}',
    '{"a":1},null]',
    '{"a":1},null],{}',
    '{"a":{}},"x"]',
    '{"a":{}}]',
    "{} {}",
    "{},{}",
    '[{"a":1}]',
    "null",
]


def test_what_stands_behind_json(spark: SparkSession) -> None:
    """A message is one value and nothing else, whatever would make a whole of it with what is put around it."""
    rng = Random(7)
    tokens = ["{", "}", "[", "]", ",", '"a":', "1", "null", " ", '{"a":', "{}"]
    texts = [*ENDS, *("{" + "".join(rng.choices(tokens, k=rng.randrange(1, 9))) for _ in range(5000))]
    texts = [text for text in texts if text.count('"a":') < 2]
    rows = [(None, text.encode(), None, 0, place, None) for place, text in enumerate(texts)]
    extent, source = topic("fields: {a: a, b: a, c: a}")
    frame = decode_messages(spark.createDataFrame(rows, SHAPE), extent, source).frame
    found = {row["offset"]: row["why"] for row in frame.select("offset", "why").collect()}
    taken = 0
    for place, text in enumerate(texts):
        try:
            content = json.loads(text)
        except ValueError:
            assert found[place] == "not JSON", text
        else:
            taken += isinstance(content, dict)
            assert (found[place] == "no object") == (not isinstance(content, dict)), text
            assert found[place] != "not JSON", text
    assert taken > 30


def test_what_comes_with_a_value(spark: SparkSession) -> None:
    extent, source = topic("envelope: {a: key, b: header.b.1, c: header.none}")
    given = [
        (b"k", [("b.1", b"1"), ("b.1", b"2"), ("b", b"3")]),
        (None, [("b.1", None)]),
        (b"", []),
        ("ä".encode(), None),
        (b"\xff", [("b.1", b"x")]),
        (b"k", [("b.1", b"x"), ("b.1", b"\xfe")]),
    ]
    rows = [(key, b"{}", None, 0, place, headers) for place, (key, headers) in enumerate(given)]
    apart = decode_messages(spark.createDataFrame(rows, SHAPE), extent, source)
    found = apart.frame.orderBy("offset").select("r0", "r1", "r2", "why").collect()
    for (key, headers), row in zip(given, found, strict=True):
        message = KafkaMessage(0, 0, 0, key, headers or (), b"{}")
        if row["why"] is None:
            assert [row["r0"], row["r1"], row["r2"]] == [message.envelope_value(what) for _, what in source.envelope]
        else:
            with pytest.raises(RejectError, match="decode"):
                [message.envelope_value(what) for _, what in source.envelope]
    assert [row["why"] for row in found] == [None] * 4 + ["not UTF-8"] * 2


def test_without_the_jar_for_avro(spark: SparkSession, tmp_path: Path) -> None:
    fields = [{"name": name, "type": "string"} for name in "abc"]
    (tmp_path / "x.avsc").write_text(json.dumps({"type": "record", "name": "X", "fields": fields}))
    extent, source = topic("payload: avro, schema: x.avsc", tmp_path)
    with pytest.raises(UsageError, match="no reader for Avro") as caught:
        decode_messages(spark.createDataFrame([], SHAPE), extent, source)
    assert "--packages org.apache.spark:spark-avro_2.13:" in str(caught.value.hint)
