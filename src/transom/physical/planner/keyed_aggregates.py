"""Planning of aggregates that the keyed-window machine computes itself, key by key.

That works under RSTREAM if each key is a group: then no operator needs the rows of a window. Lines and positions are
still computed from the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from transom.algebra.expressions.expression import Aggregate, AggregateFunction, Column, Expression
from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction, point_expression
from transom.algebra.operator import Windows
from transom.algebra.relations import TrackAggregation, WindowAggregation, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.state import bounds
from transom.algebra.windows import Window
from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.model.types import Type
from transom.physical import decisions
from transom.physical.decisions import STATELESS
from transom.physical.nodes.keyed_windows import KeyedWindow, KeyedWindowAggregate
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.windows import Filter, Form, Project
from transom.physical.planner import relations, routes
from transom.physical.planner.context import Planning

Aggregation: TypeAlias = WindowAggregation | TrackAggregation

ROW_COUNT = SlidingAggregateSpec("count", "integer", None)
"""The number of rows in a window; always the first aggregate, as a group without rows does not exist."""

PATH_LENGTH = SlidingAggregateSpec("path", "integer", None)


def plan_aggregates(planner: Planning, op: Windows, ordered: bool) -> PhysicalNode | None:
    """Plan aggregates that keyed windows' state machine computes; None if it cannot; `ordered`: with a sort key.

    With `ordered`, the result rows have a sort-key column.
    """
    match op:
        case WindowSelect(input=input, predicate=predicate) if below := plan_aggregates(planner, input, ordered):
            return Filter(below, predicate, op.schema, below.form, below.ordered, STATELESS)
        case WindowProject(input=input, items=items) if below := plan_aggregates(planner, input, ordered):
            return Project(below, items, op.schema, below.form, below.ordered, STATELESS)
        case WindowAggregation(input=Window() as window) | TrackAggregation(input=Window() as window):
            return (
                _plan_aggregate(planner, op, window, ordered)
                if is_supported(op, window, use_kernel=planner.kernel)
                else None
            )
        case _:
            return None


def is_supported(op: Aggregation, window: Window, *, use_kernel: bool) -> bool:
    """Whether a state machine (in Java if `use_kernel`) can compute `op`, an aggregation of the windows of each key.

    `op` must group by the window's key, and sums of floats need the kernel.
    """
    if isinstance(window.input, StoredTable) or not window.key or not routes.needs_keyed_window(window):
        return False
    groups = [item.expression for item in op.groups]
    if len(groups) != len(window.key) or set(groups) != set(map(Column, window.key)):
        return False
    return all(key.type is not Type.FLOAT for key in window.key) and all(
        _is_computable(a, window) and (use_kernel or not _sums_floats(a)) for a in op.aggregates
    )


def _is_computable(aggregate: Aggregate | TrackAggregate, window: Window) -> bool:
    """Whether the state machine of keyed windows can compute an aggregate; the caller checks sums of floats."""
    if not isinstance(aggregate, TrackAggregate):
        return aggregate.argument is None or aggregate.argument.type not in (Type.POINT, Type.LINE)
    if aggregate.function not in (TrackFunction.AVGSPD, TrackFunction.PATHLENGTH):
        return False
    if window.position is None or aggregate.point != point_expression(window.position_columns, window.position):
        return False
    if aggregate.tick not in [Column(tag) for tag in window.tags if tag.name == "tick"]:
        return False
    position, window_position = aggregate.position, window.position
    return (position.geodesic, position.unit) == (window_position.geodesic, window_position.unit)


def _sums_floats(aggregate: Aggregate | TrackAggregate) -> bool:
    """Whether an aggregate is SUM or AVG of floats, which for keyed windows only the Java kernel computes."""
    if isinstance(aggregate, TrackAggregate) or aggregate.argument is None:
        return False
    summed = aggregate.function in (AggregateFunction.SUM, AggregateFunction.AVG)
    return summed and aggregate.argument.type is Type.FLOAT


def _plan_aggregate(planner: Planning, op: Aggregation, window: Window, ordered: bool) -> KeyedWindowAggregate:
    """Plan `op` over a window per key as one state machine; with `ordered`, result rows get a sort-key column.

    With `ordered`, the result rows have a sort-key column.
    """
    windows = relations.plan_keyed_window(planner, window, Form.WINDOWS, ordered=True)
    assert isinstance(windows, KeyedWindow)  # noqa: S101 - keyed windows are always this node
    inputs = _MachineInputs([Column(attribute) for attribute in window.position_columns])
    spec = windows.spec
    if spec.position is not None:
        spec = replace(spec, position=replace(spec.position, x=0, y=None if spec.position.y is None else 1))
    computed = (ROW_COUNT, *(part for a in op.aggregates for part in inputs.of(a)))
    flag = None if windows.flag is None else len(inputs.cells)
    cells = (*inputs.cells, *([] if windows.flag is None else [windows.flag]))
    spec = replace(spec, flag=flag, output="aggregates", aggregates=tuple(dict.fromkeys(computed)))
    decision = decisions.keyed_window_aggregate(window, bounds.operator_state(window), planner.slack)
    return KeyedWindowAggregate(
        windows.input, spec, window.key, op.groups, op.aggregates, cells, window.tags, op.schema, ordered, decision
    )


@dataclass
class _MachineInputs:
    """Input columns of a machine: a row's position columns, then each expression of the aggregates, once."""

    cells: list[Expression] = field(default_factory=list)

    def of(self, aggregate: Aggregate | TrackAggregate) -> tuple[SlidingAggregateSpec, ...]:
        """Return the state machine's aggregates for one of the query; add the columns they read to the inputs."""
        if not isinstance(aggregate, TrackAggregate):
            argument = aggregate.argument
            kind = Type.INTEGER if argument is None or argument.type is Type.TIME else argument.type
            index = None if argument is None else self._column_index(argument)
            return (SlidingAggregateSpec(aggregate.function.value.lower(), kind.value, index),)
        if aggregate.function is TrackFunction.PATHLENGTH or aggregate.span is not None:
            return (PATH_LENGTH,)
        tick = self._column_index(aggregate.tick)
        return (
            PATH_LENGTH,
            SlidingAggregateSpec("first", "integer", tick),
            SlidingAggregateSpec("last", "integer", tick),
        )

    def _column_index(self, expression: Expression) -> int:
        """Return the index of the state machine's input column for `expression`; add the column if it is missing."""
        if expression not in self.cells:
            self.cells.append(expression)
        return self.cells.index(expression)


def aggregate_positions(node: KeyedWindowAggregate, aggregate: Aggregate | TrackAggregate) -> list[int]:
    """Return the indexes, in node.spec.aggregates, of the values from which a query's aggregate is computed."""
    return [node.spec.aggregates.index(part) for part in _MachineInputs(list(node.cells)).of(aggregate)]
