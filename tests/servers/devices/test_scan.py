"""Scans of a PostgreSQL table: the log holds changes, and all readers see the table as it was at each scan."""

from __future__ import annotations

import psycopg
import pytest
from benchmarks import scan

import transom
from transom.catalog.servers import Postgres
from transom.collector.sources.scan import Scanner
from transom.connectors.log.segments import SegmentLog

CATALOG = """
extents:
  tariff:
    declare: stored (zone:string, price:decimal, valid:boolean)
    source:
      postgresql:
        url: postgresql://test@127.0.0.1:{port}/postgres
        table: public.tariff
        every: 10 s
        fields: {{valid: is_valid}}
"""
QUERY = "RSTREAM(SELECT zone, price, valid FROM tariff [SCAN 10 SEC])"


@pytest.fixture
def table(database):
    with psycopg.connect(f"postgresql://test@127.0.0.1:{database}/postgres", autocommit=True) as one:
        one.execute("DROP TABLE IF EXISTS tariff")
        one.execute("CREATE TABLE tariff (zone text, price numeric, is_valid boolean)")
        yield one


def scanner(catalog, folder):
    tariff = catalog.extents["tariff"]
    assert isinstance(tariff.source, Postgres)
    return Scanner(
        tariff, tariff.source, SegmentLog(folder / "log/tariff", tariff, segment_interval_seconds=0), catalog.calendar
    )


def scanned(table, database, tmp_path):
    catalog = transom.Catalog.read(CATALOG.format(port=database), folder=tmp_path)
    one = scanner(catalog, tmp_path)
    truth = {}
    steps = [
        "INSERT INTO tariff SELECT 'z' || n, n / 100.0, n % 2 = 0 FROM generate_series(1, 500) n",
        "SELECT 1",
        "UPDATE tariff SET price = price + 1 WHERE zone IN ('z1', 'z2', 'z3')",
        "INSERT INTO tariff VALUES ('z9', NULL, NULL), ('z9', NULL, NULL), ('z9', NULL, NULL)",
        "DELETE FROM tariff WHERE ctid = (SELECT ctid FROM tariff WHERE price IS NULL LIMIT 1)",
        "DELETE FROM tariff WHERE zone <> 'z9'",
        "DELETE FROM tariff",
    ]
    for number, words in enumerate(steps):
        table.execute(words)
        truth[10 * number] = table.execute("SELECT zone, price, is_valid FROM tariff").fetchall()
        assert one.scan(10 * number)
        if number % 3 == 2:  # as after a kill: a new one knows what the log knows
            one.log.close()
            one = scanner(catalog, tmp_path)
    one.log.close()
    return catalog, truth


def said(row):
    return str([float(v) if isinstance(v, int | float) or hasattr(v, "as_tuple") else v for v in row])


def test_changes_and_versions(table, database, tmp_path):
    catalog, truth = scanned(table, database, tmp_path)
    query = transom.compile(QUERY, catalog)
    found = query.simulate(until=69)
    for tick, rows in truth.items():
        assert sorted(said(e.row) for e in found.elements if e.tick == tick) == sorted(map(said, rows)), tick
    with SegmentLog(tmp_path / "log/tariff", catalog.extents["tariff"]) as log:
        changes = 500 + 6 + 3 + 1 + 499 + 3
        assert log.next == changes + 2 * len(truth)  # a beat for each scan, and one for the tick before the next


@pytest.mark.spark
@pytest.mark.covers("source:postgresql")
def test_replay_is_the_reference(table, database, tmp_path, spark):
    catalog, _ = scanned(table, database, tmp_path)
    query = transom.compile(QUERY, catalog)
    expected = sorted(said((e.tick, *e.row)) for e in query.simulate(until=69).elements)
    frame = query.to_df(spark, until=69)
    found = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1 as t", "zone", "price", "valid").collect()
    assert sorted(said(row) for row in found) == expected


def test_values_that_python_does_not_have(table, database, tmp_path):
    """A row with such a date is dead, where its text is no value of the attribute; the others are rows."""
    table.execute("DROP TABLE IF EXISTS valid")
    table.execute("CREATE TABLE valid (zone text, since timestamptz, until date, closes time, took interval)")
    table.execute(
        "INSERT INTO valid VALUES ('a', '2024-01-01Z', 'infinity', '24:00', '1 day'), ('b', 'infinity', '2024-01-01', "
        "'12:00', NULL), ('c', '0044-03-15 BC', NULL, NULL, NULL), ('d', NULL, '-infinity', NULL, '2 days')"
    )
    declared = "declare: stored (zone:string, since:timestamp, until:string, closes:string, took:string)"
    text = CATALOG.replace("declare: stored (zone:string, price:decimal, valid:boolean)", declared)
    text = text.replace("public.tariff", "public.valid").replace("fields: {{valid: is_valid}}", "")
    catalog = transom.Catalog.read(text.format(port=database), folder=tmp_path)
    one = scanner(catalog, tmp_path)
    assert one.scan(0)
    assert one.scan(10)
    one.log.close()
    assert one.counts == {"rows": 2, "wrong type": 2, "rows that left": 0}
    query = transom.compile("RSTREAM(SELECT zone, until, closes, took FROM tariff [SCAN 10 SEC])", catalog)
    found = [e.row for e in query.simulate(until=5).elements]
    assert found == [("a", "infinity", "24:00:00", "1 day, 0:00:00"), ("d", "-infinity", None, "2 days, 0:00:00")]


def test_a_database_that_is_away(table, database, tmp_path):
    catalog = transom.Catalog.read(CATALOG.format(port=1), folder=tmp_path)
    one = scanner(catalog, tmp_path)
    assert not one.scan(0)
    assert one.counts == {"no connection": 1}
    one.log.close()


@pytest.mark.spark
@pytest.mark.parametrize("kernel", ["on", pytest.param("off", marks=pytest.mark.nightly)])
def test_a_large_table_of_which_little_changes(database, tmp_path, spark, kernel):
    """The benchmark itself, small: it compares the log, a replay and a live run with snapshots by the database."""
    url = f"postgresql://test@127.0.0.1:{database}/postgres"
    setting = scan.Setting(url, tmp_path, rows=3000, changed=50, scans=4, asked=20)
    line = scan.scan(setting)
    assert line["log entries"] == 3000 + line["changes"] + 2 * 4
    assert line["changes"] == 3 * (2 * 40 + 5 + 5)
    assert scan.replay(spark, setting)["rows out"] == 4 * 3000
    live = scan.live(spark, setting, kernel)
    assert live["rows out"] > 4 * 10 * 10
