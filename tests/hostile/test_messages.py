"""Messages that somebody sent to do harm: each is a dead letter with the stated reason, or the stated row."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from transom.catalog import Catalog
from transom.catalog.servers import Kafka, Payload
from transom.connectors.kafka.avro import AvroReader
from transom.connectors.payloads import MessageReader
from transom.connectors.rdf.payloads import RdfReader

from .case import Case, check
from .messages import CASES, ROW, Message

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  car: pushed (n:integer, f:float, d:decimal, s:string, b:boolean)
  oven: pushed (temp:float)
  power:
    declare: pushed (at:integer, line:string)
    source: {kafka: {servers: 'a:9092', topic: t, payload: avro, schema: power.avsc}}
"""
SCHEMA = {
    "type": "record",
    "name": "Power",
    "fields": [{"name": "at", "type": "long"}, {"name": "line", "type": "string"}],
}
NOW = datetime(2024, 6, 1, 0, 0, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[[object], object]:
    """What a message says: the tick and the values of its row, or how many statements it has."""
    folder: Path = tmp_path_factory.mktemp("avro")
    (folder / "power.avsc").write_text(json.dumps(SCHEMA), "utf-8")
    catalog = Catalog.read(CATALOG, folder=folder)
    car, oven, power = (catalog.extents[name] for name in ("car", "oven", "power"))
    fields = tuple((name, name) for name in ROW)
    assert isinstance(power.source, Kafka)
    readers = {
        "json": MessageReader(car, catalog.calendar, fields, "at", Payload.JSON),
        "csv": MessageReader(car, catalog.calendar, fields, "at", Payload.CSV, ("at", *ROW)),
        "senml": MessageReader(oven, catalog.calendar, (("temp", "temp"),), None, Payload.SENML),
        "value": MessageReader(oven, catalog.calendar, (("temp", "temp"),), None, Payload.VALUE),
        "avro": AvroReader(power, catalog.calendar, power.source),
    }

    def content(given: object) -> object:
        assert isinstance(given, Message)
        if given.kind not in readers:
            return len(RdfReader(given.kind, catalog.calendar).statements(given.raw, 7))
        [(tick, row)] = readers[given.kind].rows(given.raw, {}, NOW)
        return (tick, *(str(one) if one.__class__.__name__ == "Decimal" else one for one in row))

    return content


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_message(case: Case, read: Callable[[object], object]) -> None:
    check(case, read)
