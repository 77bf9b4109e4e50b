"""Plans for Spark, without a JVM: every node can be reached, every choice has a reason, and some plans word by word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import transom
from tests.cases import catalog_of, golden_cases
from tests.oracle.generate import generate
from tests.oracle_cql.build import Names
from tests.oracle_cql.build import plan as plan_of_cql
from tests.oracle_cql.question import question as question_of_cql
from transom.algebra.expressions import Column
from transom.algebra.relations import WindowFirst
from transom.algebra.streams import RStream
from transom.algebra.tree import walk as walk_algebra
from transom.algebra.windows import Between, Bound, Coordinate, Every, Window, time_window
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Kind
from transom.errors import PlanError, Unsupported
from transom.physical import gaps
from transom.physical.arrange import arrange
from transom.physical.change_join import ChangeJoin
from transom.physical.choices import FEW_KEYS
from transom.physical.lines import Grown, LineNode, Lines, Relate, Steady, Tally, Turn
from transom.physical.node import Clock, Physical
from transom.physical.plan import (
    Changes,
    Collect,
    Compare,
    Cut,
    Exist,
    Form,
    Group,
    Meet,
    Meeting,
    Number,
    Product,
    Read,
    ReadTable,
    RowNode,
    Slide,
    Spread,
    Stay,
    UnionAll,
)
from transom.physical.plan import Path as Way
from transom.physical.walk import walk

GOLDEN = Path(__file__).parents[1] / "golden" / "physical"
CATALOG = Catalog.from_dict(
    {
        "extents": {
            "road": {"kind": "sensed", "attributes": ["site:integer", "temp:integer"], "every": "2 s", "sites": [1, 2]},
            "traffic": {"kind": "pushed", "attributes": ["site:integer", "weight:integer"], "rate": "5 per s"},
            "cars": {"kind": "pushed", "attributes": ["site:integer", "speed:integer"], "rate": "3 per s"},
            "lim": {"kind": "stored", "attributes": ["site:integer", "most:integer"], "rows": 10},
            "tariff": {
                "kind": "stored",
                "attributes": ["site:integer", "price:integer"],
                "rows": 10,
                "source": {"postgresql": {"url": "postgresql://db", "table": "tariff", "every": "1 min"}},
            },
        }
    }
)
TIME, ROWS = "[FROM NOW-4 TO NOW SLIDE 2 SEC]", "[FROM NOW-2 TO NOW SLIDE 1 ROW]"
TUMBLING = "[FROM NOW-1 TO NOW SLIDE 2 SEC]"
WORDED = {
    "stream": "SELECT site, weight FROM traffic WHERE weight > 10",
    "panes": f"SELECT site, MAX(weight), COUNT(*) FROM traffic {TIME} GROUP BY site",
    "whole-windows": "SELECT COUNT(*) FROM road [FROM NOW-1 TO NOW SLIDE 2 SEC]",
    "join-by-time": f"ISTREAM(SELECT weight, speed FROM traffic {TIME} AS t, cars {TIME} AS c WHERE t.site = c.site)",
    "row-windows": f"DSTREAM(SELECT weight, speed FROM traffic {ROWS} AS t, cars {TIME} AS c WHERE t.site = c.site)",
    "table": f"RSTREAM(SELECT t.weight, lim.most FROM traffic {TIME} AS t, lim [SCAN 10 SEC] WHERE t.site = lim.site)",
    "table-alone": "SELECT most FROM lim WHERE site = 1",
    "scans": f"RSTREAM(SELECT t.weight, tariff.price FROM traffic {TIME} AS t, tariff [SCAN 3 SEC] "
    "WHERE t.site = tariff.site)",
    "scans-alone": "ISTREAM(SELECT COUNT(*) AS n, price FROM tariff [SCAN 10 SEC] GROUP BY price)",
}


SPACE = transom.Catalog.from_dict(
    {
        "extents": {
            "steady": {
                "kind": "pushed",
                "attributes": ["x:float", "y:float", "id:string", "v:integer"],
                "position": {"x": "x", "y": "y", "unit": "m"},
                "object": "id",
                "max_speed": "50 km/h",
            },
            "lim": {"kind": "stored", "attributes": ["most:integer"]},
        }
    }
)
ByKey = Lines | Tally | Steady | Turn | Grown | Relate | ChangeJoin
"""Nodes whose machine works for each key, or for whole relations."""


def ask(text: str, *, index: bool = False, start: int = 0) -> Physical:
    return transom.compile(text, CATALOG).physical(index=index, start=start)


def only(plan: Physical, kind: type) -> Physical:
    found = [node for node in walk(plan) if isinstance(node, kind)]
    assert len(found) == 1, f"{len(found)} of {kind.__name__}"
    return found[0]


@cache
def generated() -> tuple[Physical, ...]:
    return tuple(_generated())


def _generated() -> Iterator[Physical]:
    for seed in range(150):
        question = generate(seed)
        query = transom.compile(question.text, catalog_of(question.schema))
        for index in (False, True):
            wanted = index and query.gives == "tagged-tuples"
            yield query.physical(index=wanted, start=seed % 3, kernel=seed % 2 == 1)
        yield from _growing(query, seed)
    for seed in range(150):
        yield arrange(plan_of_cql(question_of_cql(seed)), start=seed % 3, kernel=seed % 2 == 1)
    jumps = transom.compile("SELECT RStream(id) FROM steady [PARTITION BY id ROWS 2]", SPACE, language="cql")
    yield jumps.physical()
    nearest = WindowFirst(time_window(Names("a").stream, 5, 0, 1), (), Column(Names("a").v), 2)
    yield arrange(RStream(nearest))
    table = "SELECT IStream(a.v, lim.most) FROM steady AS a [ROWS 2], lim WHERE a.v = lim.most"
    yield transom.compile(table, SPACE, language="cql").physical()


def _growing(query: transom.Query, seed: int) -> Iterator[Physical]:
    """The same with tables that are scanned while the query runs."""
    tables = [extent.name for extent in query.reads if extent.kind is Kind.STORED]
    try:
        if tables:
            yield arrange(query.plan, start=seed % 3, kernel=seed % 2 == 1, growing=tables)
    except Unsupported as gap:
        assert gap.construct in (gaps.FOLLOWED_ORDER.construct, gaps.FOLLOWED_ONCE.construct)  # noqa: PT017 - a declared gap


def test_every_node_is_reached_and_gives_its_reason() -> None:
    seen: Counter[type] = Counter()
    for plan in generated():
        for node in walk(plan):
            seen[type(node)] += 1
            assert node.choice.rule
            assert len(node.choice.reason.split()) >= 3, node
            if node.choice.path is Way.MACHINE:
                assert isinstance(node, Cut | Clock | Product | Compare | Number | Meet | Spread | ByKey), node
                assert not isinstance(node, Meet) or node.how is Meeting.SCANS
            elif node.choice.path is Way.KERNEL:
                assert isinstance(node, Cut | Clock | Product | Compare | Number | Slide | Meet | Spread | ByKey), node
    only_in_sparql = {UnionAll}
    assert set(seen) == {*get_args(RowNode), *get_args(LineNode), ChangeJoin} - only_in_sparql


def test_forms_fit() -> None:
    """What a node gives is what the one above it takes."""
    for plan in generated():
        for node in walk(plan):
            match node:
                case Stay(input=below) | Cut(input=below) | Number(input=below):
                    assert below.form is Form.STREAM
                case Meet(left=left, right=right):
                    other = Form.SCANS if node.how is Meeting.SCANS else Form.TABLE
                    assert {left.form, right.form} <= {Form.STAYS, other}
                case ChangeJoin(left=left, right=right):
                    assert right is not None
                    assert {left.form, right.form} == {Form.CHANGES}
                case Product(left=left, right=right):
                    assert Form.WINDOWS in (left.form, right.form)
                    assert (left.form is Form.WINDOWS) is (node.left_clock is None)
                    assert (right.form is Form.WINDOWS) is (node.right_clock is None)
                case Compare(input=below):
                    assert below.form is Form.WINDOWS
                case Changes(input=below):
                    assert below.form in (Form.STAYS, Form.TICKS)
                case Spread(input=below):
                    assert below.form in (Form.STAYS, Form.TABLE, Form.SCANS)
                    assert (below.form is not Form.STAYS) is (node.clock is not None)
                case _:
                    pass
        assert isinstance(plan, Collect) or plan.form is Form.STREAM


@pytest.mark.parametrize("name", WORDED)
def test_golden_plan(name: str, rewrite: bool) -> None:
    query = transom.compile(WORDED[name], CATALOG)
    portable, fast = query.explain("plan", kernel="off"), query.explain("plan")
    text = f"{query.text}\n\n{portable}\n" + (f"\nwith the kernel:\n{fast}\n" if fast != portable else "")
    path = GOLDEN / f"{name}.txt"
    if rewrite:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def test_no_golden_plan_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(WORDED)


def test_time_windows_are_native() -> None:
    plan = ask("SELECT weight FROM traffic [FROM NOW-5 TO NOW-2 SLIDE 3 SEC]")
    stay = only(plan, Stay)
    assert isinstance(stay, Stay)
    assert (stay.past, stay.until, stay.slide, stay.longest) == (5, 2, 3, 6)
    assert [type(n) for n in walk(plan) if n.choice.path is Way.MACHINE] == [Clock]


def test_panes_only_where_a_tuple_is_in_several_windows() -> None:
    for window, panes in ((TIME, True), ("[FROM NOW-1 TO NOW SLIDE 2 SEC]", False), (ROWS, False)):
        group = only(ask(f"SELECT SUM(weight) FROM traffic {window}"), Group)
        assert isinstance(group, Group)
        assert group.panes is panes
        assert (group.clock is None) is (window is ROWS)


def test_the_order_of_rows_is_read_only_where_it_is_asked_for() -> None:
    text = f"ISTREAM(SELECT weight FROM traffic {TIME})"
    free, ordered = ask(text), ask(text, index=True)
    assert isinstance(free, Changes)
    assert not any(isinstance(n, Compare | Number | Exist) for n in walk(free))
    assert not any(n.ordered for n in walk(free))
    assert isinstance(ordered, Number)
    assert only(ordered, Compare).ordered
    assert only(ordered, Read).ordered


def test_an_index_that_is_selected_is_counted() -> None:
    assert isinstance(only(ask("SELECT index, weight FROM traffic"), Number), Number)
    assert not any(isinstance(n, Number) for n in walk(ask("SELECT tick, weight FROM traffic")))


def test_joins_go_by_keys() -> None:
    where = "t.site = c.site AND t.weight > c.speed"
    meet = only(ask(f"SELECT t.weight FROM traffic {TIME} AS t, cars {TIME} AS c WHERE {where}"), Meet)
    assert isinstance(meet, Meet)
    assert (len(meet.equal), meet.cell, meet.longest) == (1, 6, 6)
    product = only(ask(f"SELECT t.weight FROM traffic {ROWS} AS t, cars {ROWS} AS c WHERE t.site = c.site"), Product)
    free = only(ask(f"SELECT t.weight FROM traffic {ROWS} AS t, cars {ROWS} AS c"), Product)
    assert isinstance(product, Product)
    assert isinstance(free, Product)
    assert product.buckets > 1
    assert free.buckets == 1


def test_a_later_start_moves_every_schedule() -> None:
    plan = ask("SELECT t.weight FROM traffic [FROM NOW TO NOW SLIDE 4 SEC] AS t, lim [SCAN 10 SEC]", start=7)
    table = only(plan, ReadTable)
    assert isinstance(table, ReadTable)
    assert table.schedule.first == 10
    clock = only(plan, Clock)
    assert isinstance(clock, Clock)
    assert (clock.schedule.periods, clock.schedule.first) == ((4, 10), 10)


def test_more_slack_needs_more_memory() -> None:
    query = transom.compile(f"ISTREAM(SELECT weight FROM traffic {TIME})", CATALOG)
    few, many = (query.physical(slack=slack).choice.state for slack in (1, 50))
    least, most = (query.state_of(state).rows for state in (few, many))
    assert least is not None
    assert most is not None
    assert least < most


@pytest.mark.parametrize(
    ("slide", "range_"),
    [
        (Every(Coordinate.TICK, 2), Between(Coordinate.TICK, Bound(2, -2), Bound(2, 3))),
        (Every(Coordinate.TICK, 2, 5), Between(Coordinate.TICK, Bound(2, -2), Bound(2, 0))),
    ],
)
def test_windows_of_no_language_are_refused(slide: Every, range_: Between) -> None:
    query = transom.compile("SELECT weight FROM traffic [FROM NOW-2 TO NOW SLIDE 2 SEC]", CATALOG, optimize=False)
    window = next(op for op in walk_algebra(query.plan) if isinstance(op, Window))
    with pytest.raises(PlanError, match="tick, or by row"):
        arrange(replace(window, slide=slide, range=range_))


def test_every_golden_case_has_a_plan() -> None:
    for case in golden_cases():
        if case.expected["kind"] != "error":
            query = transom.compile(case.text, catalog_of(case.schema))
            plan = query.physical()
            assert isinstance(plan, Collect) is (query.gives == "windows")


@pytest.mark.parametrize(
    ("keys", "window", "node"),
    [
        (None, TUMBLING, Slide),
        (FEW_KEYS, TUMBLING, Slide),
        (FEW_KEYS - 1, TUMBLING, Group),
        (FEW_KEYS - 1, TIME, Slide),
        (1, TIME, Slide),
    ],
)
def test_few_keys_are_added_up_before_they_are_shuffled(keys: int | None, window: str, node: type[Physical]) -> None:
    """Only where a row is in one window: where it is in several, the kernel is faster with any number of keys."""
    entry = {"kind": "pushed", "attributes": ["site:integer", "weight:integer"]} | ({"keys": keys} if keys else {})
    catalog = Catalog.from_dict({"extents": {"traffic": entry}})
    query = transom.compile(f"SELECT site, SUM(weight) FROM traffic {window} GROUP BY site", catalog)
    assert {type(n) for n in walk(query.physical(kernel=True))} & {Slide, Group} == {node}
    assert {type(n) for n in walk(query.physical())} & {Slide, Group} == {Group}
