"""Faults put into the reference engine on purpose are noticed by the golden cases or by the generated questions."""

from __future__ import annotations

from functools import cache

import pytest

import transom.model.space as space
import transom.reference.space_functions as space_functions
import transom.reference.tracks as tracks
from tests.cases import golden_cases
from tests.cql.golden_plans import GOLDEN
from tests.cql.plans import answer, in_order, inputs
from tests.oracle_cql import build, oracle
from tests.oracle_cql.question import question
from tests.test_faults import Fault, seeded
from transom.reference import relations, streams, windows

FAULTS = [
    Fault("open border", windows, "e.place is not None and region.covers(*e.place)", "e.place is not None and all(region.covers(e.place[0] + dx, e.place[1] + dy) for dx in (-1e-9, 1e-9) for dy in (-1e-9, 1e-9))"),
    Fault("a region tested on a box", windows, "region.covers(*e.place)", "region.box.covers(*e.place)"),
    Fault("straight line instead of the way", windows, "            before = place\n", "            before = before or place\n"),
    Fault("the way has a sign", space, "return round(length) if length", "return round(dx * position.unit) if length"),
    Fault("every mark that is passed", windows, "            last = mark\n", "            last = last + size\n"),
    Fault("the tuple that crosses is inside", windows, "events.append((now, {**at, coordinate: mark}))", "events.append((now, {**at, coordinate: mark + size}))"),
    Fault("no window at the first tuple", windows, "    last = first - size\n", "    last = first\n"),
    Fault("ticks compared as distances", windows, "<= e.at[coordinate] <= high", "<= e.at[TICK] <= high"),
    Fault("one way for all objects", windows, "    if not op.key:\n        return [((), stands(op, elements))]", "    if True:\n        return [((), stands(op, elements))]"),
    Fault("what comes later is seen", windows, "return e.at[TICK] <= at[TICK] and e.at[INDEX] <= at[INDEX] and", "return"),
    Fault("keys have windows from the start", windows, "born = instants[0] if op.key else inputs.start", "born = inputs.start"),
    Fault("a region evaluated at every arrival", windows, "return not isinstance(reach, Inside) or", "return True or"),
    Fault("age changes nothing", windows, "if held != before:", "if set(held) - set(before):"),
    Fault("several ranges: any of them", windows, "return all(in_range(part", "return any(in_range(part"),
    Fault("no place is the origin", windows, "return e.place is not None and region.covers(*e.place)", "return region.covers(*(e.place or (0.0, 0.0)))"),
    Fault("a side that has not started stops all", relations, "for tick in ticks]", "for tick in ticks\n        if min((w.tick for w in left), default=99) <= tick and min((w.tick for w in right), default=99) <= tick]"),
    Fault("only the key that moved last", relations, "last = {row_identity(w.key): w for w in windows if w.tick <= tick}", "last = {0: w for w in windows if w.tick <= tick}"),
    Fault("windows of all keys compared in a row", relations, "lineage = row_identity(window.key)", "lineage = row_identity(())"),
    Fault("re-emission at every instant", relations, "if w.over or difference(w.rows, before)]", "if w.rows]"),
    Fault("left join forgets who is alone", relations, "(pairs or (one + nothing,))", "pairs"),
    Fault("EXCEPT of sets for bags", relations, "return difference(*sides)", "return tuple(row for row in sides[0] if row not in sides[1])"),
    Fault("a speed over no time", tracks, "if not rows or not duration:", "if not rows:\n                return None\n            if not duration and (duration := 1) and False:"),
    Fault("a speed over the time that passed", tracks, "track.span if track.span is not None else", "track.span if track.span is None and not ticks else"),
    Fault("metres per second", space_functions, "ticks * tick_length * 5", "ticks * tick_length * 18"),
]  # fmt: skip


@cache
def asked() -> list[tuple[object, object, object]]:
    """Golden cases and generated questions: a plan, what goes in, and what should come out."""
    cases: list[tuple[object, object, object]] = []
    for case in golden_cases("cql"):
        if case.name[:3] in GOLDEN:
            given = inputs(case.schema, case.inputs, case.until)
            cases.append((GOLDEN[case.name[:3]](case.schema), given, in_order(case.expected["rows"])))
    for seed in range(330):
        q = question(seed)
        cases.append((build.plan(q), build.given(q), oracle.answer(q)))
    return cases


def noticed() -> bool:
    """Whether some answer is wrong, or none comes at all."""
    for plan, given, wanted in asked():
        try:
            found: object = answer(plan, given) if isinstance(wanted, list) else build.answer(plan, given)  # type: ignore[arg-type]
        except (ArithmeticError, TypeError, IndexError):
            return True
        if found != wanted:
            return True
    return False


def test_nothing_is_noticed_without_a_fault() -> None:
    assert not noticed()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_fault_is_noticed(fault: Fault) -> None:
    with seeded(fault):
        assert noticed()


def test_streams_are_compared_too() -> None:
    fault = Fault("DStream is IStream", streams, "difference(before, w.rows)", "difference(w.rows, before)")
    with seeded(fault):
        assert noticed()
