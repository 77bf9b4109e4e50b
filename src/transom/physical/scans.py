"""Tables that are scanned while a query runs: what their logs tell is taken as it comes."""

from __future__ import annotations

from transom.algebra import bounds
from transom.algebra.operator import Windows
from transom.algebra.state import Formula, plus, times
from transom.algebra.state import Number as Rows
from transom.model.schema import Schema
from transom.physical import choices, gaps
from transom.physical.context import Planning
from transom.physical.node import Physical
from transom.physical.plan import Form, ReadScans, Spread
from transom.physical.schedule import Schedule
from transom.physical.walk import walk


def read(extent: str, schema: Schema, schedule: Schedule, ordered: bool) -> Physical:
    """The scans of a table; a log does not say where among others the row stood that left."""
    if ordered:
        raise gaps.FOLLOWED_ORDER.refusal()
    return ReadScans(extent, schema, schedule, choices.scans(extent))


def spread(planner: Planning, op: Windows, rows: Physical, form: Form) -> Physical:
    """The rows of every scan: by its tick, or as stays that last until the next."""
    schedule = planner.schedule(op)
    assert schedule is not None  # noqa: S101 - tables are scanned by tick
    clock = planner.clock(op, "a table is scanned when the clock says so")
    return Spread(rows, schedule, clock, rows.schema, False, choices.whole(held(planner, op)), form)


def settled(
    planner: Planning, sides: tuple[Windows, Windows], nodes: tuple[Physical, Physical]
) -> tuple[Physical, Physical]:
    """Two sides of a pair, of which one at most is known by its scans alone: of two tables one is written out."""
    forms = [node.form for node in nodes]
    if Form.SCANS not in forms or not set(forms) <= {Form.SCANS, Form.TABLE}:
        return nodes
    place = forms.index(Form.SCANS)
    if not period(nodes):
        raise gaps.FOLLOWED_ONCE.refusal()
    made = spread(planner, sides[place], nodes[place], Form.STAYS)
    return (made, nodes[1]) if place == 0 else (nodes[0], made)


def schedule_of(node: Physical) -> Schedule:
    """When the table below a node is scanned."""
    return next(below.schedule for below in walk(node) if isinstance(below, ReadScans))


def period(nodes: tuple[Physical, Physical]) -> int:
    """The ticks between two scans of the first side that is known by them; 0 for one scan."""
    schedule = schedule_of(next(node for node in nodes if node.form is Form.SCANS))
    return schedule.periods[0] if schedule.periods else 0


def held(planner: Planning, op: Windows) -> Formula:
    """The table, and what changes in it at scans that are not closed."""
    size = bounds.size(op)
    return plus(size, times(bounds.windows_within(op, 1 + planner.span.slack), times(Rows(2), size)))
