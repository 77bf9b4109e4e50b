"""Every operator and function over RDF once in each layer, documented, and every gap declared."""

from __future__ import annotations

import inspect
import re
from dataclasses import is_dataclass
from importlib import import_module

import pytest
import yaml

import transom.reference.rdf.forms
import transom.reference.rdf.patterns
import transom.reference.rdf.solutions
import transom.reference.rdf.statements
from tests.cases import GOLDEN
from tests.docs.pages import ROOT
from tests.rdf.build import aggregate_of, bgp, call, item, select
from tests.rdf.stated import stated
from transom.algebra.explain import as_text, branch
from transom.algebra.expressions import Exists
from transom.algebra.rdf import bounds
from transom.algebra.rdf.operator import Operator
from transom.algebra.rdf.patterns import BasicGraphPattern, TriplePattern
from transom.algebra.rdf.solutions import Aggregation, Extend, Filter, Project, Slice, Values
from transom.algebra.rdf.statements import StoredGraph, element_window, range_window, rdf_stream
from transom.algebra.rdf.tree import OPERATORS, inputs, patterns_of, reads_streams, volatile_calls, walk
from transom.algebra.state import Arrivals, Number
from transom.algebra.term_functions import TERM_FUNCTIONS
from transom.algebra.terms import term_call, variable
from transom.errors import PlanError, Unsupported
from transom.model.rdf.terms import IRI, integer
from transom.physical.rdf_arrange import Planner, arrange
from transom.reference.rdf.evaluate import evaluate
from transom.reference.rdf.functions import TERM_IMPLEMENTATIONS

FAMILIES = {
    "statements": transom.reference.rdf.statements,
    "patterns": transom.reference.rdf.patterns,
    "solutions": transom.reference.rdf.solutions,
    "forms": transom.reference.rdf.forms,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_operator_is_in_the_unions(family: str) -> None:
    module = import_module(f"transom.algebra.rdf.{family}")
    found = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Operator)]
    assert {one for one in found if one.__module__ == module.__name__} <= set(OPERATORS)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.__name__)
class TestOperator:
    def test_is_a_frozen_value(self, operator: type) -> None:
        assert is_dataclass(operator)
        assert operator.__dataclass_params__.frozen  # type: ignore[attr-defined]
        assert operator.__dataclass_params__.eq  # type: ignore[attr-defined]

    def test_states_its_meaning(self, operator: type) -> None:
        words = inspect.getdoc(operator) or ""
        for part in ("Meaning", "Bounds", "Source", "State"):
            assert re.search(rf"^{part} +\S", words, re.MULTILINE), f"no {part} line"

    def test_has_one_function_in_the_reference(self, operator: type) -> None:
        family = FAMILIES.get(operator.__module__.rsplit(".", 1)[1], transom.reference.rdf.statements)
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operator.__name__).lower()
        assert getattr(family, name).__module__ == family.__name__

    def test_has_a_state_bound(self, operator: type) -> None:
        assert operator.__name__ in inspect.getsource(bounds.remembered)

    def test_is_arranged_for_spark_or_is_a_declared_gap(self, operator: type) -> None:
        assert operator.__name__ in inspect.getsource(Planner)


def test_gaps_are_named() -> None:
    now = item(variable("now"), term_call("NOW"))
    with pytest.raises(Unsupported, match="not on Spark: NOW") as gap:
        arrange(Extend(Values((), ((),)), now))
    assert gap.value.kind == "never"


def test_every_function_has_an_implementation() -> None:
    assert TERM_IMPLEMENTATIONS.keys() | {"NOW", "BNODE"} == TERM_FUNCTIONS.keys()
    assert all(function.meaning for function in TERM_FUNCTIONS.values())


def test_walking_enters_tuples_expressions_and_the_patterns_of_exists() -> None:
    inner = bgp("?x :q ?z")
    plan = Filter(bgp("?x :p ?y . ?y :p ?w"), call("!", Exists(inner)))
    assert sum(isinstance(op, TriplePattern) for op in walk(plan)) == 3
    assert inputs(plan) == (plan.input, inner)
    assert patterns_of(plan) == [inner]
    assert reads_streams(plan)
    assert not reads_streams(bgp("?x :p ?y", None, on=StoredGraph(("g",))))
    drawn = as_text(branch(plan, lambda value: isinstance(value, OPERATORS)))
    assert drawn.splitlines()[0] == "Filter(condition=NOT(EXISTS {...}))"


def test_what_changes_by_itself_has_no_meaning_over_a_stream() -> None:
    plan = Extend(bgp("?x :p ?y"), item(variable("now"), term_call("NOW")))
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
        lambda: Project(PATTERN, (variable("x"), variable("x"))),
        lambda: Extend(PATTERN, item(variable("x"), variable("y"))),
        lambda: Aggregation(PATTERN, (), ()),
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
    assert bounds.remembered(pair) == bounds.plus(Arrivals("s", 10), Arrivals("s", 10))
    assert bounds.total(select("x", bgp("?x :p ?y", own=7))) == Number(7)
    assert bounds.remembered(Filter(PATTERN, Exists(pair))) == bounds.valid(pair)
    assert bounds.valid(Values((variable("x"),), ((IRI("http://a"),), (integer(1),)))) == Number(2)


def test_every_decision_is_listed_with_its_cases() -> None:
    page = (ROOT / "docs/decisions.md").read_text("utf-8")
    listed = dict(re.findall(r"^\| (R\d+) \|.*\|([^|]*)\|$", page, re.MULTILINE))
    assert list(listed) == [f"R{number}" for number in range(1, 29)]
    cases = yaml.load(GOLDEN.read_text("utf-8"), yaml.CSafeLoader)["cases"]
    for decision, shown in listed.items():
        wanted = sorted(case["name"].split("-")[0] for case in cases if decision in case["decisions"])
        assert re.findall(r"\w+", shown) == wanted, decision


def test_every_decision_that_an_operator_names_is_listed() -> None:
    page = (ROOT / "docs/decisions.md").read_text("utf-8")
    for operator in OPERATORS:
        for decision in re.findall(r"\bR\d+\b", operator.__doc__ or ""):
            assert f"| {decision} |" in page, (operator.__name__, decision)
