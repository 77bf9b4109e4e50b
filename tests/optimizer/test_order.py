"""Products are not commuted where order is seen."""

from __future__ import annotations

from decimal import Decimal

import pytest

import transom
from tests.cases import catalog_of, golden_cases, inputs_of, run
from tests.oracle.compare import same
from transom.algebra.expressions.expression import identity_items
from transom.algebra.relations import WindowCrossProduct, WindowProject
from transom.algebra.streams import IStream
from transom.algebra.tree import walk
from transom.algebra.windows import Window
from transom.optimizer.pipeline import optimize
from transom.optimizer.rule import RuleContext
from transom.optimizer.table_on_the_right import table_on_the_right
from transom.reference.evaluate import evaluate_stream
from transom.reference.expressions import constant_value

SCHEMA = {
    "a": {"kind": "pushed", "attrs": ["x:integer"]},
    "t": {"kind": "stored", "attrs": ["y:integer"]},
}
RULE = "table_on_the_right"


def rules_of(text: str) -> set[str]:
    return {step.rule for step in transom.compile(text, catalog_of(SCHEMA)).steps}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a.x, t.y FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 SEC]",
        "ISTREAM(SELECT COUNT(*) FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 SEC])",
        "SELECT a.x, t.y FROM t, a [FROM NOW-2 TO NOW SLIDE 1 SEC] WHERE a.x = t.y",
    ],
)
def test_commutes_where_nobody_sees_the_order(text: str) -> None:
    assert RULE in rules_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "RSTREAM(SELECT a.x, t.y FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 SEC])",
        "ISTREAM(SELECT a.x, t.y FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 SEC])",
        "DSTREAM(SELECT a.x, t.y FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 SEC] WHERE a.x = t.y)",
        "SELECT a.x, t.y FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 ROW]",
        "ISTREAM(SELECT COUNT(*) FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 ROW])",
        "SELECT a.x, t.y FROM a [FROM NOW-2 TO NOW SLIDE 1 SEC], t [SCAN 1 SEC]",
    ],
)
def test_does_not_commute_where_order_is_seen(text: str) -> None:
    assert RULE not in rules_of(text)


def test_commuting_would_change_the_answer() -> None:
    """s29 with its product turned round under ISTREAM gives the tuples of s30, not its own."""
    case = next(c for c in golden_cases() if c.name.startswith("s29"))
    query = transom.compile(case.text, catalog_of(case.schema), optimize=False)
    assert isinstance(query.algebra, IStream)
    product = next(op for op in walk(query.algebra) if isinstance(op, WindowCrossProduct))
    turned = WindowProject(WindowCrossProduct(product.right, product.left), identity_items(product.schema))
    project = query.algebra.input
    assert isinstance(project, WindowProject)
    inputs = query.inputs(inputs_of(case.schema, case.inputs), case.until)
    answer = [e.row for e in evaluate_stream(IStream(WindowProject(turned, project.items)), inputs)]
    assert sorted(answer) != sorted(tuple(row[2:]) for row in case.expected["rows"])
    assert same(run(case), case.expected) is None


def test_the_rule_alone_is_refused_under_a_converter() -> None:
    text = "SELECT a.x, t.y FROM t [SCAN 1 SEC], a [FROM NOW-2 TO NOW SLIDE 1 SEC]"
    plan = transom.compile(text, catalog_of(SCHEMA), optimize=False).algebra
    product = next(op for op in walk(plan) if isinstance(op, WindowCrossProduct))
    assert table_on_the_right(product, RuleContext((plan,), constant_value)) is not None
    converter = IStream(plan)  # type: ignore[arg-type]
    assert table_on_the_right(product, RuleContext((converter, plan), constant_value)) is None


def test_a_row_window_is_never_filtered_below() -> None:
    text = "SELECT x FROM a [FROM NOW-2 TO NOW SLIDE 1 ROW] WHERE x > 3"
    plan = transom.compile(text, catalog_of(SCHEMA)).optimized
    window = next(op for op in walk(plan) if isinstance(op, Window))
    assert type(window.input).__name__ == "StreamReceive"
    assert "push_selection_below_window" in rules_of("SELECT x FROM a [FROM NOW-2 TO NOW SLIDE 1 SEC] WHERE x > 3")


def test_unknown_rule_is_named() -> None:
    with pytest.raises(transom.TransomError, match="no optimizer rule is called fold"):
        optimize(transom.compile("SELECT x FROM a", catalog_of(SCHEMA)).optimized, constant_value, without=["fold"])


def test_equal_decimals_are_the_same_whatever_the_order() -> None:
    """MAX of 1.0 and 1.00 must not depend on which comes first, or commuting under an aggregate would show."""
    schema = {
        "q": {"kind": "pushed", "attrs": ["k:integer"]},
        "t": {"kind": "stored", "attrs": ["k:integer", "d:decimal"]},
    }
    text = "SELECT CAST(MAX(d) AS string) AS m FROM t, q [FROM NOW TO NOW SLIDE 1 SEC] WHERE t.k = q.k"
    rows = {"q": [(0, 2), (0, 1)], "t": [[1, Decimal("1.0")], [2, Decimal("1.00")]]}
    answers = {
        transom.compile(text, catalog_of(schema), optimize=optimize).simulate(rows, until=0).windows
        for optimize in (True, False)
    }
    assert len(answers) == 1
