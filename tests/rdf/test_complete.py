"""Every operator and function over RDF once in each layer, documented, and every gap declared."""

from __future__ import annotations

import inspect
import re

import pytest

from tests.cases import decisions_of, golden_file
from tests.docs.pages import ROOT
from tests.rdf.build import aggregate_of, bgp, call, item, select
from tests.rdf.stated import stated
from transom.algebra.explain import as_text, build_tree
from transom.algebra.expressions.expression import Exists
from transom.algebra.expressions.term_functions import TERM_FUNCTIONS
from transom.algebra.expressions.terms import term_call, variable
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import extend, project
from transom.algebra.rdf.statements import StoredGraph, element_window, range_window, rdf_stream
from transom.algebra.relations import (
    RelationJoin,
    RelationUnion,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import Values
from transom.algebra.state import bounds
from transom.algebra.state.formula import Arrivals, RowCount
from transom.algebra.tree import OPERATORS, exists_patterns, inputs, reads_streams, volatile_calls, walk
from transom.algebra.windows import Window
from transom.errors import PlanError, Unsupported
from transom.model.rdf.terms import IRI, integer
from transom.physical.planner.planner import plan_query
from transom.physical.rdf import relations
from transom.reference.rdf.evaluate import evaluate
from transom.reference.rdf.functions import TERM_IMPLEMENTATIONS

SPARQL = (
    *(Window, StoredGraph, TriplePattern, PathPattern, BasicGraphPattern, WindowSelect, WindowProject, WindowDistinct),
    *(WindowAggregation, RelationJoin, RelationUnion, Values, OrderBy, Slice, Construct, Describe, Ask),
)
"""The operators that a query in SPARQL may have, streams aside."""


@pytest.mark.parametrize("operator", SPARQL, ids=lambda o: o.__name__)
def test_is_arranged_for_spark_or_is_a_declared_gap(operator: type) -> None:
    assert operator in OPERATORS
    assert operator.__name__ in inspect.getsource(relations)


def test_gaps_are_named() -> None:
    now = item(variable("now"), term_call("NOW"))
    with pytest.raises(Unsupported, match="cannot run on Spark: NOW") as gap:
        plan_query(extend(Values((), ((),)), now))
    assert gap.value.kind == "never"


def test_every_function_has_an_implementation() -> None:
    assert TERM_IMPLEMENTATIONS.keys() | {"NOW", "BNODE"} == TERM_FUNCTIONS.keys()
    assert all(function.meaning for function in TERM_FUNCTIONS.values())


def test_walking_enters_tuples_expressions_and_the_patterns_of_exists() -> None:
    inner = bgp("?x :q ?z")
    plan = WindowSelect(bgp("?x :p ?y . ?y :p ?w"), call("!", Exists(inner)))
    assert sum(isinstance(op, TriplePattern) for op in walk(plan)) == 3
    assert inputs(plan) == (plan.input, inner)
    assert exists_patterns(plan) == [inner]
    assert reads_streams(plan)
    assert not reads_streams(bgp("?x :p ?y", None, on=StoredGraph(("g",))))
    drawn = as_text(build_tree(plan, lambda value: isinstance(value, OPERATORS)))
    assert drawn.splitlines()[0] == "WindowSelect(predicate=NOT(EXISTS {...}))"


def test_what_changes_by_itself_has_no_meaning_over_a_stream() -> None:
    plan = extend(bgp("?x :p ?y"), item(variable("now"), term_call("NOW")))
    assert volatile_calls(plan) == [term_call("NOW")]
    with pytest.raises(Unsupported) as refused:
        evaluate(plan, stated({}))
    assert refused.value.kind == "never"


STREAM, PATTERN = rdf_stream("s"), bgp("?x :p ?y")


@pytest.mark.parametrize(
    "build",
    [
        lambda: range_window(STREAM, 5, 10),
        lambda: range_window(STREAM, 0, 0),
        lambda: element_window(STREAM, 0),
        lambda: TriplePattern(STREAM, *[variable("x")] * 3),  # type: ignore[arg-type]
        lambda: BasicGraphPattern((element_window(STREAM, 3),)),  # type: ignore[arg-type]
        lambda: Slice(PATTERN, 0, 1),
        lambda: Values((variable("x"),), ((),)),
        lambda: project(PATTERN, (variable("x"), variable("x"))),
        lambda: extend(PATTERN, item(variable("x"), variable("y"))),
        lambda: WindowAggregation(PATTERN, (), ()),
        lambda: aggregate_of(variable("n"), "SUM"),
        lambda: term_call("STRLEN"),
        lambda: term_call("NO SUCH"),
        lambda: call("BOUND", ":a"),
        lambda: variable("?x"),
    ],
)
def test_what_means_nothing_cannot_be_built(build: object) -> None:
    with pytest.raises(PlanError):
        build()  # type: ignore[operator]


def test_state_of_a_join_is_what_is_valid_of_both_sides() -> None:
    pair = bgp("?x :p ?y . ?x :q ?z", (10, 2))
    assert bounds.operator_state(pair) == bounds.plus(Arrivals("s", 10), Arrivals("s", 10))
    assert bounds.plan_state(select("x", bgp("?x :p ?y", own=7))) == RowCount(7)
    assert bounds.operator_state(WindowSelect(PATTERN, Exists(pair))) == bounds.window_size(pair)
    assert bounds.window_size(Values((variable("x"),), ((IRI("http://a"),), (integer(1),)))) == RowCount(2)


def test_every_decision_is_listed_with_its_cases() -> None:
    page = (ROOT / "docs/decisions.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| (R\d+) \|.*\|([^|]*)\|$", page, re.MULTILINE))
    assert list(listed) == [f"R{number}" for number in range(1, 29)]
    cases = golden_file().cases
    for decision, shown in listed.items():
        wanted = sorted(case.name.split("-")[0] for case in cases if decision in decisions_of(case))
        assert re.findall(r"\w+", shown) == wanted, decision


def test_every_decision_that_an_operator_names_is_listed() -> None:
    page = (ROOT / "docs/decisions.md").read_text("utf-8")
    for operator in OPERATORS:
        for decision in re.findall(r"\bR\d+\b", operator.__doc__ or ""):
            assert f"| {decision} |" in page, (operator.__name__, decision)
