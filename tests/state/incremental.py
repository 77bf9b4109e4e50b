"""A straightforward evaluation, tick by tick, that forgets what it can and counts the rows it still holds.

It shares nothing with the reference engine but the evaluation of expressions, so its answers are a check as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from transom.algebra.operator import Operator
from transom.algebra.relations import (
    WindowAggregation,
    WindowCrossProduct,
    WindowJoin,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import DStream, IStream, Renumber, RStream, StreamProject, StreamSelect
from transom.algebra.windows import AtStart, Coordinate, CoordinateRange, Every, Window
from transom.model.bag import Bag, Element, Row, difference
from transom.reference.expressions import EvaluationContext, RowContext, evaluate_expression, is_true
from transom.reference.relations import aggregate_over_window
from transom.reference.sources import Inputs, scan_table

Rows = tuple[Row, ...]


@dataclass
class Machine:
    """One operator at work: `step(tick)` gives what it produces at a tick, `held` is what it remembers."""

    op: Operator
    below: tuple[Machine, ...] = ()
    held: int = 0
    most: int = 0
    count: int = 0
    kept: list[Element] = field(default_factory=list)
    previous: Rows = ()
    current: dict[int, list[Bag]] = field(default_factory=lambda: {0: [], 1: []})

    def hold(self, rows: int) -> None:
        """Note how many rows are remembered now."""
        self.held = rows
        self.most = max(self.most, rows)

    def number(self, rows: Sequence[tuple[int, Row]]) -> list[Element]:
        """Tuples with a running index."""
        first = self.count + 1
        self.count += len(rows)
        return [Element(tick, first + i, row) for i, (tick, row) in enumerate(rows)]


def build(op: Operator) -> Machine:
    """The machines of a plan."""
    from transom.algebra.tree import inputs

    return Machine(op, tuple(build(part) for part in inputs(op)))


def run(op: Operator, inputs: Inputs) -> tuple[list[Element] | list[Bag], Machine]:
    """The answer of a plan over all ticks, and the machines with what they held."""
    top = build(op)
    output: list = []
    for tick in range(inputs.start, inputs.until + 1):
        output += step(top, tick, inputs)
    return output, top


def machines(top: Machine) -> list[Machine]:
    """All machines of a plan."""
    return [top, *(m for below in top.below for m in machines(below))]


def step(machine: Machine, tick: int, inputs: Inputs) -> list:
    """What an operator produces at one tick."""
    op = machine.op
    match op:
        case StreamAcquire(extent=extent) | StreamReceive(extent=extent):
            return machine.number([(e.tick, e.row) for e in inputs.streams.get(extent, ()) if e.tick == tick])
        case Window(input=StoredTable() as table):
            due = tick == inputs.start if isinstance(op.slide, AtStart) else tick % op.slide.step == 0
            return [Bag(tick, scan_table(table, tick, inputs))] if due else []
        case Window():
            return window(machine, op, step(machine.below[0], tick, inputs), tick)
        case WindowCrossProduct() | WindowJoin():
            return product(machine, op, tick, inputs)
    coming = step(machine.below[0], tick, inputs)
    match op:
        case StreamSelect():
            return [e for e in coming if is_true(op.predicate, RowContext.of(op.input.schema, e))]
        case StreamProject():
            return [Element(e.tick, e.index, project(op, RowContext.of(op.input.schema, e))) for e in coming]
        case Renumber():
            return machine.number([(e.tick, e.row) for e in coming])
        case RStream():
            return machine.number([(w.tick, row) for w in coming for row in w.rows])
        case IStream():
            return changes(machine, coming, lambda now, before: difference(now, before))
        case DStream():
            return changes(machine, coming, lambda now, before: difference(before, now))
        case WindowSelect():
            return [Bag(w.tick, select(op.predicate, op.input.schema, w.rows)) for w in coming]
        case WindowProject():
            return [Bag(w.tick, tuple(project(op, RowContext(op.input.schema, r)) for r in w.rows)) for w in coming]
        case WindowAggregation():
            return [Bag(w.tick, aggregate_over_window(op, w.rows)) for w in coming]
    raise AssertionError(op)


def select(predicate, schema, rows: Rows) -> Rows:
    return tuple(row for row in rows if is_true(predicate, RowContext(schema, row)))


def project(op: StreamProject | WindowProject, scope: EvaluationContext) -> Row:
    return tuple(evaluate_expression(item.expression, scope) for item in op.items)


def changes(machine: Machine, coming: list[Bag], differ: Callable[[Rows, Rows], Rows]) -> list[Element]:
    """ISTREAM and DSTREAM: remembers the previous window."""
    output: list[Element] = []
    for bag in coming:
        output += machine.number([(bag.tick, row) for row in differ(bag.rows, machine.previous)])
        machine.previous = bag.rows
        machine.hold(len(bag.rows))
    return output


def window(machine: Machine, op: Window, coming: list[Element], tick: int) -> list[Bag]:
    """Time and row windows: remembers what a coming window can still hold."""
    assert isinstance(op.range, CoordinateRange)
    assert isinstance(op.slide, Every)
    output: list[Bag] = []
    reach = -op.range.low.offset
    if op.range.low.offset > op.range.high.offset:
        coming_rows: list[Element] = []
    else:
        coming_rows = coming
    if op.slide.coordinate is Coordinate.TICK:
        boundary = -(-tick // op.slide.step) * op.slide.step
        machine.kept += coming_rows
        machine.kept = [e for e in machine.kept if e.tick >= boundary - reach]
        machine.hold(len(machine.kept))
        if tick == boundary:
            output.append(cut(op, machine.kept, tick, tick, lambda e: e.tick))
            machine.kept = [e for e in machine.kept if e.tick >= boundary + op.slide.step - reach]
        return output
    for element in coming:
        boundary = -(-element.index // op.slide.step) * op.slide.step
        if coming_rows and element.index >= boundary - reach:
            machine.kept.append(element)
        machine.hold(len(machine.kept))
        if element.index == boundary:
            output.append(cut(op, machine.kept, element.tick, boundary, lambda e: e.index))
            machine.kept = [e for e in machine.kept if e.index >= boundary + op.slide.step - reach]
    return output


def cut(op: Window, kept: list[Element], tick: int, base: int, where: Callable[[Element], int]) -> Bag:
    """The window of a boundary."""
    assert isinstance(op.range, CoordinateRange)
    low, high = base + op.range.low.offset, base + op.range.high.offset
    tags = [a.name for a in op.tags]
    return Bag(tick, tuple(e.row + tuple(getattr(e, name) for name in tags) for e in kept if low <= where(e) <= high))


def product(machine: Machine, op: WindowCrossProduct | WindowJoin, tick: int, inputs: Inputs) -> list[Bag]:
    """Cross product and join: remembers the current windows of both sides."""
    fresh = False
    for side in (0, 1):
        bags = step(machine.below[side], tick, inputs)
        if bags:
            machine.current[side], fresh = bags, True
    machine.hold(sum(len(bag.rows) for bags in machine.current.values() for bag in bags))
    if not fresh:
        return []
    pairs = [
        Bag(tick, tuple(a + b for a in left.rows for b in right.rows))
        for left in machine.current[0]
        for right in machine.current[1]
    ]
    if isinstance(op, WindowJoin):
        return [Bag(bag.tick, select(op.predicate, op.schema, bag.rows)) for bag in pairs]
    return pairs
