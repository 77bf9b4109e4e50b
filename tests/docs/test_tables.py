"""The tables that come from the code are what the code says."""

from __future__ import annotations

import re

import pytest

from tests.docs.examples import FUNCTION_EXAMPLES, WINDOW_FORMS
from tests.docs.pages import ROOT, text_of
from tests.docs.tables import TABLES
from transom.algebra.expressions.functions import FUNCTIONS
from transom.algebra.tree import OPERATORS
from transom.algebra.windows import Window
from transom.optimizer.pipeline import RULES


@pytest.mark.parametrize(("page", "marker"), TABLES, ids=lambda part: part)
def test_table(page: str, marker: str, rewrite: bool) -> None:
    text = text_of(page)
    place = re.compile(rf"(<!-- {marker} -->\n)(.*?)(<!-- end -->)", re.DOTALL)
    assert len(place.findall(text)) == 1, f"{page} needs the markers <!-- {marker} --> and <!-- end -->"
    wanted = f"\n{TABLES[page, marker]()}\n\n"
    if rewrite:
        (ROOT / page).write_text(place.sub(lambda found: found[1] + wanted + found[3], text), "utf-8")
    else:
        assert place.findall(text)[0][1] == wanted, "pytest tests/docs --rewrite puts in the table of today"


def test_no_function_is_missing() -> None:
    assert list(FUNCTION_EXAMPLES) == list(FUNCTIONS)
    for name, function in FUNCTIONS.items():
        row = f"| `{name}` | {function.meaning.split(':')[0]}".replace("`||`", "`\\|\\|`")
        assert row in text_of("docs/sneeql.md"), name


def test_no_operator_is_missing() -> None:
    for operator in OPERATORS:
        assert f"| `{operator.__name__}` |" in text_of("docs/operators.md")


def test_no_rule_is_missing() -> None:
    for rule in RULES:
        assert f"| `{rule.name}` |" in text_of("docs/engine.md")


def test_every_form_of_window_is_one_operator() -> None:
    assert len(WINDOW_FORMS) >= 11
    assert all(type(window) is Window for window in WINDOW_FORMS.values())
