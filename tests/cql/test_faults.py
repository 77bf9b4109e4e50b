"""Faults put into the reference engine on purpose are noticed by the golden cases or by the generated questions."""

from __future__ import annotations

from functools import cache

import pytest

import transom.model.geometry.space as space
import transom.reference.space_functions as space_functions
import transom.reference.tracks as tracks
from tests.cases import golden_cases
from tests.cql.golden_plans import GOLDEN
from tests.cql.plans import answer, in_order, inputs
from tests.faults import Fault, seeded
from tests.oracle_cql import build, oracle
from tests.oracle_cql.question import question
from transom.reference import relations, streams, windows

FAULTS = [
    Fault("open border", windows.in_range, "A_(*B_)", "all((A_(B_[0] + dx, B_[1] + dy) for dx in (-1e-09, 1e-09) for dy in (-1e-09, 1e-09)))"),
    Fault("a region tested on a box", windows.in_range, "region", "region.box"),
    Fault("straight line instead of the way", windows.position_elements, "before = A_", "before = before or A_"),
    Fault("the way has a sign", space.step_length, "A_(length)", "A_(dx * position.unit)"),
    Fault("every mark that is passed", windows.boundary_crossings, "last = boundary", "last = last + step"),
    Fault("the tuple that crosses is inside", windows.boundary_crossings, "{**B_, A_: C_}", "{**B_, A_: C_ + step}"),
    Fault("no window at the first tuple", windows.boundary_crossings, "A_ - step", "A_"),
    Fault("ticks compared as distances", windows.in_range, "element.at[coordinate]", "element.at[TICK]"),
    Fault("one way for all objects", windows.elements_by_key, "not op.key", "True"),
    Fault("what comes later is seen", windows.elements_in_window, "min(count_up_to(elements, TICK, at[TICK]), count_up_to(elements, INDEX, at[INDEX]))", "len(elements)"),
    Fault("keys have windows from the start", windows.slide_events, "instants[0] if op.key else A_", "A_"),
    Fault("a region evaluated at every arrival", windows.can_hold, "not isinstance(A_, RegionRange)", "True"),
    Fault("age changes nothing", windows.change_ticks, "A_ != B_", "set(A_) - set(B_)"),
    Fault("several ranges: any of them", windows.in_range, "all", "any"),
    Fault("no place is the origin", windows.in_range, "A_ is not None and B_(*A_)", "B_(*(A_ or (0.0, 0.0)))"),
    Fault("a side that has not started stops all", relations.at_every_instant, "[A_ for tick in B_]", "[A_ for tick in B_ if min((w.tick for w in left), default=99) <= tick and min((w.tick for w in right), default=99) <= tick]"),
    Fault("only the key that moved last", relations.relation_at, "row_identity(w.key)", "0"),
    Fault("windows of all keys compared in a row", relations.with_previous_window, "window.key", "()"),
    Fault("re-emission at every instant", relations.suppress_unchanged, "w.is_final or difference(A_, before)", "A_"),
    Fault("left join forgets who is alone", relations.relation_join, "A_ or (row + nulls,)", "A_"),
    Fault("EXCEPT of sets for bags", relations.relation_except, "difference(*A_)", "tuple((row for row in A_[0] if row not in A_[1]))"),
    Fault("a speed over no time", tracks.evaluate_track, 'if A_ or B_:\n    return None', 'if A_:\n    return None\nif B_ and (duration := 1) and False:\n    return None'),
    Fault("a speed over the time that passed", tracks.evaluate_track, "track.span is not None", "track.span is None and (not ticks)"),
    Fault("metres per second", space_functions.kilometres_per_hour, "5", "18"),
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


SWAPPED = Fault("DStream is IStream", streams.d_stream, "B_(C_, A_)", "B_(A_, C_)")


def test_streams_are_compared_too() -> None:
    with seeded(SWAPPED):
        assert noticed()
