"""Messages to rows, and each kind of broken message with its reason."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from transom.catalog import Catalog
from transom.catalog.servers import Payload
from transom.collector.feed import Feed
from transom.connectors import open_stream
from transom.connectors.log.read import rejected_counts
from transom.connectors.log.segments import SegmentLog
from transom.connectors.payloads import MAX_MESSAGE_BYTES, DecodedRow, MessageReader, RejectError
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

CALENDAR = Calendar(1_000_000, datetime(2024, 6, 1, tzinfo=UTC))
NOW = datetime(2024, 6, 1, 0, 0, 30, tzinfo=UTC)
CAR = Catalog.read("car: pushed (road:integer, plate:string, price:decimal)").extents["car"]
FIELDS = (("plate", "body.plate"), ("price", "price"))


def reader(time="at", payload=Payload.JSON, fields=FIELDS):
    return MessageReader(CAR, CALENDAR, fields, time, payload)


def test_json():
    raw = b'{"at": "2024-06-01T00:00:07Z", "body": {"plate": "AB"}, "price": 1.5, "more": 1}'
    [found] = reader().rows(raw, {"road": "8"}, NOW)
    assert found.tick == 7
    assert [str(value) for value in found.row] == ["8", "AB", "1.5"]


def test_paths_with_dots_and_numbers():
    fields = (("plate", "cars.1.plate"), ("price", "a.b"))
    raw = b'{"cars": [{}, {"plate": "AB"}], "a.b": null}'
    assert reader(None, fields=fields).rows(raw, {"road": 8}, NOW) == [DecodedRow(None, (8, "AB", None))]


def test_value():
    one = Catalog.read("car: pushed (road:integer, speed:float)").extents["car"]
    found = MessageReader(one, CALENDAR, (("speed", "speed"),), None, Payload.VALUE).rows(b" 12.5", {"road": "7"}, NOW)
    assert found == [DecodedRow(None, (7, 12.5))]


def test_senml():
    fields = (("plate", "plate"), ("price", "price"))
    raw = b"""[{"bn": "urn:dev:1/", "bt": 1717200007, "n": "plate", "vs": "AB"}, {"n": "price", "v": 2},
               {"n": "plate", "t": 3, "vs": "CD"}, {"n": "price", "t": 3, "v": 4}]"""
    found = reader(None, Payload.SENML, fields).rows(raw, {"road": 1}, NOW)
    assert found == [DecodedRow(7, (1, "AB", 2)), DecodedRow(10, (1, "CD", 4))]
    soon = b'[{"n": "plate", "t": -5, "vs": "AB"}, {"n": "price", "t": -5, "v": 4, "bv": 1}]'
    assert reader(None, Payload.SENML, fields).rows(soon, {"road": 1}, NOW) == [DecodedRow(25, (1, "AB", 5))]


POISON = {
    RejectReason.BYTES: b"\xff\xfe",
    RejectReason.TEXT: b'{"at": 7',
    RejectReason.SHAPE: b"[1, 2]",
    RejectReason.MISSING: b'{"at": 7, "price": 1}',
    RejectReason.TYPE: b'{"at": 7, "body": {"plate": 12}, "price": 1}',
    RejectReason.TIME: b'{"at": "noon", "body": {"plate": "AB"}, "price": 1}',
    RejectReason.EPOCH: b'{"at": "2023-06-01T00:00:00Z", "body": {"plate": "AB"}, "price": 1}',
    RejectReason.SIZE: b" " * (MAX_MESSAGE_BYTES + 1),
    RejectReason.DEPTH: b'{"at": 7, "more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}


@pytest.mark.parametrize(("reason", "raw"), POISON.items(), ids=lambda one: getattr(one, "name", ""))
def test_poison(reason, raw):
    with pytest.raises(RejectError) as caught:
        reader().rows(raw, {"road": "8"}, NOW)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    "raw",
    [
        b'{"at": 7, "body": {"plate": "\\ud800"}, "price": 1}',
        b'{"at": 7, "body": {"plate": "AB"}, "price": "1e-30"}',
        b'{"at": 7, "body": {"plate": "AB"}, "price": 1e30}',
        b'{"at": 7, "body": {"plate": "AB"}, "price": true}',
    ],
)
def test_values_that_no_log_keeps(raw):
    with pytest.raises(RejectError) as caught:
        reader().rows(raw, {"road": "8"}, NOW)
    assert caught.value.reason is RejectReason.TYPE


def test_no_constants():
    with pytest.raises(RejectError) as caught:
        reader().rows(b'{"at": NaN}', {"road": "8"}, NOW)
    assert caught.value.reason is RejectReason.TEXT


@pytest.mark.parametrize("raw", [b"{}", b"[]", b"[3]", b'[{"n": "a"}]', b'[{"bt": "x", "n": "plate", "v": 1}]'])
def test_broken_senml(raw):
    with pytest.raises(RejectError) as caught:
        reader(None, Payload.SENML).rows(raw, {"road": "8"}, NOW)
    assert caught.value.reason is RejectReason.RECORD


class Clock:
    def __init__(self, start=NOW):
        self.now = start

    def __call__(self):
        return self.now


def fed(tmp_path, words, time):
    source = "{mqtt: {broker: 'mqtt://a', topic: b}}"
    text = f"extents: {{car: {{declare: 'pushed (plate:string)', {words} source: {source}}}}}"
    catalog = Catalog.read(f"epoch: 2024-06-01T00:00:00Z\n{text}", folder=tmp_path)
    car = catalog.extents["car"]
    clock = Clock()
    log = SegmentLog(tmp_path / "log/car", car, segment_interval_seconds=0)
    made = MessageReader(car, catalog.calendar, (("plate", "plate"),), time, Payload.JSON)
    return Feed(car, log, catalog.calendar, made, clock), clock, catalog


def test_late_rows_are_dead_in_the_order_of_the_log(tmp_path):
    feed, _, catalog = fed(tmp_path, "lateness: 2 s,", "at")
    acknowledged = []
    for number, tick in enumerate([5, 3, 2, 9, 7, 6]):
        raw = b'{"at": %d, "plate": "%d"}' % (tick, number)
        feed.enqueue(raw, {}, "b", str(number), lambda number=number: acknowledged.append(number))
    assert acknowledged == []
    feed.flush()
    assert acknowledged == [0, 1, 2, 3, 4, 5]
    found = open_stream(feed.extent, catalog.calendar, tmp_path)
    assert [(e.tick, e.row[0]) for e in found] == [(3, "1"), (5, "0"), (7, "4"), (9, "3")]
    assert rejected_counts(feed.extent, "log/car", tmp_path) == {"late": 2}
    assert feed.counts == {"rows": 4, "late": 2}


def test_rows_without_a_time_have_that_of_their_arrival_and_never_go_back(tmp_path):
    feed, clock, catalog = fed(tmp_path, "", None)
    feed.enqueue(b'{"plate": "a"}', {}, "b", None)
    clock.now -= timedelta(seconds=20)
    feed.enqueue(b'{"plate": "b"}', {}, "b", None)
    feed.flush()
    clock.now += timedelta(seconds=25)
    feed.flush()
    assert feed.log.latest == 35
    found = open_stream(feed.extent, catalog.calendar, tmp_path)
    assert [e.tick for e in found] == [30, 30]


def test_beats_of_rows_with_a_time_of_their_own(tmp_path):
    feed, clock, _ = fed(tmp_path, "idle_after: 10 s,", "at")
    feed.flush()
    assert feed.log.latest == 20
    clock.now += timedelta(seconds=5)
    feed.flush()
    assert feed.log.latest == 25
    silent, _, _ = fed(tmp_path / "other", "", "at")
    silent.flush()
    assert silent.log.latest == -1
