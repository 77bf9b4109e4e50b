"""Plans over RDF: which nodes, on how many scans, by which keys, and what is refused by name."""

from __future__ import annotations

import pytest

from tests.rdf.build import aggregate_of, bgp, call, item, path, select, v
from transom.algebra.expressions.expression import TRUE, Aggregate, Exists
from transom.algebra.expressions.terms import term_call, variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import (
    AlternativePath,
    InversePath,
    OneOrMorePath,
    PredicatePath,
    SequencePath,
    ZeroOrMorePath,
    ZeroOrOnePath,
)
from transom.algebra.rdf.solutions import extend, join, left_join, minus, union
from transom.algebra.rdf.statements import StoredGraph, range_window, rdf_stream, union_windows
from transom.algebra.relations import JoinType, WindowAggregation, WindowDistinct, WindowSelect
from transom.algebra.sequences import OrderBy, Slice, SortKey
from transom.algebra.sources import Values
from transom.algebra.state.formula import Arrivals, RowCount, times
from transom.algebra.tree import RdfPlan
from transom.errors import Unsupported
from transom.model.rdf.terms import IRI
from transom.physical.nodes import keyed_windows
from transom.physical.nodes.change_aggregate import ChangeAggregate
from transom.physical.nodes.change_join import ChangeJoin
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import (
    MessageStarMatch,
    MultiPatternScan,
    PathClosure,
    PatternMatch,
    ReadGraph,
    SequenceToChanges,
    TableToChanges,
    ValuesExec,
)
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Executor, Form, ReadStream
from transom.physical.planner.planner import plan_query
from transom.physical.rdf.bindings import bound_variables

STAR = " . ".join(f"?x :{name} ?{name}" for name in "abcdef")
STORED = bgp("?x :r ?w", None, on=StoredGraph(("g",)))
P = IRI("http://ex/p")


def machines(plan: PhysicalNode) -> list[str]:
    return [type(node).__name__ for node in walk(plan) if node.decision.executor is not Executor.NATIVE]


def scans(plan: PhysicalNode) -> int:
    return sum(isinstance(node, ReadStream) for node in walk(plan))


def test_a_star_is_one_operator_over_one_scan() -> None:
    plan = plan_query(select("x a", bgp(STAR)))
    assert machines(plan) == ["ChangeJoin"]
    assert scans(plan) == 1
    mate = next(node for node in walk(plan) if isinstance(node, ChangeJoin))
    assert mate.keys == ("x",)
    assert len(mate.sides) == 6


def test_a_star_of_local_subjects_needs_no_state() -> None:
    plan = plan_query(select("x a", bgp(STAR)), subject_local_streams=["s"])
    assert machines(plan) == []
    assert any(isinstance(node, MessageStarMatch) for node in walk(plan))
    other = plan_query(select("x a", bgp("?x :p ?y . ?z :q ?y")), subject_local_streams=["s"])
    assert machines(other) == ["ChangeJoin"]


def test_an_optional_over_one_stream_is_one_scan_and_one_machine() -> None:
    plan = plan_query(left_join(bgp("?x :p ?y", (20, 1)), bgp("?x :q ?z", own=(3, 1))))
    assert isinstance(plan, ChangeJoin)
    assert plan.join_type is JoinType.LEFT
    assert isinstance(plan.left, MultiPatternScan)
    assert [branch.window for branch in plan.left.branches] == [(20, 1), (3, 1)]


def test_a_filter_belongs_to_its_branch_of_a_scan_unless_it_asks_whether_something_exists() -> None:
    right = bgp("?x :q ?z")
    filtered = plan_query(left_join(bgp("?x :p ?y"), WindowSelect(right, call(">", "?z", 5))))
    assert isinstance(filtered, ChangeJoin)
    assert isinstance(filtered.left, MultiPatternScan)
    assert scans(filtered) == 1
    exists = plan_query(left_join(bgp("?x :p ?y"), WindowSelect(right, Exists(bgp("?x :r ?w")))))
    assert isinstance(exists, ChangeJoin)
    assert not isinstance(exists.left, MultiPatternScan)


def test_only_what_is_always_bound_is_a_key() -> None:
    left = left_join(bgp("?x :p ?y"), bgp("?x :q ?z"))
    plan = plan_query(join(left, bgp("?x :r ?z")))
    assert isinstance(plan, ChangeJoin)
    assert (plan.keys, plan.residual.variables) == (("x",), ("z",))
    either = plan_query(join(union(bgp("?x :p ?y"), bgp("?y :p ?w")), bgp("?x :q ?y . ?x :r ?u")))
    assert isinstance(either, ChangeJoin)
    assert (either.keys, either.residual.variables) == (("y",), ("x",))


def test_minus_without_a_sure_variable_asks_for_one_in_common() -> None:
    left = left_join(bgp("?w :p ?y"), bgp("?w :q ?z"))
    plan = plan_query(minus(left, bgp("?a :r ?z")))
    assert isinstance(plan, ChangeJoin)
    assert plan.residual.overlap
    assert plan.join_type is JoinType.ANTI
    apart = plan_query(minus(bgp("?x :p ?y"), bgp("?a :r ?b")))
    assert not isinstance(apart, ChangeJoin)


def test_what_is_stored_needs_no_machine() -> None:
    plan = plan_query(WindowDistinct(OrderBy(left_join(STORED, STORED), (), v("x w"))))
    assert plan.form is Form.TABLE
    assert machines(plan) == []
    joined = plan_query(left_join(bgp("?x :p ?y"), STORED, call(">", "?w", 5)))
    assert machines(joined) == []
    swapped = plan_query(join(STORED, bgp("?x :p ?y")))
    assert isinstance(swapped, ChangeJoin)
    assert machines(swapped) == []
    assert swapped.left.form is Form.CHANGES
    assert swapped.right is not None
    assert swapped.right.form is Form.TABLE
    assert [type(node) for node in walk(swapped.right)] == [PatternMatch, ReadGraph]
    assert [each.name for each in swapped.schema.attributes] == ["x", "w", "y"]


def test_what_is_stored_comes_at_tick_0_where_it_must() -> None:
    for plan in (left_join(STORED, bgp("?x :p ?y")), union(STORED, bgp("?x :p ?y")), minus(STORED, bgp("?x :p ?y"))):
        assert any(isinstance(node, TableToChanges) for node in walk(plan_query(plan)))
    both = union_windows((StoredGraph(("g",)), range_window(rdf_stream("s"), 5, 1)))
    assert any(isinstance(node, TableToChanges) for node in walk(plan_query(bgp("?x :p ?y", None, on=both))))


def test_exists_is_a_semi_or_an_anti_join() -> None:
    there = Exists(WindowSelect(bgp("?x :q ?z"), call(">", "?z", "?y")))
    plan = plan_query(WindowSelect(bgp("?x :p ?y"), term_call("&&", there, term_call("!", Exists(bgp("?x :r ?w"))))))
    assert isinstance(plan, ChangeJoin)
    assert plan.join_type is JoinType.ANTI
    assert isinstance(plan.left, ChangeJoin)
    assert plan.left.join_type is JoinType.SEMI
    assert plan.left.residual.condition != TRUE


def test_a_part_of_an_order_inside_a_query_is_unfolded() -> None:
    first = Slice(select("x", OrderBy(bgp("?x :p ?y"), (), v("x y"))), 0, 2)
    assert any(isinstance(node, SequenceToChanges) for node in walk(plan_query(join(first, bgp("?x :q ?z")))))


def test_paths_without_repetitions_are_patterns() -> None:
    way = SequencePath(PredicatePath(P), AlternativePath(InversePath(PredicatePath(P)), PredicatePath(P)))
    assert scans(plan_query(path("?x", way, "?y", range_window(rdf_stream("s"), 5, 1)))) == 3


A = IRI("http://ex/a")


def test_paths_that_repeat_follow_edges_in_one_task() -> None:
    window = range_window(rdf_stream("s"), 5, 1)
    pairs = [
        n
        for n in walk(plan_query(path("?x", ZeroOrMorePath(PredicatePath(P)), "?y", window)))
        if isinstance(n, PathClosure)
    ]
    assert [(n.repeats, n.start, n.nodes is None) for n in pairs] == [(True, None, False)]
    assert "one task" in pairs[0].decision.reason
    assert pairs[0].decision.state == times(RowCount(6), Arrivals("s", 6)), "edges, and both terms of each statement"
    to_one = plan_query(
        path("?x", SequencePath(PredicatePath(P), OneOrMorePath(ZeroOrOnePath(PredicatePath(P)))), ":a", window)
    )
    outer, inner = (n for n in walk(to_one) if isinstance(n, PathClosure))
    assert (outer.repeats, outer.start, outer.nodes) == (True, A, None)
    assert (inner.repeats, inner.start, inner.nodes is None) == (False, None, False)
    assert [n.rows for n in walk(to_one) if isinstance(n, ValuesExec)] == [((A, A),)], "no step leads to what is given"
    stored = plan_query(path("?x", ZeroOrOnePath(PredicatePath(P)), "?x", StoredGraph(("g",))))
    assert stored.form is Form.TABLE


@pytest.mark.parametrize(
    ("plan", "operator"),
    [
        (extend(bgp("?x :p ?y"), item(variable("now"), term_call("NOW"))), "NOW"),
    ],
)
def test_gaps_are_named(plan: RdfPlan, operator: str) -> None:
    with pytest.raises(Unsupported) as gap:
        plan_query(plan)
    assert gap.value.operator == operator


def exists_joins(plan: RdfPlan) -> list[JoinType]:
    """The types of the joins with the pattern of an EXISTS, top first; the domain of a pattern has its own."""
    kinds = (JoinType.SEMI, JoinType.ANTI, JoinType.MARK)
    found = (node for node in walk(plan_query(plan)) if isinstance(node, ChangeJoin))
    return [node.join_type for node in found if node.join_type in kinds]


def test_exists_inside_an_expression_is_a_mark() -> None:
    there, moving = Exists(bgp("?y :q ?z")), bgp("?x :p ?y")
    either = term_call("||", there, call(">", "?y", 1))
    assert exists_joins(WindowSelect(moving, either)) == [JoinType.MARK]
    assert exists_joins(WindowSelect(moving, term_call("&&", either, term_call("!", there)))) == [
        JoinType.MARK,
        JoinType.ANTI,
    ]
    assert exists_joins(extend(moving, item(variable("e"), there))) == [JoinType.MARK]
    assert exists_joins(OrderBy(moving, (SortKey(there),), ())) == [JoinType.MARK]
    total = aggregate_of(variable("n"), "SUM", there)
    assert exists_joins(WindowAggregation(moving, (), (total,))) == [JoinType.MARK]
    optional = [JoinType.MARK, JoinType.ANTI, JoinType.MARK]  # the pairs, and the left solutions without a pair
    assert exists_joins(left_join(moving, STORED, either)) == optional
    stored = plan_query(extend(STORED, item(variable("e"), Exists(STORED))))
    assert machines(stored) == []


def test_exists_is_evaluated_once_for_all_solutions() -> None:
    moving = bgp("?x :p ?y")
    optional = plan_query(WindowSelect(moving, Exists(left_join(bgp("?x :q ?z"), bgp("?z :r ?w")))))
    assert isinstance(optional, ChangeJoin)
    assert (optional.join_type, optional.keys) == (JoinType.SEMI, ("x",))
    assert not any(isinstance(node, keyed_windows.Distinct) for node in walk(optional)), "nothing needs the domain here"
    bound = extend(bgp("?z :q ?w"), item(variable("v"), call("+", "?w", "?y")))
    domain = plan_query(WindowSelect(moving, Exists(WindowSelect(bound, call(">", "?v", 1)))))
    assert isinstance(domain, ChangeJoin)
    assert domain.keys == ("y",)
    assert sum(isinstance(node, keyed_windows.Distinct) for node in walk(domain)) == 1


def test_values_are_stored() -> None:
    plan = plan_query(join(bgp("?x :p ?y"), Values(v("x"), ((None,), (P,)))))
    assert isinstance(plan, ChangeJoin)
    assert (plan.keys, plan.residual.variables) == ((), ("x",))
    assert machines(plan) == []


def grouped(below: Windows, *aggregates: Aggregate, whole: bool = False) -> WindowAggregation:
    x = variable("x")
    return WindowAggregation(below, () if whole else (item(x, x),), aggregates)


def test_groups_are_aggregates_of_changes() -> None:
    counted = aggregate_of(variable("n"), "COUNT")
    plan = plan_query(grouped(bgp("?x :p ?y"), counted))
    assert isinstance(plan, ChangeAggregate)
    assert (plan.form, plan.start) == (Form.CHANGES, None)
    assert plan.decision.reason.endswith("by group")
    assert machines(plan) == ["ChangeAggregate"]


def test_the_group_of_all_solutions_exists_from_tick_0_on() -> None:
    plan = plan_query(grouped(bgp("?x :p ?y"), aggregate_of(variable("n"), "COUNT"), whole=True))
    assert isinstance(plan, ChangeAggregate)
    assert isinstance(plan.start, TableToChanges)
    assert plan.decision.reason.endswith("in one task, because there is one group")


def test_groups_of_stored_solutions_are_stored_unless_there_are_streams() -> None:
    counted = aggregate_of(variable("n"), "COUNT")
    alone = plan_query(grouped(STORED, counted))
    assert isinstance(alone, ChangeAggregate)
    assert alone.form is Form.TABLE
    plan = plan_query(join(bgp("?x :p ?y"), grouped(STORED, counted)))
    assert isinstance(plan, ChangeJoin)
    assert plan.right is not None
    assert (plan.right.form, plan.keys) == (Form.CHANGES, ("x",))


def test_what_a_group_always_binds() -> None:
    below = left_join(bgp("?x :p ?y"), bgp("?x :q ?z"))
    keys = (item(variable("x"), variable("x")), item(variable("z"), variable("z")))
    both = WindowAggregation(
        below, keys, (aggregate_of(variable("n"), "COUNT"), aggregate_of(variable("m"), "MAX", variable("y")))
    )
    assert bound_variables(both) == {"x", "n"}
