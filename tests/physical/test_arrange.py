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
from tests.calendar_windows.golden import golden_cases as calendar_cases
from tests.cases import catalog_of, golden_cases
from tests.oracle.generate import generate
from tests.oracle_cql.build import Names
from tests.oracle_cql.build import plan as plan_of_cql
from tests.oracle_cql.question import question as question_of_cql
from transom.algebra.expressions.expression import Column
from transom.algebra.relations import WindowTopK
from transom.algebra.streams import RStream
from transom.algebra.tree import walk as walk_algebra
from transom.algebra.windows import Bound, Coordinate, CoordinateRange, Every, Window, time_window
from transom.catalog.catalog import Catalog
from transom.catalog.extent import ExtentKind
from transom.errors import PlanError, Unsupported
from transom.physical import gaps
from transom.physical.decisions import FEW_KEYS
from transom.physical.nodes.change_join import ChangeJoin
from transom.physical.nodes.keyed_windows import (
    CombineRelations,
    KeyedWindow,
    KeyedWindowAggregate,
    RelationNode,
    SpeedLimitExec,
    SuppressUnchangedExec,
    WindowsToChanges,
)
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import (
    CollectWindows,
    ExpandWindows,
    Form,
    IntervalDiff,
    IntervalJoin,
    JoinStrategy,
    ReadStream,
    ReadTable,
    RowNode,
    RowNumber,
    RowWindow,
    SlidingWindowAggregate,
    TimeWindow,
    UnionAll,
    WindowAggregate,
    WindowDiff,
    WindowMarkers,
    WindowProduct,
)
from transom.physical.nodes.windows import Executor as Way
from transom.physical.planner.planner import plan_query

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
ByKey = (
    KeyedWindow
    | KeyedWindowAggregate
    | SpeedLimitExec
    | WindowsToChanges
    | SuppressUnchangedExec
    | CombineRelations
    | ChangeJoin
)
"""Nodes whose machine works for each key, or for whole relations."""


def ask(text: str, *, index: bool = False, start: int = 0) -> PhysicalNode:
    return transom.compile(text, CATALOG).physical(index=index, start=start)


def only(plan: PhysicalNode, kind: type) -> PhysicalNode:
    found = [node for node in walk(plan) if isinstance(node, kind)]
    assert len(found) == 1, f"{len(found)} of {kind.__name__}"
    return found[0]


@cache
def generated() -> tuple[PhysicalNode, ...]:
    return tuple(_generated())


def _generated() -> Iterator[PhysicalNode]:
    for case in calendar_cases():
        yield case.compile().physical(kernel=len(case.name) % 2 == 1)
    for seed in range(150):
        question = generate(seed)
        query = transom.compile(question.text, catalog_of(question.schema))
        for index in (False, True):
            wanted = index and query.result_kind == "tagged-tuples"
            yield query.physical(index=wanted, start=seed % 3, kernel=seed % 2 == 1)
        yield from _growing(query, seed)
    for seed in range(150):
        yield plan_query(plan_of_cql(question_of_cql(seed)), start=seed % 3, kernel=seed % 2 == 1)
    jumps = transom.compile("SELECT RStream(id) FROM steady [PARTITION BY id ROWS 2]", SPACE, language="cql")
    yield jumps.physical()
    nearest = WindowTopK(time_window(Names("a").stream, 5, 0, 1), (), Column(Names("a").v), 2)
    yield plan_query(RStream(nearest))
    table = "SELECT IStream(a.v, lim.most) FROM steady AS a [ROWS 2], lim WHERE a.v = lim.most"
    yield transom.compile(table, SPACE, language="cql").physical()


def _growing(query: transom.Query, seed: int) -> Iterator[PhysicalNode]:
    """The same with tables that are scanned while the query runs."""
    tables = [extent.name for extent in query.sources if extent.kind is ExtentKind.STORED]
    try:
        if tables:
            yield plan_query(query.optimized, start=seed % 3, kernel=seed % 2 == 1, followed_tables=tables)
    except Unsupported as gap:
        assert gap.construct in (gaps.FOLLOWED_ORDER.construct, gaps.FOLLOWED_WITHOUT_SCAN.construct)  # noqa: PT017 - a declared gap


def test_every_node_is_reached_and_gives_its_reason() -> None:
    seen: Counter[type] = Counter()
    for plan in generated():
        for node in walk(plan):
            seen[type(node)] += 1
            assert node.decision.rule
            assert len(node.decision.reason.split()) >= 3, node
            if node.decision.executor is Way.MACHINE:
                assert isinstance(
                    node,
                    RowWindow
                    | ReadClock
                    | WindowProduct
                    | WindowDiff
                    | RowNumber
                    | IntervalJoin
                    | ExpandWindows
                    | ByKey,
                ), node
                assert not isinstance(node, IntervalJoin) or node.how is JoinStrategy.SCANS
            elif node.decision.executor is Way.KERNEL:
                assert isinstance(
                    node,
                    RowWindow
                    | ReadClock
                    | WindowProduct
                    | WindowDiff
                    | RowNumber
                    | SlidingWindowAggregate
                    | IntervalJoin
                    | ExpandWindows
                    | ByKey,
                ), node
    only_in_sparql = {UnionAll}
    assert set(seen) == {*get_args(RowNode), *get_args(RelationNode), ChangeJoin} - only_in_sparql


def test_forms_fit() -> None:
    """What a node gives is what the one above it takes."""
    for plan in generated():
        for node in walk(plan):
            match node:
                case TimeWindow(input=below) | RowWindow(input=below) | RowNumber(input=below):
                    assert below.form is Form.STREAM
                case IntervalJoin(left=left, right=right):
                    other = Form.SCANS if node.how is JoinStrategy.SCANS else Form.TABLE
                    assert {left.form, right.form} <= {Form.INTERVALS, other}
                case ChangeJoin(left=left, right=right):
                    assert right is not None
                    assert {left.form, right.form} == {Form.CHANGES}
                case WindowProduct(left=left, right=right):
                    assert Form.WINDOWS in (left.form, right.form)
                    assert (left.form is Form.WINDOWS) is (node.left_clock is None)
                    assert (right.form is Form.WINDOWS) is (node.right_clock is None)
                case WindowDiff(input=below):
                    assert below.form is Form.WINDOWS
                case IntervalDiff(input=below):
                    assert below.form in (Form.INTERVALS, Form.TICKS)
                case ExpandWindows(input=below):
                    assert below.form in (Form.INTERVALS, Form.TABLE, Form.SCANS)
                    assert (below.form is not Form.INTERVALS) is (node.clock is not None)
                case _:
                    pass
        assert isinstance(plan, CollectWindows) or plan.form is Form.STREAM


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
    stay = only(plan, TimeWindow)
    assert isinstance(stay, TimeWindow)
    assert (stay.past, stay.until, stay.slide, stay.longest) == (5, 2, 3, 6)
    assert [type(n) for n in walk(plan) if n.decision.executor is Way.MACHINE] == [ReadClock]


def test_panes_only_where_a_tuple_is_in_several_windows() -> None:
    for window, panes in ((TIME, True), ("[FROM NOW-1 TO NOW SLIDE 2 SEC]", False), (ROWS, False)):
        group = only(ask(f"SELECT SUM(weight) FROM traffic {window}"), WindowAggregate)
        assert isinstance(group, WindowAggregate)
        assert group.panes is panes
        assert (group.clock is None) is (window is ROWS)


def test_the_order_of_rows_is_read_only_where_it_is_asked_for() -> None:
    text = f"ISTREAM(SELECT weight FROM traffic {TIME})"
    free, ordered = ask(text), ask(text, index=True)
    assert isinstance(free, IntervalDiff)
    assert not any(isinstance(n, WindowDiff | RowNumber | WindowMarkers) for n in walk(free))
    assert not any(n.ordered for n in walk(free))
    assert isinstance(ordered, RowNumber)
    assert only(ordered, WindowDiff).ordered
    assert only(ordered, ReadStream).ordered


def test_an_index_that_is_selected_is_counted() -> None:
    assert isinstance(only(ask("SELECT index, weight FROM traffic"), RowNumber), RowNumber)
    assert not any(isinstance(n, RowNumber) for n in walk(ask("SELECT tick, weight FROM traffic")))


def test_joins_go_by_keys() -> None:
    where = "t.site = c.site AND t.weight > c.speed"
    meet = only(ask(f"SELECT t.weight FROM traffic {TIME} AS t, cars {TIME} AS c WHERE {where}"), IntervalJoin)
    assert isinstance(meet, IntervalJoin)
    assert (len(meet.equal), meet.cell, meet.longest) == (1, 6, 6)
    product = only(
        ask(f"SELECT t.weight FROM traffic {ROWS} AS t, cars {ROWS} AS c WHERE t.site = c.site"), WindowProduct
    )
    free = only(ask(f"SELECT t.weight FROM traffic {ROWS} AS t, cars {ROWS} AS c"), WindowProduct)
    assert isinstance(product, WindowProduct)
    assert isinstance(free, WindowProduct)
    assert product.buckets > 1
    assert free.buckets == 1


def test_a_later_start_moves_every_schedule() -> None:
    plan = ask("SELECT t.weight FROM traffic [FROM NOW TO NOW SLIDE 4 SEC] AS t, lim [SCAN 10 SEC]", start=7)
    table = only(plan, ReadTable)
    assert isinstance(table, ReadTable)
    assert table.schedule.first == 10
    clock = only(plan, ReadClock)
    assert isinstance(clock, ReadClock)
    assert (clock.schedule.periods, clock.schedule.first) == ((4, 10), 10)


def test_more_slack_needs_more_memory() -> None:
    query = transom.compile(f"ISTREAM(SELECT weight FROM traffic {TIME})", CATALOG)
    few, many = (query.physical(slack=slack).decision.state for slack in (1, 50))
    least, most = (query.state_of(state).rows for state in (few, many))
    assert least is not None
    assert most is not None
    assert least < most


@pytest.mark.parametrize(
    ("slide", "range_"),
    [
        (Every(Coordinate.TICK, 2), CoordinateRange(Coordinate.TICK, Bound(2, -2), Bound(2, 3))),
        (Every(Coordinate.TICK, 2, 5), CoordinateRange(Coordinate.TICK, Bound(2, -2), Bound(2, 0))),
    ],
)
def test_windows_of_no_language_are_refused(slide: Every, range_: CoordinateRange) -> None:
    query = transom.compile("SELECT weight FROM traffic [FROM NOW-2 TO NOW SLIDE 2 SEC]", CATALOG, optimize=False)
    window = next(op for op in walk_algebra(query.optimized) if isinstance(op, Window))
    with pytest.raises(PlanError, match="both in ticks, or both in rows"):
        plan_query(replace(window, slide=slide, range=range_))


def test_every_golden_case_has_a_plan() -> None:
    for case in golden_cases():
        if case.expected["kind"] != "error":
            query = transom.compile(case.text, catalog_of(case.schema))
            plan = query.physical()
            assert isinstance(plan, CollectWindows) is (query.result_kind == "windows")


@pytest.mark.parametrize(
    ("keys", "window", "node"),
    [
        (None, TUMBLING, SlidingWindowAggregate),
        (FEW_KEYS, TUMBLING, SlidingWindowAggregate),
        (FEW_KEYS - 1, TUMBLING, WindowAggregate),
        (FEW_KEYS - 1, TIME, SlidingWindowAggregate),
        (1, TIME, SlidingWindowAggregate),
    ],
)
def test_few_keys_are_added_up_before_they_are_shuffled(
    keys: int | None, window: str, node: type[PhysicalNode]
) -> None:
    """Only where a row is in one window: where it is in several, the kernel is faster with any number of keys."""
    entry = {"kind": "pushed", "attributes": ["site:integer", "weight:integer"]} | ({"keys": keys} if keys else {})
    catalog = Catalog.from_dict({"extents": {"traffic": entry}})
    query = transom.compile(f"SELECT site, SUM(weight) FROM traffic {window} GROUP BY site", catalog)
    assert {type(n) for n in walk(query.physical(kernel=True))} & {SlidingWindowAggregate, WindowAggregate} == {node}
    assert {type(n) for n in walk(query.physical())} & {SlidingWindowAggregate, WindowAggregate} == {WindowAggregate}
