"""One golden file per rule: plans before and after it, with a sentence that says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import transom
from transom.algebra.expressions.expression import identity_items
from transom.algebra.streams import StreamProject
from transom.errors import PlanError
from transom.optimizer.pipeline import RULES, RewriteStep, Rule, check_step, optimize
from transom.reference.expressions import constant_value

GOLDEN = Path(__file__).parents[1] / "golden" / "rules"
CATALOG = transom.Catalog.read("""
extents:
  road: sensed (site:integer, temp:integer, vibration:integer) RATE 1 MIN SITES (1, 2)
  traffic: pushed (site:integer, weight:integer)
  tempClass: stored (temp:integer, category:string)
  ships: {declare: "pushed (id:string, x:float, y:float)", position: {x: x, y: y, unit: m}}
regions:
  bay: {wkt: "POLYGON ((0 0, 9 0, 9 5, 5 9, 0 9, 0 0))"}
  pier: {wkt: "POLYGON ((0 0, 1 0, 1 1, 0 0))"}
""")
CQL = re.compile(r"\[(NOW|RANGE|ROWS|PARTITION|UNBOUNDED)\b")
"""What only CQL writes."""


def sections(path: Path) -> list[tuple[str, str]]:
    """The questions of a golden file: a sentence and a query each."""
    found = []
    for block in path.read_text("utf-8").strip().split("\n\n\n"):
        why, query = block.split("\n\n")[:2]
        found.append((why.removeprefix("# "), query))
    return found


COMPANIONS = {"merge_selections": ["push_selection_below_projection"]}
"""Rules that must run before another has something to do: no text puts one selection right on another."""


def block(why: str, text: str, name: str) -> str:
    """One question with its plan before and after the rule, all other rules but its companions off."""
    before = compiled(text, COMPANIONS.get(name, []))
    after = compiled(text, [*COMPANIONS.get(name, []), name])
    plans = f"stays\n{before}" if before == after else f"before\n{before}\n\nafter\n{after}"
    return f"# {why}\n\n{text}\n\n{plans}"


def compiled(text: str, rules: list[str]) -> str:
    """The plan of a query with some rules on, without its remarks."""
    language = "cql" if CQL.search(text) else "sneeql"
    off = [rule.name for rule in RULES if rule.name not in rules]
    query = transom.compile(text, CATALOG, language=language, without=off)
    return bare(query.explain("optimized"))


def bare(plan: str) -> str:
    """A plan without its remarks."""
    return "\n".join(line.split("  -- ")[0] for line in plan.splitlines())


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_golden_file(rule: Rule, rewrite: bool) -> None:
    path = GOLDEN / f"{rule.name}.txt"
    text = "\n\n\n".join(block(why, query, rule.name) for why, query in sections(path)) + "\n"
    if rewrite:
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")
    assert "\nafter\n" in text
    assert "\nstays\n" in text


def test_every_rule_says_what_it_does() -> None:
    assert all(len(rule.meaning.split()) > 4 for rule in RULES)
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {rule.name for rule in RULES}


def test_a_rule_that_changes_the_columns_is_caught() -> None:
    plan = transom.compile("SELECT site, weight FROM traffic", CATALOG).optimized
    assert isinstance(plan, StreamProject)
    with pytest.raises(PlanError, match="changed the columns"):
        check_step(plan, RewriteStep("careless", StreamProject(plan, identity_items(plan.schema.attributes[:1]))))


def test_a_rule_that_goes_round_in_circles_is_caught() -> None:
    plan = transom.compile("SELECT site, weight FROM traffic", CATALOG).optimized
    dizzy = Rule("dizzy", lambda op, context: op if op == plan else None)
    with pytest.raises(PlanError, match="led back"):
        optimize(plan, constant_value, rules=[dizzy])
