"""Schemas of Avro: where things are in a record, and what values can be made of them."""

from __future__ import annotations

import json

import pytest

from transom.catalog import Catalog
from transom.catalog.avro import RecordField, RecordSchema
from transom.catalog.servers import Kafka, Payload
from transom.errors import CatalogError
from transom.model.types import Type

COST = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
SCHEMA = {
    "type": "record",
    "name": "Power",
    "namespace": "plant",
    "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "line", "type": ["null", "string"]},
        {
            "name": "body",
            "type": ["null", {"type": "record", "name": "Body", "fields": [{"name": "w", "type": "float"}]}],
        },
        {"name": "other", "type": "Body"},
        {"name": "again", "type": {"type": "plant.Body"}},
        {"name": "costs", "type": {"type": "array", "items": COST}},
        {"name": "marks", "type": {"type": "map", "values": {"type": "enum", "name": "Mark", "symbols": ["A", "B"]}}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "raw", "type": "bytes"},
        {"name": "noon", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "large", "type": {"type": "bytes", "logicalType": "decimal", "precision": 40}},
    ],
}
RECORD = RecordSchema(json.dumps(SCHEMA))


@pytest.mark.parametrize(
    ("path", "leaf"),
    [
        ("at", RecordField((("field", "at"),), "timestamp-millis")),
        ("line", RecordField((("field", "line"),), "string")),
        ("body.w", RecordField((("field", "body"), ("field", "w")), "float")),
        ("other.w", RecordField((("field", "other"), ("field", "w")), "float")),
        ("again.w", RecordField((("field", "again"), ("field", "w")), "float")),
        ("costs.1", RecordField((("field", "costs"), ("item", "1")), "decimal", 10, 2)),
        ("marks.x", RecordField((("field", "marks"), ("entry", "x")), "enum")),
        ("id", RecordField((("field", "id"),), "string")),
    ],
)
def test_leaves(path: str, leaf: RecordField) -> None:
    assert RECORD.leaf(path) == leaf


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("lines", "no field 'lines' in the schema; did you mean line"),
        ("line.x", "nothing is inside a value of type string"),
        ("costs.x", "nothing is inside a value of type array"),
        ("body", "record is no type of values"),
        ("raw", "bytes is no type of values"),
        ("noon", "time-millis is no type of values"),
        ("either", "a union of several types"),
        ("large", "at most 38 digits"),
    ],
)
def test_what_is_no_value(path: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RECORD.leaf(path)


def test_types_that_suit() -> None:
    for path, kind in (
        ("at", Type.TIMESTAMP),
        ("costs.0", Type.DECIMAL),
        ("body.w", Type.INTEGER),
        ("id", Type.STRING),
    ):
        RECORD.check_type(path, kind)
    for path, kind in (("at", Type.INTEGER), ("line", Type.FLOAT), ("body.w", Type.BOOLEAN), ("marks.x", Type.DECIMAL)):
        with pytest.raises(ValueError, match="is not of type"):
            RECORD.check_type(path, kind)


def test_logical_types_are_left_out() -> None:
    assert "logicalType" not in RECORD.plain(decimals=False)
    kept = json.loads(RECORD.plain(decimals=True))
    assert kept["fields"][0]["type"] == {"type": "long"}
    assert kept["fields"][5]["type"]["items"] == COST
    assert [field["name"] for field in kept["fields"]] == [field["name"] for field in SCHEMA["fields"]]


@pytest.mark.parametrize("text", ["{", "[]", '"string"', '{"type": "enum"}'])
def test_no_record(text: str) -> None:
    with pytest.raises(ValueError, match=r"record|Expecting"):
        RecordSchema(text)


def catalog(tmp_path, words: str, text: str | None = None) -> Catalog:
    (tmp_path / "power.avsc").write_text(json.dumps(SCHEMA) if text is None else text)
    source = f"{{kafka: {{servers: 'a:1', topic: t, payload: avro, {words}}}}}"
    return Catalog.read(
        f"extents:\n  power:\n    declare: pushed (line:string, w:float)\n    source: {source}", folder=tmp_path
    )


def test_a_topic_of_records(tmp_path) -> None:
    found = catalog(tmp_path, "schema: power.avsc, time: at, fields: {w: body.w}").extent("power").source
    fields = (("line", "line"), ("w", "body.w"))
    assert found == Kafka("a:1", "t", fields, "at", (), None, Payload.AVRO, (), (), json.dumps(SCHEMA))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("time: at", "without its schema"),
        ("schema: other.avsc", "no file 'other.avsc'"),
        ("schema: power.avsc", "the schema has no field for w"),
        ("schema: power.avsc, fields: {w: line}", "the schema has no field for w"),
        ("schema: power.avsc, fields: {w: body.w}, time: id.x", "this field of the schema is not a time"),
        ("schema: power.avsc, fields: {w: body.w}, time: costs.0", "this field of the schema is not a time"),
        ("schema: power.avsc, columns: [line]", "columns is for payload: csv"),
    ],
)
def test_refused(tmp_path, words: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        catalog(tmp_path, words)


def test_a_file_that_is_no_schema(tmp_path) -> None:
    with pytest.raises(CatalogError, match=r"cannot read 'power\.avsc'"):
        catalog(tmp_path, "schema: power.avsc", "{")
    with pytest.raises(CatalogError, match="schema is for payload: avro"):
        Catalog.read(
            "extents:\n  x:\n    declare: pushed (a:string)\n"
            "    source: {kafka: {servers: 'a:1', topic: t, schema: power.avsc}}",
            folder=tmp_path,
        )
