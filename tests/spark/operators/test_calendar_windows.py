"""Calendar windows on Spark: golden cases, generated cases against brute force, and plans around such windows.

A generated case is a window over the rows around one change of clocks. All changes of a zone go through one query: the
column `k` of a row is the number of its change.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.calendar_windows.brute import Form, windows
from tests.calendar_windows.cases import FORMS, ZONES, around, catalog, changes, language_of, spread, text
from tests.calendar_windows.golden import golden_cases
from tests.cases import inputs_of
from tests.spark.together import Relational, differences
from tests.spark.trying import SPLITS, replay, stream
from transom.errors import Unsupported
from transom.model.answer import Answer
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results.rows import row_difference

EPOCH, END = datetime(2008, 1, 1, tzinfo=UTC), datetime(2017, 6, 1, tzinfo=UTC)
MINUTES = 15
CHANGES = 12
"""The most changes of clocks of a zone."""

SEED = 20261119
NIGHTLY = pytest.mark.nightly


@cache
def rows(zone: str) -> tuple[tuple[int, datetime], ...]:
    """The rows of a zone: the number of a change of clocks, and an instant near it."""
    draw = random.Random(f"{SEED} {zone}")
    chosen = sorted(draw.sample(changes(zone), min(CHANGES, len(changes(zone)))))
    found: set[tuple[int, datetime]] = set()
    for k, change in enumerate(chosen):
        near = around(change, MINUTES, draw) + spread(change - timedelta(days=40), change, MINUTES, draw)
        found |= {(k, moment) for moment in near}
    return tuple(sorted(found, key=lambda row: (row[1], row[0])))


def tick(instant: datetime) -> int:
    return (instant - EPOCH) // timedelta(minutes=MINUTES)


def asked(zone: str, form: Form) -> Relational:
    """The query of a form over all rows of a zone."""
    language = language_of(form, random.Random(f"{zone} {form}"))
    written = text(zone, form, language, "SELECT k, v" if language == "sneeql" else "SELECT RSTREAM(k, v)")
    written = f"RSTREAM({written})" if language == "sneeql" else written
    query = transom.compile(written, catalog(EPOCH, MINUTES), language=language)
    given = [(tick(moment), k, n) for n, (k, moment) in enumerate(rows(zone))]
    return Relational(f"{zone}, {form}", query, query.inputs({"s": given}, until=tick(END)))


def cases(zone: str, form: Form, answer: Answer) -> tuple[int, list[str]]:
    """How many cases a query has, one per change of clocks, and what is wrong with some."""
    moments = [moment for _, moment in rows(zone)]
    walked = windows(zone, form, moments, EPOCH, END)
    expected: dict[int, list[tuple[int, int]]] = {k: [] for k, _ in rows(zone)}
    for instant, members in walked:
        for n in members:
            expected[rows(zone)[n][0]].append((tick(instant), n))
    found: dict[int, list[tuple[int, int]]] = {k: [] for k in expected}
    for element in answer.elements:
        found[element.row[0]].append((element.tick, element.row[1]))  # type: ignore[index, arg-type]
    wrong = [f"{zone}, {form}, change {k}" for k in expected if sorted(expected[k]) != sorted(found[k])]
    assert all(expected.values())
    return len(expected), wrong


def check(spark: Any, chosen: list[tuple[str, Form]], kernel: KernelMode) -> int:
    """Run the queries of some zones and forms, and compare every case with brute force; returns how many there are."""
    by_name = {f"{zone}, {form}": (zone, form) for zone, form in chosen}
    counts: list[int] = []

    def differs(name: str, answer: Answer) -> str | None:
        count, wrong = cases(*by_name[name], answer)
        counts.append(count)
        return "; ".join(wrong) or None

    queries = [asked(*one) for one in chosen]
    assert differences(spark, queries, None, kernel, differs) == {}
    return sum(counts)


@NIGHTLY
def test_a_form_in_every_zone(spark: Any) -> None:
    chosen = [(zone, FORMS[n % len(FORMS)]) for n, zone in enumerate(ZONES)]
    assert check(spark, chosen, "on") >= 60


@pytest.mark.nightly
@pytest.mark.parametrize("zone", ZONES)
def test_every_form(spark: Any, zone: str) -> None:
    assert check(spark, [(zone, form) for form in FORMS], "on") >= 20


def test_at_least_500_cases_run_by_night() -> None:
    assert sum(len({k for k, _ in rows(zone)}) for zone in ZONES) * len(FORMS) >= 500


@NIGHTLY
@pytest.mark.parametrize("kernel", ["on", "off"])
def test_golden_cases_as_replays(spark: Any, kernel: KernelMode) -> None:
    chosen = golden_cases() if kernel == "on" else golden_cases()[::3]
    expected = {case.name: case.compile().simulate(given(case), until=case.until) for case in chosen}
    queries = [
        Relational(case.name, query, query.inputs(given(case), until=case.until))
        for case in chosen
        for query in [case.compile()]
    ]
    wrong = differences(
        spark, queries, None, kernel, lambda name, answer: row_difference(expected[name], answer, index=False)
    )
    assert wrong == {}


@pytest.mark.parametrize("split", [pytest.param("one-row", marks=NIGHTLY), "uneven-3"])
def test_golden_cases_as_streams(spark: Any, split: str) -> None:
    for case in golden_cases()[:: 5 if split == "one-row" else 4]:
        query = case.compile()
        answer = stream(query, spark, query.inputs(given(case), until=case.until), SPLITS[split])
        assert row_difference(query.simulate(given(case), until=case.until), answer, index=False) is None, case.name


def given(case: Any) -> dict[str, Any]:
    return inputs_of(case.schema, case.inputs)


DAY = "RANGE '1 day', SLIDE '1 day' AT 'Europe/Berlin'"
AROUND = {
    "panes": f"SELECT k, COUNT(*) AS n, SUM(v) FROM s [{DAY.replace('1 day', '3 days', 1)}] GROUP BY k",
    "groups": f"SELECT k, MAX(v) FROM s [{DAY}] WHERE v > 3 GROUP BY k HAVING COUNT(*) > 1",
    "distinct": f"SELECT DISTINCT k FROM s [{DAY}]",
    "top": f"SELECT k, v FROM s [{DAY}] FIRST 2 PER k BY v",
    "join": f"SELECT a.v, b.v FROM s [{DAY}] AS a JOIN u [{DAY}] AS b ON a.k = b.k",
    "join of two slides": (
        f"SELECT a.v, b.v FROM s [{DAY}] AS a, u [RANGE '2 days', SLIDE '1 week' AT 'Europe/Berlin'] AS b "
        "WHERE a.k = b.k"
    ),
    "join of two zones": (
        f"SELECT a.v, b.v FROM s [{DAY}] AS a, u [{DAY.replace('Berlin', 'London')}] AS b WHERE a.k = b.k"
    ),
    "join with hours": (
        f"SELECT a.v, b.v FROM s [{DAY}] AS a, u [RANGE '5 hours', SLIDE '6 hours'] AS b WHERE a.k = b.k"
    ),
    "left join": f"SELECT a.v, b.v FROM s [{DAY}] AS a LEFT JOIN u [{DAY}] AS b ON a.k = b.k",
    "union": f"SELECT v FROM s [{DAY}] UNION SELECT v FROM u [RANGE '2 days', SLIDE '1 day' AT 'Europe/Berlin']",
    "changes": f"SELECT ISTREAM(v) FROM s [{DAY.replace('1 day', '2 days', 1)}]",
    "deletions": f"SELECT DSTREAM(k, v) FROM s [{DAY}]",
    "table": f"SELECT v, name FROM s [{DAY}], t WHERE s.k = t.k",
}
TEXTS = {name: (written, "cql") for name, written in AROUND.items()} | {
    "product with scans": (
        "SELECT v, name FROM s [FROM NOW-1 TO NOW SLIDE 1 DAY AT 'Europe/Berlin'], t [SCAN 6 HOUR] WHERE s.k = t.k",
        "sneeql",
    ),
    "rows in order": (
        "SELECT MAX(v) FROM (RSTREAM(SELECT v FROM s [FROM NOW-2 TO NOW SLIDE 1 DAY AT 'Europe/Berlin'])) AS r "
        "[FROM NOW-2 TO NOW SLIDE 2 ROWS]",
        "sneeql",
    ),
    "a day of aggregates": (
        "SELECT COUNT(*), MIN(r.v) FROM (RSTREAM(SELECT v FROM s [FROM NOW TO NOW SLIDE 5 HOUR])) AS r "
        "[FROM NOW-1 TO NOW SLIDE 1 DAY AT 'Europe/Berlin']",
        "sneeql",
    ),
    "the tick of a row": (
        "SELECT v, s.tick AS came FROM s [FROM NOW-2 TO NOW-1 SLIDE 1 DAY AT 'Europe/Berlin']",
        "sneeql",
    ),
}
CATALOG = {
    "tick": "1 h",
    "epoch": "2026-03-20T10:00:00Z",
    "extents": {
        "s": "pushed (k:integer, v:integer)",
        "u": "pushed (k:integer, v:integer)",
        "t": "stored (k:integer, name:string)",
    },
}
UNTIL = 24 * 16


def around_inputs(query: transom.Query) -> dict[str, Any]:
    """Rows of two streams and a table, as far as a query reads them."""
    draw = random.Random(7)
    streams = {name: sorted((draw.randint(0, UNTIL), draw.randint(1, 3), n) for n in range(60)) for name in ("s", "u")}
    tables = {"t": {0: [(1, "a"), (2, "b")], 100: [(1, "a"), (3, "c")], 222: [(2, "d")]}}
    read = {source.name for source in query.sources}
    return {name: found for name, found in (streams | tables).items() if name in read}


@cache
def around_query(name: str) -> tuple[Relational, Answer]:
    written, language = TEXTS[name]
    query = transom.compile(written, CATALOG, language=language)
    inputs = query.inputs(around_inputs(query), until=UNTIL)
    return Relational(name, query, inputs), query.simulate(around_inputs(query), until=UNTIL)


@pytest.mark.parametrize("kernel", ["on", pytest.param("off", marks=NIGHTLY)])
def test_operators_over_calendar_windows(spark: Any, kernel: KernelMode) -> None:
    queries = [around_query(name)[0] for name in TEXTS]

    def differs(name: str, answer: Answer) -> str | None:
        return row_difference(around_query(name)[1], answer, index=False)

    assert differences(spark, queries, None, kernel, differs) == {}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NIGHTLY) for name in ("panes", "join", "deletions", "product with scans")]
)
def test_operators_over_calendar_windows_as_streams(spark: Any, name: str) -> None:
    query, expected = around_query(name)
    answer = stream(query.query, spark, query.inputs, SPLITS["uneven-3"])
    assert row_difference(expected, answer, index=False) is None


@pytest.mark.nightly
def test_the_time_zone_of_the_session_makes_no_difference(spark: Any) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    query, expected = around_query("panes")
    assert row_difference(expected, replay(query.query, session, query.inputs), index=False) is None


def test_windows_by_key_are_refused() -> None:
    text = f"SELECT RSTREAM(v) FROM s [PARTITION BY k {DAY}]"
    query = transom.compile(text, CATALOG, language="cql")
    assert query.simulate(around_inputs(query), until=UNTIL).elements
    with pytest.raises(Unsupported, match="windows by key") as caught:
        query.explain("plan")
    assert "GROUP BY" in (caught.value.hint or "")


def test_rows_after_the_last_known_day_stop_the_query(spark: Any) -> None:
    query, _ = around_query("panes")
    rows = {"s": [("2100-01-02T00:00:00Z", 1, 1)]}
    last = query.query.catalog.calendar.tick_of(datetime(2100, 1, 3, tzinfo=UTC))
    inputs = query.query.inputs(rows, until=last)
    with pytest.raises(Exception, match="end with the year 2099"):
        replay(query.query, spark, inputs)
