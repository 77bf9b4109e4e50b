"""The plant without its servers: the catalog of the example, its queries, and what counts as wrong."""

from __future__ import annotations

import json
import socket
from datetime import timedelta

import pytest

import transom
from examples.plant.check import Figures, asked, sent
from examples.plant.layout import HERE, QUERIES, Layout
from examples.plant.plant import Plant
from examples.plant.servers import free_port, is_free
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog
from transom.model.reject_reason import RejectReason


def test_the_catalog_is_that_of_the_layout():
    assert (HERE / "catalog.yaml").read_text("utf-8") == Layout().catalog()
    assert Layout().devices == 100


@pytest.mark.parametrize("layout", [Layout(), Layout(hour=7, broken=True, ovens=3, tanks=11)])
def test_queries_fit_the_catalog(layout, tmp_path):
    layout.write(tmp_path)
    assert Layout.read(tmp_path) == layout
    for name in QUERIES:
        query = transom.compile(layout.query(name), transom.Catalog.load(tmp_path / "catalog.yaml"))
        assert query.state.bounded
    assert f"FROM NOW-{layout.hour - 1} TO NOW SLIDE {layout.hour} SEC" in layout.query("energy")


@pytest.fixture
def plant(tmp_path):
    Layout(ovens=2, tanks=1, rooms=1, machines=2).write(tmp_path)
    (tmp_path / "record").mkdir()
    return Plant(tmp_path)


def test_up_needs_its_ports(tmp_path):
    layout = Layout(ports={name: free_port() for name in Layout().names})
    with socket.create_server(("127.0.0.1", layout.port("tanks-1"))):
        with pytest.raises(SystemExit, match=f"somebody else has port {layout.port('tanks-1')}:"):
            Plant(tmp_path).up(layout)
        assert not is_free(layout.port("tanks-1"))
    assert is_free(layout.port("tanks-1"))
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_has_ended_is_noticed(plant, monkeypatch):
    monkeypatch.setattr(plant, "_command", lambda name: ["sh", "-c", f"echo {name} is broken; sleep 0.2; exit 1"])
    plant.start("meters")
    with pytest.raises(SystemExit, match="meters has ended; its last words:\nmeters is broken"):
        plant._wait_for(lambda: False, 20, "meters")


def lines(plant, name, *found):
    (plant.folder / "record" / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))


def logged(plant, name, *found):
    with SegmentLog(plant.folder / "log" / name, plant.catalog.extents[name], segment_interval_seconds=0) as log:
        log.append(found)


def instant(plant, tick, seconds=0.5):
    return plant.catalog.calendar.instant_of(tick) + timedelta(seconds=seconds)


def oven(plant, tick, *rows, missed=None):
    at = instant(plant, tick)
    found = [] if missed is None else [LogRecord(LogRecordKind.GAP, None, at, reason=RejectReason.DOWN, detail=missed)]
    found += [LogRecord(LogRecordKind.ROW, tick, at, (site, 1, value, serial)) for site, value, serial in rows]
    logged(plant, "oven", *found, LogRecord(LogRecordKind.HEARTBEAT, tick, at))


def wrong(plant, kills=None):
    figures = Figures()
    asked(plant, "oven", (1, 2), figures, kills)
    return [one.partition(":")[2].split(",")[0].strip() for one in figures.wrong]


def answers(plant, *more):
    at = instant(plant, 10, 0.1).timestamp()
    lines(plant, "oven", *[[at + t, s, 20.0 + t, 1 + t] for t in range(4) for s in (1, 2)], *more)


def test_readings(plant):
    answers(plant)
    for t in range(4):
        oven(plant, 10 + t, (1, 20.0 + t, 1 + t), (2, 20.0 + t, 1 + t))
    assert wrong(plant) == []


def test_a_reading_that_is_lost_doubled_or_made_up_is_seen(plant):
    answers(plant)
    oven(plant, 10, (1, 20.0, 1), (2, 20.0, 1))
    oven(plant, 11, (1, 21.0, 2))
    oven(plant, 12, (1, 22.0, 3), (2, 20.0, 1))
    oven(plant, 13, (1, 23.0, 4), (2, 99.0, 4))
    assert wrong(plant) == ["lost: 3", "doubled: 1", "not as answered: 1"]


def test_missed_ticks_need_a_kill(plant):
    answers(plant)
    oven(plant, 10, (1, 20.0, 1), (2, 20.0, 1))
    oven(plant, 13, (1, 23.0, 4), (2, 23.0, 4), missed="ticks 11 to 12")
    assert wrong(plant, [instant(plant, 11).timestamp()]) == []
    assert wrong(plant, [instant(plant, 14).timestamp()]) == ["ticks missed while the collector ran: 2"]
    logged(plant, "oven", LogRecord(LogRecordKind.HEARTBEAT, 15, instant(plant, 15)))
    assert wrong(plant) == ["lost: 3"]


def test_messages(plant):
    def message(number, mm=1.5):
        return LogRecord(LogRecordKind.ROW, 10, instant(plant, 10), (f"m{number % 2}", number, mm))

    def found():
        figures = Figures()
        sent(plant, "vibration", figures, patience=0)
        return [one.partition(":")[2].split(",")[0].strip() for one in figures.wrong]

    told = [["sent", n, f"m{n % 2}", 1.5] for n in range(5)]
    lines(plant, "vibration", *told, *(["acknowledged", n] for n in range(4)))
    logged(plant, "vibration", *map(message, range(4)))
    assert found() == []
    logged(plant, "vibration", message(4))
    assert found() == []
    logged(plant, "vibration", message(2))
    assert found() == ["doubled: 1"]
    lines(plant, "vibration", *told, ["sent", 5, "m1", 1.5], ["acknowledged", 5])
    assert found() == ["lost: 1", "doubled: 1"]
    lines(plant, "vibration", *told[:4], ["sent", 4, "m0", 2.5])
    assert found() == ["doubled: 1", "not as sent: 1"]
