"""What happens to a stream and to a table that is scanned, and the queries that are asked of both."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random

import transom
from tests.collector.scanning import list_scanner
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog

CATALOG = """
extents:
  meter:
    declare: pushed (zone:string, power:integer)
    rate: 9 per s
    lateness: 2 s
    source: {mqtt: {broker: 'mqtt://nowhere', topic: 'a/{zone}', time: at}}
  tariff:
    declare: stored (zone:string, price:decimal, since:timestamp)
    rows: 20
    source: {postgresql: {url: 'postgresql://nowhere', table: tariff, every: 4 s}}
  class:
    declare: stored (price:decimal, name:string)
    rows: 3
    source: {table: {versions: {0: [['1', cheap], ['2', fair]], 17: [['2', cheap]]}}}
"""
NOW = datetime(2024, 6, 1, tzinfo=UTC)
UNTIL = 40
METER = "meter [FROM NOW-5 TO NOW SLIDE 2 SEC] AS m"
QUERIES = {
    "join": f"RSTREAM(SELECT m.zone, power, price, since FROM {METER}, tariff [SCAN 4 SEC] WHERE m.zone = tariff.zone)",
    "often": f"RSTREAM(SELECT m.zone, power, price FROM tariff [SCAN 1 SEC], {METER} WHERE tariff.zone = m.zone)",
    "seldom": f"ISTREAM(SELECT m.zone, power, price FROM {METER}, tariff [SCAN 6 SEC] WHERE m.zone = tariff.zone)",
    "went": f"DSTREAM(SELECT m.zone, power, price FROM {METER}, tariff [SCAN 4 SEC] WHERE m.zone = tariff.zone)",
    "compared": f"RSTREAM(SELECT power, price FROM {METER}, tariff [SCAN 3 SEC] WHERE m.power > tariff.price)",
    "groups": f"RSTREAM(SELECT m.zone, SUM(power * price) AS s, COUNT(*) AS n FROM {METER}, tariff [SCAN 5 SEC] "
    "WHERE m.zone = tariff.zone AND price > 1 GROUP BY m.zone)",
    "counted": f"RSTREAM(SELECT COUNT(*) AS n FROM {METER}, tariff [SCAN 2 SEC])",
    "windows": f"SELECT m.zone, price FROM {METER}, tariff [SCAN 4 SEC] WHERE m.zone = tariff.zone",
    "rows": "RSTREAM(SELECT m.zone, price FROM meter [FROM NOW-2 TO NOW SLIDE 3 ROWS] AS m, tariff [SCAN 4 SEC] "
    "WHERE m.zone = tariff.zone)",
    "alone": "RSTREAM(SELECT zone, price, since FROM tariff [SCAN 3 SEC])",
    "came": "ISTREAM(SELECT price FROM tariff [SCAN 4 SEC] WHERE zone <> 'a')",
    "sizes": "RSTREAM(SELECT COUNT(*) AS n, MIN(price) AS p FROM tariff [SCAN 6 SEC])",
    "tables": "RSTREAM(SELECT zone, name FROM tariff [SCAN 4 SEC], class [SCAN 5 SEC] "
    "WHERE tariff.price = class.price)",
    "itself": "RSTREAM(SELECT a.zone, b.price FROM tariff [SCAN 4 SEC] AS a, tariff [SCAN 6 SEC] AS b "
    "WHERE a.zone = b.zone)",
    "three": f"RSTREAM(SELECT m.power, name FROM {METER}, tariff [SCAN 4 SEC], class [SCAN 2 SEC] "
    "WHERE m.zone = tariff.zone AND tariff.price = class.price)",
}
CQL = {
    "relation": "SELECT IStream(m.zone, power, price) FROM meter AS m [RANGE '5 seconds'], tariff "
    "WHERE m.zone = tariff.zone",
    "left": "SELECT RStream(m.zone, power, price) FROM meter AS m [ROWS 2] LEFT JOIN tariff ON m.zone = tariff.zone",
}
Event = tuple[str, int, list[tuple[object, ...]] | None]


def story(seed: int) -> list[Event]:
    """What happens, in order: scans of the table, segments of the stream; None is a database that is away."""
    rng = Random(seed)
    table: list[tuple[object, ...]] = []
    events: list[Event] = []
    for tick in range(UNTIL + 8):
        if tick % 4 == 0 and rng.random() < 0.85:
            for _ in range(rng.randrange(1, 6)):
                table.append((rng.choice("abc"), rng.choice([None, 1, 2, 3]), rng.choice([None, NOW])))
            rng.shuffle(table)
            del table[: rng.randrange(3) if len(table) < 15 else 5]
            events.append(("tariff", tick, None if rng.random() < 0.2 else list(table)))
        rows: list[tuple[object, ...]] = []
        for _ in range(rng.randrange(3)):
            own = max(0, tick - rng.randrange(3))
            rows.append((own, rng.choice("abcd"), rng.randrange(4)))
        events.append(("meter", tick, rows))
    return events


class Logs:
    """Both logs, written as the story goes on."""

    def __init__(self, catalog: transom.Catalog, folder: Path) -> None:
        self.scanner = list_scanner(catalog, "tariff", folder)
        self.meter = SegmentLog(folder / "log/meter", catalog.extents["meter"], segment_interval_seconds=0)

    def write(self, name: str, tick: int, content: list[tuple[object, ...]] | None) -> None:
        if name == "tariff":
            self.scanner.find(tick, content)
            return
        assert content is not None
        rows = [LogRecord(LogRecordKind.ROW, own, NOW, (zone, power), "a") for own, zone, power in content]  # type: ignore[list-item]
        self.meter.append([*rows, LogRecord(LogRecordKind.HEARTBEAT, tick, NOW)])

    def close(self) -> None:
        self.scanner.log.close()
        self.meter.close()
