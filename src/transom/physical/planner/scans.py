"""Planning of tables whose logs are followed while a query runs, scan by scan."""

from __future__ import annotations

from transom.algebra.operator import Windows
from transom.algebra.state import bounds
from transom.algebra.state.formula import Formula, plus, times
from transom.algebra.state.formula import RowCount as Rows
from transom.model.schema import Schema
from transom.physical import decisions, gaps
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import ExpandWindows, Form, ReadScans
from transom.physical.planner.context import Planning
from transom.physical.schedule import Schedule


def read_scans(extent: str, schema: Schema, schedule: Schedule, ordered: bool) -> PhysicalNode:
    """Plan reading a table's row changes from its log of periodic reads; Unsupported if rows must be `ordered`.

    The log does not record the position of deleted rows.
    """
    if ordered:
        raise gaps.FOLLOWED_ORDER.refusal()
    return ReadScans(extent, schema, schedule, decisions.read_scans(extent))


def expand_scans(planner: Planning, op: Windows, rows: PhysicalNode, form: Form) -> PhysicalNode:
    """Plan emitting all current rows of a table at each periodic read (scan), in `form`; `rows` plans its changes.

    `rows` is the plan of its changes. The result has the `form` TICKS, or INTERVALS if rows are valid until the next
    scan.
    """
    schedule = planner.schedule(op)
    assert schedule is not None  # noqa: S101 - tables are scanned by tick
    clock = planner.clock(op, "the clock gives the ticks at which the table is scanned")
    return ExpandWindows(
        rows, schedule, clock, rows.schema, False, decisions.expand_scans(table_state(planner, op)), form
    )


def expand_one_side(
    planner: Planning, sides: tuple[Windows, Windows], nodes: tuple[PhysicalNode, PhysicalNode]
) -> tuple[PhysicalNode, PhysicalNode]:
    """If both join inputs are tables and one changes, emit all its current rows at each scan; return both plans.

    Raises Unsupported if that table is not scanned periodically.
    """
    forms = [node.form for node in nodes]
    if Form.SCANS not in forms or not set(forms) <= {Form.SCANS, Form.TABLE}:
        return nodes
    scanned_side = forms.index(Form.SCANS)
    if not scan_period(nodes):
        raise gaps.FOLLOWED_WITHOUT_SCAN.refusal()
    expanded = expand_scans(planner, sides[scanned_side], nodes[scanned_side], Form.INTERVALS)
    return (expanded, nodes[1]) if scanned_side == 0 else (nodes[0], expanded)


def scan_schedule(node: PhysicalNode) -> Schedule:
    """The ticks at which the changing table below a plan node is scanned, that is read again, as a schedule."""
    return next(source.schedule for source in walk(node) if isinstance(source, ReadScans))


def scan_period(nodes: tuple[PhysicalNode, PhysicalNode]) -> int:
    """The number of ticks between two scans of the changing table in a join; 0 if it is scanned only once."""
    schedule = scan_schedule(next(node for node in nodes if node.form is Form.SCANS))
    return schedule.periods[0] if schedule.periods else 0


def table_state(planner: Planning, op: Windows) -> Formula:
    """Return an upper bound on a changing table's state: its rows, and changes that wait for the watermark."""
    size = bounds.window_size(op)
    return plus(size, times(bounds.windows_within(op, 1 + planner.slack.ticks), times(Rows(2), size)))
