"""Small questions to the translator, over a catalog with every kind of extent and every type."""

from __future__ import annotations

import pytest

from transom.algebra.expressions.expression import Constant, Expression, subexpressions
from transom.algebra.operator import Plan
from transom.algebra.streams import StreamProject, StreamSelect
from transom.algebra.tree import walk
from transom.catalog.catalog import Catalog
from transom.errors import QueryError
from transom.languages.sneeql.parse import parse
from transom.languages.sneeql.translate import translate

W = "[FROM NOW-5 TO NOW SLIDE 1 MIN]"
EXTENTS = {
    "road": "sensed (site:integer, temp:integer, level:float) RATE 1 MIN SITES (1, 2)",
    "traffic": "pushed (site:integer, vehicle:string, since:time, at:timestamp, price:decimal, ok:boolean)",
    "tempClass": "stored (temp:integer, category:string)",
    "tagged": "pushed (tick:string, x:integer)",
}
CATALOG = Catalog.from_dict({"extents": EXTENTS})


def plan_of(text: str, catalog: Catalog = CATALOG) -> Plan:
    return translate(parse(text), catalog).plan


def columns(text: str) -> list[str]:
    """The columns of the answer, as `label:type`."""
    return [str(attribute) for attribute in plan_of(text).schema]


def kinds(text: str) -> list[str]:
    """The operators of a plan, top first."""
    return [type(operator).__name__ for operator in walk(plan_of(text))]


def item(text: str, extent: str = "traffic") -> Expression:
    """The expression of a select list of one."""
    plan = plan_of(f"SELECT {text} AS it FROM {extent}")
    assert isinstance(plan, StreamProject)
    return plan.items[0].expression


def predicate(text: str, catalog: Catalog = CATALOG) -> Expression:
    """The predicate of a WHERE clause."""
    plan = plan_of(f"SELECT * FROM traffic WHERE {text}", catalog)
    assert isinstance(plan, StreamProject)
    assert isinstance(plan.input, StreamSelect)
    return plan.input.predicate


def literals(expression: Expression) -> list[tuple[object, str]]:
    """The constants in an expression."""
    return [(part.value, str(part.type)) for part in subexpressions(expression) if isinstance(part, Constant)]


def refused(text: str, kind: type[QueryError], words: str, catalog: Catalog = CATALOG) -> None:
    with pytest.raises(kind) as caught:
        plan_of(text, catalog)
    assert caught.value.message == words
    assert caught.value.span is not None
