"""Plans over RDF: which nodes, on how many scans, by which keys, and what is refused by name."""

from __future__ import annotations

import pytest

from tests.rdf.build import aggregate_of, bgp, call, item, path, select, v
from transom.algebra.expressions import TRUE, Aggregate, Exists
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import Either, Inverse, Link, OneOrMore, Steps, ZeroOrMore, ZeroOrOne
from transom.algebra.rdf.solutions import extend, join, left_join, minus, union
from transom.algebra.rdf.statements import StoredGraph, range_window, rdf_stream, union_of
from transom.algebra.relations import JoinType, WindowAggregation, WindowDistinct, WindowSelect
from transom.algebra.sequences import OrderBy, Slice, SortKey
from transom.algebra.sources import Values
from transom.algebra.state import Arrivals, Number, times
from transom.algebra.terms import term_call, variable
from transom.algebra.tree import Question
from transom.errors import Unsupported
from transom.model.rdf.terms import IRI
from transom.physical import lines
from transom.physical.arrange import arrange
from transom.physical.change_aggregate import ChangeAggregate
from transom.physical.change_join import ChangeJoin
from transom.physical.node import Physical
from transom.physical.plan import Form, Path, Read
from transom.physical.rdf_known import bound
from transom.physical.rdf_plan import Fan, Graph, Match, PathClosure, Stand, Unfold, Within, Written
from transom.physical.walk import walk

STAR = " . ".join(f"?x :{name} ?{name}" for name in "abcdef")
STORED = bgp("?x :r ?w", None, on=StoredGraph(("g",)))
P = IRI("http://ex/p")


def machines(plan: Physical) -> list[str]:
    return [type(node).__name__ for node in walk(plan) if node.choice.path is not Path.NATIVE]


def scans(plan: Physical) -> int:
    return sum(isinstance(node, Read) for node in walk(plan))


def test_a_star_is_one_operator_over_one_scan() -> None:
    plan = arrange(select("x a", bgp(STAR)))
    assert machines(plan) == ["ChangeJoin"]
    assert scans(plan) == 1
    mate = next(node for node in walk(plan) if isinstance(node, ChangeJoin))
    assert mate.keys == ("x",)
    assert len(mate.sides) == 6


def test_a_star_of_local_subjects_needs_no_state() -> None:
    plan = arrange(select("x a", bgp(STAR)), local=["s"])
    assert machines(plan) == []
    assert any(isinstance(node, Within) for node in walk(plan))
    other = arrange(select("x a", bgp("?x :p ?y . ?z :q ?y")), local=["s"])
    assert machines(other) == ["ChangeJoin"]


def test_an_optional_over_one_stream_is_one_scan_and_one_machine() -> None:
    plan = arrange(left_join(bgp("?x :p ?y", (20, 1)), bgp("?x :q ?z", own=(3, 1))))
    assert isinstance(plan, ChangeJoin)
    assert plan.join_type is JoinType.LEFT
    assert isinstance(plan.left, Fan)
    assert [branch.window for branch in plan.left.branches] == [(20, 1), (3, 1)]


def test_a_filter_belongs_to_its_branch_of_a_scan_unless_it_asks_whether_something_exists() -> None:
    right = bgp("?x :q ?z")
    filtered = arrange(left_join(bgp("?x :p ?y"), WindowSelect(right, call(">", "?z", 5))))
    assert isinstance(filtered, ChangeJoin)
    assert isinstance(filtered.left, Fan)
    assert scans(filtered) == 1
    exists = arrange(left_join(bgp("?x :p ?y"), WindowSelect(right, Exists(bgp("?x :r ?w")))))
    assert isinstance(exists, ChangeJoin)
    assert not isinstance(exists.left, Fan)


def test_only_what_is_always_bound_is_a_key() -> None:
    left = left_join(bgp("?x :p ?y"), bgp("?x :q ?z"))
    plan = arrange(join(left, bgp("?x :r ?z")))
    assert isinstance(plan, ChangeJoin)
    assert (plan.keys, plan.residual.variables) == (("x",), ("z",))
    either = arrange(join(union(bgp("?x :p ?y"), bgp("?y :p ?w")), bgp("?x :q ?y . ?x :r ?u")))
    assert isinstance(either, ChangeJoin)
    assert (either.keys, either.residual.variables) == (("y",), ("x",))


def test_minus_without_a_sure_variable_asks_for_one_in_common() -> None:
    left = left_join(bgp("?w :p ?y"), bgp("?w :q ?z"))
    plan = arrange(minus(left, bgp("?a :r ?z")))
    assert isinstance(plan, ChangeJoin)
    assert plan.residual.overlap
    assert plan.join_type is JoinType.ANTI
    apart = arrange(minus(bgp("?x :p ?y"), bgp("?a :r ?b")))
    assert not isinstance(apart, ChangeJoin)


def test_what_is_stored_needs_no_machine() -> None:
    plan = arrange(WindowDistinct(OrderBy(left_join(STORED, STORED), (), v("x w"))))
    assert plan.form is Form.TABLE
    assert machines(plan) == []
    joined = arrange(left_join(bgp("?x :p ?y"), STORED, call(">", "?w", 5)))
    assert machines(joined) == []
    swapped = arrange(join(STORED, bgp("?x :p ?y")))
    assert isinstance(swapped, ChangeJoin)
    assert machines(swapped) == []
    assert swapped.left.form is Form.CHANGES
    assert swapped.right is not None
    assert swapped.right.form is Form.TABLE
    assert [type(node) for node in walk(swapped.right)] == [Match, Graph]
    assert [each.name for each in swapped.schema.attributes] == ["x", "w", "y"]


def test_what_is_stored_comes_at_tick_0_where_it_must() -> None:
    for plan in (left_join(STORED, bgp("?x :p ?y")), union(STORED, bgp("?x :p ?y")), minus(STORED, bgp("?x :p ?y"))):
        assert any(isinstance(node, Stand) for node in walk(arrange(plan)))
    both = union_of((StoredGraph(("g",)), range_window(rdf_stream("s"), 5, 1)))
    assert any(isinstance(node, Stand) for node in walk(arrange(bgp("?x :p ?y", None, on=both))))


def test_exists_is_a_semi_or_an_anti_join() -> None:
    there = Exists(WindowSelect(bgp("?x :q ?z"), call(">", "?z", "?y")))
    plan = arrange(WindowSelect(bgp("?x :p ?y"), term_call("&&", there, term_call("!", Exists(bgp("?x :r ?w"))))))
    assert isinstance(plan, ChangeJoin)
    assert plan.join_type is JoinType.ANTI
    assert isinstance(plan.left, ChangeJoin)
    assert plan.left.join_type is JoinType.SEMI
    assert plan.left.residual.condition != TRUE


def test_a_part_of_an_order_inside_a_query_is_unfolded() -> None:
    first = Slice(select("x", OrderBy(bgp("?x :p ?y"), (), v("x y"))), 0, 2)
    assert any(isinstance(node, Unfold) for node in walk(arrange(join(first, bgp("?x :q ?z")))))


def test_paths_without_repetitions_are_patterns() -> None:
    way = Steps(Link(P), Either(Inverse(Link(P)), Link(P)))
    assert scans(arrange(path("?x", way, "?y", range_window(rdf_stream("s"), 5, 1)))) == 3


A = IRI("http://ex/a")


def test_paths_that_repeat_follow_edges_in_one_task() -> None:
    window = range_window(rdf_stream("s"), 5, 1)
    pairs = [n for n in walk(arrange(path("?x", ZeroOrMore(Link(P)), "?y", window))) if isinstance(n, PathClosure)]
    assert [(n.repeats, n.start, n.nodes is None) for n in pairs] == [(True, None, False)]
    assert "one task" in pairs[0].choice.reason
    assert pairs[0].choice.state == times(Number(6), Arrivals("s", 6)), "edges, and both terms of each statement"
    to_one = arrange(path("?x", Steps(Link(P), OneOrMore(ZeroOrOne(Link(P)))), ":a", window))
    outer, inner = (n for n in walk(to_one) if isinstance(n, PathClosure))
    assert (outer.repeats, outer.start, outer.nodes) == (True, A, None)
    assert (inner.repeats, inner.start, inner.nodes is None) == (False, None, False)
    assert [n.rows for n in walk(to_one) if isinstance(n, Written)] == [((A, A),)], "no step leads to what is given"
    stored = arrange(path("?x", ZeroOrOne(Link(P)), "?x", StoredGraph(("g",))))
    assert stored.form is Form.TABLE


@pytest.mark.parametrize(
    ("plan", "operator"),
    [
        (extend(bgp("?x :p ?y"), item(variable("now"), term_call("NOW"))), "NOW"),
    ],
)
def test_gaps_are_named(plan: Question, operator: str) -> None:
    with pytest.raises(Unsupported) as gap:
        arrange(plan)
    assert gap.value.operator == operator


def exists_joins(plan: Question) -> list[JoinType]:
    """The types of the joins with the pattern of an EXISTS, top first; the domain of a pattern has its own."""
    kinds = (JoinType.SEMI, JoinType.ANTI, JoinType.MARK)
    found = (node for node in walk(arrange(plan)) if isinstance(node, ChangeJoin))
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
    stored = arrange(extend(STORED, item(variable("e"), Exists(STORED))))
    assert machines(stored) == []


def test_exists_is_evaluated_once_for_all_solutions() -> None:
    moving = bgp("?x :p ?y")
    optional = arrange(WindowSelect(moving, Exists(left_join(bgp("?x :q ?z"), bgp("?z :r ?w")))))
    assert isinstance(optional, ChangeJoin)
    assert (optional.join_type, optional.keys) == (JoinType.SEMI, ("x",))
    assert not any(isinstance(node, lines.Distinct) for node in walk(optional)), "nothing needs the domain here"
    bound = extend(bgp("?z :q ?w"), item(variable("v"), call("+", "?w", "?y")))
    domain = arrange(WindowSelect(moving, Exists(WindowSelect(bound, call(">", "?v", 1)))))
    assert isinstance(domain, ChangeJoin)
    assert domain.keys == ("y",)
    assert sum(isinstance(node, lines.Distinct) for node in walk(domain)) == 1


def test_values_are_stored() -> None:
    plan = arrange(join(bgp("?x :p ?y"), Values(v("x"), ((None,), (P,)))))
    assert isinstance(plan, ChangeJoin)
    assert (plan.keys, plan.residual.variables) == ((), ("x",))
    assert machines(plan) == []


def grouped(below: Windows, *aggregates: Aggregate, whole: bool = False) -> WindowAggregation:
    x = variable("x")
    return WindowAggregation(below, () if whole else (item(x, x),), aggregates)


def test_groups_are_aggregates_of_changes() -> None:
    counted = aggregate_of(variable("n"), "COUNT")
    plan = arrange(grouped(bgp("?x :p ?y"), counted))
    assert isinstance(plan, ChangeAggregate)
    assert (plan.form, plan.start) == (Form.CHANGES, None)
    assert plan.choice.reason.endswith("by group")
    assert machines(plan) == ["ChangeAggregate"]


def test_the_group_of_all_solutions_exists_from_tick_0_on() -> None:
    plan = arrange(grouped(bgp("?x :p ?y"), aggregate_of(variable("n"), "COUNT"), whole=True))
    assert isinstance(plan, ChangeAggregate)
    assert isinstance(plan.start, Stand)
    assert plan.choice.reason.endswith("in one task, as there is one group")


def test_groups_of_stored_solutions_are_stored_unless_there_are_streams() -> None:
    counted = aggregate_of(variable("n"), "COUNT")
    alone = arrange(grouped(STORED, counted))
    assert isinstance(alone, ChangeAggregate)
    assert alone.form is Form.TABLE
    plan = arrange(join(bgp("?x :p ?y"), grouped(STORED, counted)))
    assert isinstance(plan, ChangeJoin)
    assert plan.right is not None
    assert (plan.right.form, plan.keys) == (Form.CHANGES, ("x",))


def test_what_a_group_always_binds() -> None:
    below = left_join(bgp("?x :p ?y"), bgp("?x :q ?z"))
    keys = (item(variable("x"), variable("x")), item(variable("z"), variable("z")))
    both = WindowAggregation(
        below, keys, (aggregate_of(variable("n"), "COUNT"), aggregate_of(variable("m"), "MAX", variable("y")))
    )
    assert bound(both) == {"x", "n"}
