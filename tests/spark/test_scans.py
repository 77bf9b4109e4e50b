"""Tables that are scanned while a query runs: its answer is a replay of what their logs recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

import transom
from tests.collector.scanning import list_scanner
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.segments import Log
from transom.errors import Unsupported

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
Said = Counter[str]


def story(seed: int) -> list[tuple[str, int, list[tuple[object, ...]] | None]]:
    """What happens, in order: scans of the table, segments of the stream; None is a database that is away."""
    rng = Random(seed)
    table: list[tuple[object, ...]] = []
    events: list[tuple[str, int, list[tuple[object, ...]] | None]] = []
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
        self.meter = Log(folder / "log/meter", catalog.extents["meter"], apart=0)

    def write(self, name: str, tick: int, content: list[tuple[object, ...]] | None) -> None:
        if name == "tariff":
            self.scanner.find(tick, content)
            return
        assert content is not None
        rows = [Entry(Entered.ROW, own, NOW, (zone, power), "a") for own, zone, power in content]  # type: ignore[list-item]
        self.meter.append([*rows, Entry(Entered.BEAT, tick, NOW)])

    def close(self) -> None:
        self.scanner.log.close()
        self.meter.close()


def said(rows: Iterator[Sequence[object]]) -> Said:
    return Counter(
        str([None if v is None else str(float(v)) if hasattr(v, "as_tuple") else v for v in row]) for row in rows
    )


def expected(query: transom.Query, start: int) -> Said:
    answer = query.simulate(until=UNTIL, start=start)
    if query.gives == "windows":
        return said((w.tick, *row) for w in answer.windows for row in w.rows or [(None,) * len(query.columns)])
    return said((e.tick, *e.row) for e in answer.elements)


def found(spark, query: transom.Query, folder: Path) -> Said:
    frame = spark.read.parquet(str(folder))
    rows = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1 as t", *(f"`{c}`" for c in query.columns))
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        cells = [c if t != "timestamp" else f"cast(`{c}` as string) as `{c}`" for c, t in rows.dtypes]
        answer = rows.selectExpr(*cells).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    return said(tuple(NOW if v == "2024-06-01 00:00:00" else v for v in row) for row in answer)


CUTS = {
    "step by step": lambda events: [[event] for event in events],
    "in thirds": lambda events: [
        events[at : at + len(events) // 3 + 1] for at in range(0, len(events), len(events) // 3 + 1)
    ],
    "the table is slow": lambda events: [
        [e for e in events if e[0] == "meter"],
        *([e] for e in events if e[0] == "tariff"),
    ],
    "the table is early": lambda events: [
        [e for e in events if e[0] == "tariff"],
        [e for e in events if e[0] == "meter"],
    ],
}


def run(spark, tmp_path: Path, text: str, language: str, *, cut: str, seed: int, kernel: str, start: int = 0) -> None:
    """Run a query while its logs grow, stop and start it on the way, and compare."""
    catalog = transom.Catalog.read(CATALOG, folder=tmp_path)
    query = transom.compile(text, catalog, language=language)
    logs = Logs(catalog, tmp_path)
    portions = CUTS[cut](story(seed))
    running = None
    out = tmp_path / "out"

    def begin():
        return query.start(
            spark, f"parquet:{out}", tmp_path / "state", until=UNTIL, start=start, kernel=kernel, allow_unbounded=True
        )

    try:
        for number, portion in enumerate(portions):
            for event in portion:
                logs.write(*event)
            if len(portions) > 10 and number % 6 != 5 and number != len(portions) - 1:
                continue
            running = running or begin()
            running.stream.processAllAvailable()
            if number % 2 == 0:
                running.stop()
                running = None
        running = running or begin()
        running.stream.processAllAvailable()
    finally:
        if running is not None:
            running.stop()
        logs.close()
    wanted = expected(query, start)
    assert wanted.total() > 3, "the story says nothing"
    assert found(spark, query, out) == wanted


@pytest.mark.parametrize("name", QUERIES)
def test_the_answer_is_a_replay_of_what_the_log_recorded(spark, tmp_path, name):
    number = list(QUERIES).index(name)
    cut = list(CUTS)[number % len(CUTS)]
    kernel = "off" if name in ("join", "alone") else "auto"
    run(spark, tmp_path, QUERIES[name], "sneeql", cut=cut, seed=number, kernel=kernel)


@pytest.mark.parametrize("cut", CUTS)
def test_any_cut(spark, tmp_path, cut):
    run(spark, tmp_path, QUERIES["join"], "sneeql", cut=cut, seed=77, kernel="auto")


@pytest.mark.parametrize("name", CQL)
def test_a_table_of_cql(spark, tmp_path, name):
    run(spark, tmp_path, CQL[name], "cql", cut="in thirds", seed=3, kernel="auto")


def test_a_table_without_scan_is_read_once_at_the_start(spark, tmp_path):
    text = f"RSTREAM(SELECT m.zone, power, price FROM {METER}, tariff WHERE m.zone = tariff.zone)"
    run(spark, tmp_path, text, "sneeql", cut="in thirds", seed=5, kernel="auto", start=10)


def test_a_start_between_two_scans(spark, tmp_path):
    run(spark, tmp_path, QUERIES["join"], "sneeql", cut="the table is early", seed=6, kernel="auto", start=9)


def test_a_relation_that_starts_late(spark, tmp_path):
    run(spark, tmp_path, CQL["relation"], "cql", cut="in thirds", seed=7, kernel="auto", start=9)


def test_answers_wait_for_the_log(spark, tmp_path):
    """The stream is far ahead; what the table holds from tick 8 on nobody knows before its log says so."""
    catalog = transom.Catalog.read(CATALOG, folder=tmp_path)
    logs = Logs(catalog, tmp_path)
    query = transom.compile(QUERIES["join"], catalog)
    running = query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "state", until=UNTIL, allow_unbounded=True)
    shown = []
    try:
        logs.write("meter", 30, [(own, "a", 1) for own in range(12)])
        for tick, price in ((0, 1), (4, 1), (8, 2)):
            logs.write("tariff", tick, [("a", price, None)])
            running.stream.processAllAvailable()
            shown.append(max((int(s[1 : s.index(",")]) for s in found(spark, query, tmp_path / "out")), default=-1))
        running.stop()
        running = query.start(
            spark, f"parquet:{tmp_path / 'out'}", tmp_path / "state", until=UNTIL, allow_unbounded=True
        )
        logs.write("meter", 35, [])
        running.stream.processAllAvailable()
        assert running.progress().late_rows == 0
    finally:
        running.stop()
        logs.close()
    assert shown == [2, 6, 10]  # the windows up to the next scan, and none after it
    assert found(spark, query, tmp_path / "out") == Counter(
        {s: n for s, n in expected(query, 0).items() if int(s[1 : s.index(",")]) < 12}
    )


def test_the_order_of_rows_is_refused(tmp_path):
    query = transom.compile(QUERIES["join"], transom.Catalog.read(CATALOG, folder=tmp_path))
    with pytest.raises(Unsupported, match="order"):
        query.physical(index=True)
    assert query.physical(index=True, given=None).ordered
