"""Plausible faults, put into the reference engine one at a time: the golden and the generated suite notice each one."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.cases import golden_cases, run
from tests.faults import Fault, seeded
from tests.oracle.compare import same
from tests.oracle.duck import answer
from tests.oracle.generate import generate
from transom.reference import expressions, relations, sources, streams, windows

GENERATED = 200


FAULTS = [
    Fault("lower bound excluded", windows.in_range, "A_ <= C_ <= B_", "A_ < C_ <= B_"),
    Fault("upper bound excluded", windows.in_range, "A_ <= C_ <= B_", "A_ <= C_ < B_"),
    Fault(
        "empty windows missing",
        windows.windows_of_key,
        "[A_ for now, at in B_]",
        "[A_ for now, at in B_ if any((is_in(op.range, e, at) for e in elements))]",
    ),
    Fault("first time window after one slide", windows.boundaries, "slide.first + A_", "slide.first + slide.step + A_"),
    Fault("last tick left out", windows.boundaries, "A_ + 1", "A_"),
    Fault("first row window at row 1", windows.slide_events, "A_ - first", "A_ - 1"),
    Fault("row windows one tick late", windows.slide_events, "(A_, e.at)", "(A_ + 1, e.at)"),
    Fault("scan sees the tick before", sources.scan_table, "A_ <= B_", "A_ < B_"),
    Fault("one-off scan at the end", windows.scan_ticks, "[A_.start]", "[A_.until]"),
    Fault(
        "set difference for bag difference",
        streams.i_stream,
        "difference(A_, B_)",
        "tuple((row for row in A_ if row not in B_))",
    ),
    Fault("DSTREAM is ISTREAM", streams.d_stream, "B_(C_, A_)", "B_(A_, C_)"),
    Fault("previous window of the first is itself", relations.with_previous_window, "()", "window.rows"),
    Fault("running index dropped", streams.stream_of_batches, "A_(B_, index, C_)", "A_(B_, 1, C_)"),
    Fault("filter renumbers", streams.stream_select, "[e for e in elements if is_true(op.predicate, RowContext.of(schema, e))]", "renumber([e for e in elements if is_true(op.predicate, RowContext.of(schema, e))])"),
    Fault("row windows keep old numbers", streams.renumber, "Element(A_.tick, index, A_.row)", "A_"),
    Fault("only the last window of a tick", relations.current_windows, "[w for w in current if not w.is_final or w.tick == tick]", "[w for w in current if not w.is_final or w.tick == tick][-1:]"),
    Fault("product before both started", relations.current_windows, "[w for w in current if not w.is_final or w.tick == tick]", "[w for w in current if not w.is_final or w.tick == tick] or [Bag(tick, ())]"),
    Fault("tick of the older window", relations.concat_windows, "max", "min"),
    Fault("shared ticks twice", relations.tick_union, "A_ | B_", "[*A_, *B_]"),
    Fault("right-major pairs", relations.tick_cross_product, "[A_ for first in B_ for second in C_]", "[A_ for second in C_ for first in B_]"),
    Fault("no tuple over an empty window", relations.aggregate_over_window, 'if not op.groups:\n    return A_', 'if not op.groups:\n    return A_ if rows else ()'),
    Fault("NULL group dropped", relations.aggregate_over_window, "key = A_", 'key = A_\nif None in key:\n    continue'),
    Fault("groups in order of arrival", relations.aggregate_over_window, "sorted(A_, key=lambda group: row_key(group[0]))", "A_"),
    Fault("unknown counts as true", expressions.is_true, "A_ is True", "A_ is not False"),
    Fault("COUNT counts NULL", expressions.aggregate_values, "len(values)", "len(members)"),
    Fault("MIN is MAX", expressions.aggregate_values, "min", "max"),
    Fault("mean cut off", expressions.mean, "A_ / B_", "A_ // B_"),
]  # fmt: skip


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
