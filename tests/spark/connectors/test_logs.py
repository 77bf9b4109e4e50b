"""Logs of the collector on Spark: live, replay and the reference give the same rows; beats move time, nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

import transom
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog
from transom.model.reject_reason import RejectReason

CATALOG = """
extents:
  meter:
    declare: pushed (line:string, power:integer)
    lateness: 3 s
    source: {mqtt: {broker: 'mqtt://nowhere', topic: 'a/{line}', time: at}}
  oven:
    declare: sensed (site:integer, temp:float) RATE 2 S SITES (2, 1)
    source: {http: {server: 'http://nowhere/{site}'}}
"""
QUERIES = {
    "window": "RSTREAM(SELECT line, SUM(power) AS p, COUNT(*) AS n "
    "FROM meter [FROM NOW-4 TO NOW SLIDE 5 SEC] GROUP BY line)",
    "rows": "RSTREAM(SELECT line, power FROM meter [FROM NOW-2 TO NOW SLIDE 1 ROWS])",
    "both": "RSTREAM(SELECT oven.site AS site, SUM(power) AS p FROM meter [FROM NOW-9 TO NOW SLIDE 2 SEC], "
    "oven [FROM NOW TO NOW SLIDE 2 SEC] GROUP BY oven.site)",
}
NOW = datetime(2024, 6, 1, tzinfo=UTC)


def write(folder: Path, catalog: transom.Catalog) -> None:
    """Forty segments of both logs: rows within the lateness, beats, what is dead."""
    rng = Random(5)
    meter, oven = catalog.extents["meter"], catalog.extents["oven"]
    with (
        SegmentLog(folder / "log/meter", meter, segment_interval_seconds=0) as one,
        SegmentLog(folder / "log/oven", oven, segment_interval_seconds=0) as other,
    ):
        latest = 0
        for number in range(40):
            entries = []
            for _ in range(rng.randrange(4)):
                tick = max(0, latest - rng.randrange(4) + rng.randrange(3))
                latest = max(latest, tick)
                entries.append(LogRecord(LogRecordKind.ROW, tick, NOW, (rng.choice("ab"), rng.randrange(9)), "a/a"))
            entries.append(
                LogRecord(LogRecordKind.DEAD, latest + 50, NOW, None, "a/a", None, b"{", RejectReason.TEXT, "broken")
            )
            if number % 8 == 7:
                latest += 4
                entries.append(LogRecord(LogRecordKind.HEARTBEAT, latest, NOW))
            one.append(entries)
            if number % 2 == 0:
                rows = [LogRecord(LogRecordKind.ROW, number, NOW, (site, site + number / 2), "dev") for site in (1, 2)]
                gap = LogRecord(
                    LogRecordKind.GAP, number, NOW, None, "dev", reason=RejectReason.DEADLINE, detail="hangs"
                )
                other.append([*rows[: 2 - number % 3 % 2], gap, LogRecord(LogRecordKind.HEARTBEAT, number, NOW)])
        one.append([LogRecord(LogRecordKind.HEARTBEAT, 100, NOW)])
        other.append([LogRecord(LogRecordKind.HEARTBEAT, 100, NOW)])


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> transom.Catalog:
    folder = tmp_path_factory.mktemp("logs")
    found = transom.Catalog.read(CATALOG, folder=folder)
    write(folder, found)
    return found


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.covers("log:files")
def test_live_and_replay_are_the_reference(spark, catalog, tmp_path, name):
    query = transom.compile(QUERIES[name], catalog)
    until = 40
    expected = [str((e.tick, *e.row)) for e in query.simulate(until=until).elements]
    assert len(expected) > 10
    running = query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "state", until=until, allow_unbounded=True)
    try:
        running.stream.processAllAvailable()
    finally:
        running.stop()
    done = running.progress()
    assert done.late_rows == 0
    assert done.sources["meter"].rejected["not JSON"] == 40
    frames = {"live": spark.read.json(str(tmp_path / "out")), "replay": query.to_df(spark, until=until)}
    for way, frame in frames.items():
        rows = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1 as t", *(f"`{c}`" for c in query.columns))
        found = [str(tuple(row)) for row in rows.collect()]
        assert sorted(found) == sorted(expected), way
