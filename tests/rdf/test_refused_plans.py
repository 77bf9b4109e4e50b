"""Operators over RDF that make no sense cannot be built."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rdf.build import aggregate_of, bgp, item, v
from transom.algebra.expressions.expression import TRUE
from transom.algebra.expressions.terms import term_call, variable
from transom.algebra.rdf.patterns import BasicGraphPattern, TriplePattern
from transom.algebra.rdf.solutions import extend, left_join, project
from transom.algebra.rdf.statements import element_window, range_window, rdf_stream
from transom.algebra.relations import RelationJoin, RelationUnion, WindowAggregation, WindowSelect
from transom.algebra.sequences import OrderBy, Slice
from transom.algebra.sources import StreamReceive, Values
from transom.algebra.streams import StreamUnion
from transom.algebra.windows import time_window
from transom.errors import PlanError
from transom.model.rdf.terms import IRI
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

X, Y = v("x y")
PATTERN = bgp("?x :p ?y")
STREAM = rdf_stream("s")
WINDOW = range_window(STREAM, 1, 1)
TRIPLE = TriplePattern(WINDOW, X, IRI("http://ex/p"), Y)
SORTED = OrderBy(PATTERN, (), (X, Y))
ROWS = time_window(StreamReceive("t", Schema((Attribute("n", Type.INTEGER),))), 1, 0, 1)
COUNT = aggregate_of(variable("n"), "COUNT", None)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: extend(PATTERN, item(X, Y)), "two columns are called x"),
        (lambda: Values((X,), ((IRI("http://a"), IRI("http://b")),)), "as many terms as there are variables"),
        (lambda: Values((X, X), ()), "two columns are called x"),
        (lambda: WindowAggregation(PATTERN, (), ()), "at least one column"),
        (lambda: WindowAggregation(PATTERN, (item(X, X), item(X, Y)), ()), "two columns are called"),
        (lambda: WindowAggregation(PATTERN, (item(variable("n"), X),), (COUNT,)), "two columns are called"),
        (lambda: project(PATTERN, (X, X)), "two columns are called"),
        (lambda: Slice(SORTED, -1, None), "no negative length"),
        (lambda: Slice(SORTED, 0, -1), "no negative length"),
        (lambda: Slice(PATTERN, 0, 1), "without an order"),
        (lambda: BasicGraphPattern((WINDOW,)), "joins patterns"),
        (lambda: range_window(STREAM, 0, 0), "at least one instant wide"),
        (lambda: range_window(STREAM, 2, 3), "slides by at most its width"),
        (lambda: element_window(STREAM, 0), "at least one element"),
        (lambda: TriplePattern(STREAM, X, X, X), "matches windows of statements, not a StreamReceive"),
        (lambda: TriplePattern(TRIPLE, X, X, X), "matches windows of statements, not a TriplePattern"),
        (lambda: StreamUnion((STREAM,)), "at least two parts"),
        (lambda: StreamUnion((STREAM, StreamReceive("t", Schema(())))), "have the same columns"),
        (lambda: variable("?x"), "without its question mark"),
        (lambda: variable(""), "without its question mark"),
        (lambda: term_call("NOWHERE"), "no such function"),
        (lambda: term_call("STRLEN"), "does not take 0 arguments"),
        (lambda: term_call("STRLEN", X, X), "does not take 2 arguments"),
        (lambda: term_call("BOUND", term_call("NOW")), "BOUND takes a variable"),
        (lambda: WindowSelect(PATTERN, X), "a predicate is boolean, not term"),
        (lambda: left_join(PATTERN, PATTERN, X), "a predicate is boolean, not term"),
        (lambda: aggregate_of(X, "SUM", None), "SUM needs an argument"),
        (lambda: RelationJoin(PATTERN, ROWS, TRUE, natural=True), "only relations of terms have a natural join"),
        (lambda: RelationUnion(ROWS, ROWS, by_name=True), "only relations of terms have a union by name"),
    ],
)
def test_refused_plan(build: Callable[[], object], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: WindowAggregation(PATTERN, (item(X, X), item(Y, Y)), (COUNT,)),
        lambda: WindowAggregation(PATTERN, (), (COUNT,)),
        lambda: Slice(SORTED, 0, 0),
        lambda: range_window(STREAM, 1, 1),
        lambda: element_window(STREAM, 1),
        lambda: Values((), ((),)),
    ],
)
def test_smallest_plan_that_is_allowed(build: Callable[[], object]) -> None:
    assert build() == build()
