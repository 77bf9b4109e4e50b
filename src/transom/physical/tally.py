"""From algebra to a plan for Spark: aggregates that the machine of a window tells itself, key by key.

This is so where each key is a group and rows go out: then nobody asks which rows a window held. Lines and places of
rows are asked of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from transom.algebra import bounds
from transom.algebra.expressions import Aggregate, AggregateFunction, Column, Expression
from transom.algebra.operator import Windows
from transom.algebra.relations import TrackAggregation, WindowAggregation, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.tracks import Track, TrackFunction, place_of
from transom.algebra.windows import Window
from transom.machines.aggregates import SlideAggregate
from transom.model.types import Type
from transom.physical import choices, relate, routes
from transom.physical.choices import STATELESS
from transom.physical.context import Planning
from transom.physical.lines import Lines, Tally
from transom.physical.node import Physical
from transom.physical.plan import Filter, Form, Map

Aggregation: TypeAlias = WindowAggregation | TrackAggregation

ROWS = SlideAggregate("count", "integer", None)
"""How many rows a window holds: the first thing that is told of it, as a group without a row is none."""

PATH = SlideAggregate("path", "integer", None)


def windows(planner: Planning, op: Windows, ordered: bool) -> Physical | None:
    """Aggregates of the windows of each key and what stands on them, if a machine can tell them."""
    match op:
        case WindowSelect(input=input, predicate=predicate) if below := windows(planner, input, ordered):
            return Filter(below, predicate, op.schema, below.form, below.ordered, STATELESS)
        case WindowProject(input=input, items=items) if below := windows(planner, input, ordered):
            return Map(below, items, op.schema, below.form, below.ordered, STATELESS)
        case WindowAggregation(input=Window() as window) | TrackAggregation(input=Window() as window):
            return _tally(planner, op, window, ordered) if takes(op, window, kernel=planner.kernel) else None
        case _:
            return None


def takes(op: Aggregation, window: Window, *, kernel: bool) -> bool:
    """Whether the machine of a window can tell aggregates of it; without the kernel, floats are Spark's to sum."""
    if isinstance(window.input, StoredTable) or not window.key or not routes.takes(window):
        return False
    groups = [item.expression for item in op.groups]
    if len(groups) != len(window.key) or set(groups) != set(map(Column, window.key)):
        return False
    return all(key.type is not Type.FLOAT for key in window.key) and all(
        _tells(a, window) and (kernel or not _sums_floats(a)) for a in op.aggregates
    )


def _tells(aggregate: Aggregate | Track, window: Window) -> bool:
    if not isinstance(aggregate, Track):
        return aggregate.argument is None or aggregate.argument.type not in (Type.POINT, Type.LINE)
    if aggregate.function not in (TrackFunction.AVGSPD, TrackFunction.PATHLENGTH):
        return False
    if window.position is None or aggregate.place != place_of(window.place, window.position):
        return False
    if aggregate.tick not in [Column(tag) for tag in window.tags if tag.name == "tick"]:
        return False
    one, other = aggregate.position, window.position
    return (one.geodesic, one.unit) == (other.geodesic, other.unit)


def _sums_floats(aggregate: Aggregate | Track) -> bool:
    if isinstance(aggregate, Track) or aggregate.argument is None:
        return False
    summed = aggregate.function in (AggregateFunction.SUM, AggregateFunction.AVG)
    return summed and aggregate.argument.type is Type.FLOAT


def _tally(planner: Planning, op: Aggregation, window: Window, ordered: bool) -> Tally:
    lines = relate.lines(planner, window, Form.WINDOWS, ordered=True)
    assert isinstance(lines, Lines)  # noqa: S101 - that is what windows of keys are
    asked = _Asked([Column(place) for place in window.place])
    spec = lines.spec
    if spec.place is not None:
        spec = replace(spec, place=replace(spec.place, x=0, y=None if spec.place.y is None else 1))
    told = (ROWS, *(one for a in op.aggregates for one in asked.of(a)))
    flag = None if lines.flag is None else len(asked.cells)
    cells = (*asked.cells, *([] if lines.flag is None else [lines.flag]))
    spec = replace(spec, flag=flag, output="aggregates", aggregates=tuple(dict.fromkeys(told)))
    choice = choices.tally(window, bounds.remembered(window), planner.span)
    return Tally(
        lines.input, spec, window.key, op.groups, op.aggregates, cells, window.tags, op.schema, ordered, choice
    )


@dataclass
class _Asked:
    """What goes into a machine: the place of a row, then what aggregates are made of, each expression once."""

    cells: list[Expression] = field(default_factory=list)

    def of(self, aggregate: Aggregate | Track) -> tuple[SlideAggregate, ...]:
        """What is told for an aggregate."""
        if not isinstance(aggregate, Track):
            argument = aggregate.argument
            kind = Type.INTEGER if argument is None or argument.type is Type.TIME else argument.type
            at = None if argument is None else self._place(argument)
            return (SlideAggregate(aggregate.function.value.lower(), kind.value, at),)
        if aggregate.function is TrackFunction.PATHLENGTH or aggregate.span is not None:
            return (PATH,)
        tick = self._place(aggregate.tick)
        return PATH, SlideAggregate("first", "integer", tick), SlideAggregate("last", "integer", tick)

    def _place(self, expression: Expression) -> int:
        if expression not in self.cells:
            self.cells.append(expression)
        return self.cells.index(expression)


def places(node: Tally, aggregate: Aggregate | Track) -> list[int]:
    """Where the machine of a node tells what an aggregate is made of."""
    return [node.spec.aggregates.index(one) for one in _Asked(list(node.cells)).of(aggregate)]
