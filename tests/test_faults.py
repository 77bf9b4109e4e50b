"""Plausible faults, put into the reference engine one at a time: the golden and the generated suite notice each one."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.cases import golden_cases, run
from tests.oracle.compare import same
from tests.oracle.duck import answer
from tests.oracle.generate import generate
from transom.reference import expressions, relations, sources, streams, windows

GENERATED = 200


@dataclass(frozen=True)
class Fault:
    """A fault: what the code says, and what it would say if someone had been careless."""

    name: str
    module: ModuleType
    right: str
    wrong: str


FAULTS = [
    Fault("lower bound excluded", windows, "low.at(at[coordinate]) <= e", "low.at(at[coordinate]) < e"),
    Fault("upper bound excluded", windows, "<= high.at(at[coordinate])", "< high.at(at[coordinate])"),
    Fault(
        "empty windows missing",
        windows,
        "for now, at in slide_events(op, lineage, inputs)\n",
        "for now, at in slide_events(op, lineage, inputs)\n        if any(is_in(op.range, e, at) for e in lineage)\n",
    ),
    Fault("first time window after one slide", windows, "range(slide.first +", "range(slide.first + slide.step +"),
    Fault("last tick left out", windows, "inputs.until + 1, slide.step", "inputs.until, slide.step"),
    Fault("first row window at row 1", windows, "(e.at[INDEX] - first) % size == 0", "(e.at[INDEX] - 1) % size == 0"),
    Fault("row windows one tick late", windows, "(e.at[TICK], e.at)", "(e.at[TICK] + 1, e.at)"),
    Fault("scan sees the tick before", sources, "version.tick <= now", "version.tick < now"),
    Fault("one-off scan at the end", windows, "[inputs.start] if", "[inputs.until] if"),
    Fault(
        "set difference for bag difference",
        streams,
        "difference(w.rows, before)",
        "tuple(row for row in w.rows if row not in before)",
    ),
    Fault("DSTREAM is ISTREAM", streams, "difference(before, w.rows)", "difference(w.rows, before)"),
    Fault("previous window of the first is itself", relations, "previous.get(lineage, ())", "previous.get(lineage, window.rows)"),
    Fault("running index dropped", streams, "Element(tick, index, row) for index", "Element(tick, 1, row) for index"),
    Fault("filter renumbers", streams, "return [e for e in elements if holds", "return renumber([e for e in elements if holds"),
    Fault("row windows keep old numbers", streams, "Element(e.tick, place, e.row) for place, e", "e for place, e"),
    Fault("only the last window of a tick", relations, "last.get(row_identity(w.key))]", "last.get(row_identity(w.key))][-1:]"),
    Fault("product before both started", relations, "last.get(row_identity(w.key))]", "last.get(row_identity(w.key))] or [Bag(tick, ())]"),
    Fault("tick of the older window", relations, "Bag(max(left.tick, right.tick)", "Bag(min(left.tick, right.tick)"),
    Fault("shared ticks twice", relations, "sorted({w.tick for w in left} | {w.tick for w in right})", "sorted([*{w.tick for w in left}, *{w.tick for w in right}])"),
    Fault("right-major pairs", relations, "for one in current(tick, left) for other in current(tick, right)]", "for other in current(tick, right) for one in current(tick, left)]"),
    Fault("no tuple over an empty window", relations, "if not op.groups:", "if not op.groups and not rows:\n        return ()\n    if not op.groups:"),
    Fault("NULL group dropped", relations, "key = project(op.groups, scope(row))\n", "key = project(op.groups, scope(row))\n        if None in key:\n            continue\n"),
    Fault("groups in order of arrival", relations, "sorted(groups.values(), key=lambda group: row_key(group[0]))", "groups.values()"),
    Fault("unknown counts as true", expressions, "return value(predicate, scope) is True", "return value(predicate, scope) is not False"),
    Fault("COUNT counts NULL", expressions, "case AggregateFunction.COUNT:\n            return len(values)", "case AggregateFunction.COUNT:\n            return len(members)"),
    Fault("MIN is MAX", expressions, "return min(values", "return max(values"),
    Fault("mean cut off", expressions, "Fraction(0)) / len(values)", "Fraction(0)) // len(values)"),
]  # fmt: skip


@contextmanager
def seeded(fault: Fault) -> Iterator[None]:
    """The reference engine with a fault in it."""
    source = inspect.getsource(fault.module)
    assert source.count(fault.right) == 1, f"{fault.name}: the text to change stands {source.count(fault.right)} times"
    wrong = source.replace(fault.right, fault.wrong)
    if fault.name == "filter renumbers":
        wrong = wrong.replace(
            "Scope.of(schema, e))]\n\n\ndef stream_project",
            "Scope.of(schema, e))])\n\n\ndef stream_project",
        )
    before = dict(vars(fault.module))
    others = [m for name, m in list(sys.modules.items()) if name.startswith("transom.") and m is not fault.module]
    exec(compile(wrong, f"<{fault.name}>", "exec"), vars(fault.module))  # noqa: S102 - that is the point
    undo: list[tuple[ModuleType, str, Any]] = []
    for name, old in before.items():
        new = vars(fault.module)[name]
        if new is not old and not name.startswith("__"):
            for other in others:
                for alias, used in list(vars(other).items()):
                    if used is old:
                        undo.append((other, alias, old))
                        setattr(other, alias, new)
    try:
        yield
    finally:
        vars(fault.module).update(before)
        for module, alias, old in undo:
            setattr(module, alias, old)


@cache
def questions() -> list[tuple[Any, dict[str, Any]]]:
    """Generated questions with DuckDB's answers."""
    return [(question, answer(question)) for question in map(generate, range(GENERATED))]


def notices(question: Any, expected: Any) -> bool:
    """Whether an answer of the faulty engine differs from the right one; an engine that falls over is noticed."""
    try:
        return same(run(question), expected) is not None
    except Exception:
        return True


def golden_notices() -> int:
    """How many golden cases notice."""
    return sum(notices(c, c.expected) for c in golden_cases() if c.expected["kind"] != "error")


def generated_notices() -> int:
    """How many generated questions notice."""
    return sum(notices(question, expected) for question, expected in questions())


@pytest.mark.deep
def test_without_a_fault_nothing_is_noticed() -> None:
    assert (golden_notices(), generated_notices()) == (0, 0)


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_fault_is_noticed(fault: Fault) -> None:
    with seeded(fault):
        by_golden, by_generated = golden_notices(), generated_notices()
    assert by_golden > 0
    assert by_generated > 0


def test_the_engine_is_whole_again() -> None:
    assert golden_notices() == 0
