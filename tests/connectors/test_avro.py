"""Records of Avro in plain Python; tests/servers has the same from Spark."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from transom.catalog import Catalog
from transom.catalog.servers import Kafka
from transom.connectors.kafka.avro import AvroReader
from transom.connectors.payloads import MAX_MESSAGE_BYTES, DecodedRow, RejectError

NOW = datetime(2024, 6, 1, tzinfo=UTC)
FIELDS: dict[str, Any] = {
    "at": ["null", {"type": "long", "logicalType": "timestamp-millis"}],
    "line": ["null", "string"],
    "costs": {"type": "array", "items": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
    "day": {"type": "int", "logicalType": "date"},
    "n": "int",
    "x": "double",
    "inner": ["null", {"type": "record", "name": "I", "fields": [{"name": "on", "type": "boolean"}]}],
    "more": {"type": "map", "values": "long"},
}
SCHEMA = {"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()]}
PLAIN = fastavro.parse_schema(SCHEMA)
DECLARED = "pushed (line:string, cost:decimal, day:timestamp, n:integer, x:float, on:boolean, more:integer)"
RECORD = {
    "at": datetime(1970, 1, 1, 0, 0, 7, 250_000, tzinfo=UTC),
    "line": "a",
    "costs": [Decimal("1.25"), Decimal("-3")],
    "day": date(2024, 6, 1),
    "n": -5,
    "x": 0.1,
    "inner": {"on": True},
    "more": {"m.1": 8, "m": 9},
}
ROW = ("a", Decimal("-3.00"), NOW, -5, 0.1, True, 9)


def encoded(**changes: object) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, PLAIN, RECORD | changes)
    return out.getvalue()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> AvroReader:
    folder = tmp_path_factory.mktemp("avro")
    (folder / "r.avsc").write_text(json.dumps(SCHEMA))
    fields = "{cost: costs.1, on: inner.on, more: more.m}"
    source = f"{{kafka: {{servers: 'a:1', topic: t, payload: avro, schema: r.avsc, time: at, fields: {fields}}}}}"
    text = f"extents:\n  r:\n    declare: {DECLARED}\n    source: {source}"
    catalog = Catalog.read(text, folder=folder)
    extent = catalog.extent("r")
    assert isinstance(extent.source, Kafka)
    return AvroReader(extent, catalog.calendar, extent.source)


def test_a_record(reader: AvroReader) -> None:
    assert reader.rows(encoded(), {}, NOW) == [DecodedRow(7, ROW)]
    assert reader.rows(encoded() + b"more", {}, NOW) == [DecodedRow(7, ROW)], "as Spark's own reader has it"


def test_what_is_inside_of_nothing_is_nothing(reader: AvroReader) -> None:
    [found] = reader.rows(encoded(inner=None, costs=[], more={}, line=None), {}, NOW)
    assert found.row == (None, None, NOW, -5, 0.1, None, None)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not Avro"),
        (b'{"at": 3}', "not Avro"),
        (encoded()[:-3], "not Avro"),
        (encoded(n=1).replace(b"\x02\x9a\x99", b"\xff\xff\xff\xff\x7f\x9a\x99"), "not Avro"),
        (encoded(line="ab").replace(b"ab", b"\xff\xfe"), "not UTF-8"),
        (encoded(at=None), "no time"),
        (encoded(at=1 << 60), "no time"),
        (encoded(at=-1), "before tick 0"),
        (encoded(day=1 << 30), "wrong type"),
        (encoded(x=float("inf")), "wrong type"),
        (b"x" * (MAX_MESSAGE_BYTES + 1), "too large"),
    ],
)
def test_dead(reader: AvroReader, raw: bytes, reason: str) -> None:
    with pytest.raises(RejectError) as caught:
        reader.rows(raw, {}, NOW)
    assert caught.value.reason.value == reason


def test_not_a_number_is_nothing(reader: AvroReader) -> None:
    [found] = reader.rows(encoded(x=float("nan")), {}, NOW)
    assert found.row[4] is None
