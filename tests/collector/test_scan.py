"""The scanner without a database: what it writes, what it keeps, and what it promises."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow.parquet as pq
import pytest

import transom
from tests.collector.scanning import ListScanner, list_scanner
from transom.connectors.log.segments import latest_tick, segments

CATALOG = """
extents:
  tariff:
    declare: stored (zone:string, price:decimal, since:timestamp)
    source: {postgresql: {url: 'postgresql://nowhere', table: tariff, every: 10 s}}
"""
OLD, NEW = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)


@pytest.fixture
def catalog(tmp_path):
    return transom.Catalog.read(CATALOG, folder=tmp_path)


@pytest.fixture
def one(catalog, tmp_path):
    found = list_scanner(catalog, "tariff", tmp_path)
    yield found
    found.log.close()


def written(one: ListScanner) -> list[tuple[object, ...]]:
    """Kind, tick and zone of the entries of the last segment."""
    rows = pq.read_table(segments(one.log.folder)[-1]).to_pylist()
    return [(row["_kind"], row["_tick"], row["zone"]) for row in rows]


def test_only_what_changes_is_written(one):
    assert one.find(3, [("a", Decimal(1), OLD), ("b", Decimal(2), None), ("b", Decimal(2), None)])
    assert written(one) == [("row", 3, "a"), ("row", 3, "b"), ("row", 3, "b"), ("beat", 3, None), ("beat", 9, None)]
    assert one.find(10, [("b", Decimal("2.0"), None), ("b", Decimal(2), None), ("a", Decimal(1), OLD)])
    assert written(one) == [("beat", 10, None), ("beat", 19, None)]
    assert one.find(20, [("a", Decimal(1), NEW), ("b", Decimal(2), None)])
    assert written(one)[:3] == [("left", 20, "a"), ("left", 20, "b"), ("row", 20, "a")]
    assert one.counts == {"rows": 4, "rows that left": 2}


def test_what_the_log_says_is_what_a_new_one_knows(one, catalog, tmp_path):
    rows = [("a", Decimal("0.10"), OLD), ("b", None, None)]
    one.find(0, rows)
    one.log.close()
    other = list_scanner(catalog, "tariff", tmp_path)
    other.find(10, rows)
    assert written(other) == [("beat", 10, None), ("beat", 19, None)]
    other.log.close()
    one.log = list_scanner(catalog, "tariff", tmp_path).log


def test_values_are_read_as_the_extent_says(one):
    """A day and a document are no instants and texts of Transom's: they are read, also where rows are the same."""
    rows = [({"a": 1}, 5, date(2024, 1, 1)), ({"a": 1}, 5, date(2024, 1, 1))]
    one.find(0, rows)
    one.find(10, rows)
    assert written(one) == [("beat", 10, None), ("beat", 19, None)]
    first = pq.read_table(segments(one.log.folder)[0]).to_pylist()[0]
    assert (json.loads(first["zone"].replace("'", '"')), first["price"], first["since"]) == ({"a": 1}, 5, OLD)


def test_a_row_that_is_none_is_told_once(one):
    one.find(0, [("a", "much", None), ("b", Decimal(1), None)])
    assert written(one)[0] == ("dead", 0, None)
    one.find(10, [("a", "much", None), ("b", Decimal(1), None)])
    assert written(one) == [("beat", 10, None), ("beat", 19, None)]


def test_a_database_that_is_away_leaves_the_table_as_it_was(one, catalog):
    assert not one.find(4, None)
    assert latest_tick(one.log.folder) == -1  # nothing is known of the table: it is tried again at once
    assert one.find(5, [("a", Decimal(1), None)])
    assert not one.find(10, None)
    assert written(one) == [("gap", 10, None), ("beat", 19, None)]
    assert latest_tick(one.log.folder) == 19
    query = transom.compile("RSTREAM(SELECT zone FROM tariff [SCAN 10 SEC])", catalog)
    assert [(e.tick, e.row) for e in query.simulate(until=15).elements] == [(10, ("a",))]
    assert one.find(20, [])
    assert [(e.tick, e.row) for e in query.simulate(until=25).elements] == [(10, ("a",))]


def test_a_failed_scan_of_every_tick_holds_up_nobody(tmp_path):
    catalog = transom.Catalog.read(CATALOG.replace("every: 10 s", "every: 1 s"), folder=tmp_path)
    one = list_scanner(catalog, "tariff", tmp_path)
    assert one.find(4, [("a", Decimal(1), None)])
    assert written(one) == [("row", 4, "a"), ("beat", 4, None)]
    for tick in (5, 6):
        assert not one.find(tick, None)
        assert written(one) == [("gap", tick, None), ("beat", tick, None)]
    one.log.close()


def test_scans_that_were_missed_are_told_and_hold_up_nobody(one, catalog):
    now = 3

    def clock():
        return catalog.calendar.instant_of(now)

    one.clock = clock
    assert one.next() == 3  # the first one is at once
    one.find(3, [("a", Decimal(1), None)])
    assert one.next() == 10
    now = 12
    assert latest_tick(one.log.folder) == 9
    assert one.next() == 20
    assert written(one) == [("gap", None, None), ("beat", 19, None)]
    assert one.next() == 20
    now = 45
    assert one.next() == 50
    assert pq.read_table(segments(one.log.folder)[-1]).to_pylist()[0]["_words"] == "scans of ticks 20 to 40"
    assert one.counts["the collector was down"] == 4
    query = transom.compile("RSTREAM(SELECT zone FROM tariff [SCAN 10 SEC])", catalog)
    assert [e.tick for e in query.simulate(until=49).elements] == [10, 20, 30, 40]


def test_the_first_megabyte_of_a_dead_row_is_kept(one):
    one.find(0, [("x" * (3 << 20), "much", None)])
    [dead, *_] = pq.read_table(segments(one.log.folder)[-1]).to_pylist()
    assert (dead["_kind"], len(dead["_raw"])) == ("dead", 1 << 20)
