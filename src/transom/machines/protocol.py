"""The common protocol of all machines: the rows of a tick in, emissions out, state as bytes.

The stateful operator inside Spark uses only this protocol, so every machine can also be driven without Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from transom.errors import PlanError
from transom.machines.aggregates.group_aggregate import GroupAggregate, GroupSpec
from transom.machines.codec import sort_key
from transom.machines.entries import StateEntry
from transom.machines.joins.delta_join import DeltaJoin
from transom.machines.joins.join_tree import JoinStep, JoinTree
from transom.machines.joins.match_counter import MatchCounter
from transom.machines.joins.pairs import IntervalJoinMachine
from transom.machines.joins.product import ProductMachine, SideEvent
from transom.machines.numbering import RowNumberMachine
from transom.machines.path_closure import PathClosureMachine
from transom.machines.windows.window import WindowMachine, WindowSpec
from transom.machines.windows.window_changes import WindowChangesMachine
from transom.model.bag import Bag, Row


class InputRow(NamedTuple):
    """An input row of a machine: which input it belongs to, its window, its sign and its values.

    `side` is 0, or 1 for the right side of a join. `seq` numbers the windows of a tick. A row that is not `present` is
    a window marker, or with `seq` 0 the end of its key. `sign` is 1 for an insertion and -1 for a retraction, or a
    signed count of copies. `order` sorts the rows of one window.
    """

    side: int
    seq: int
    present: bool
    sign: int
    order: Any
    key: Row
    row: Row


class Emission(NamedTuple):
    """An output row of a machine; one that is not `present` is a window marker, or with `seq` 0 the end of its key.

    `number` is the position in the window or stream, or the sign or signed count of a change.
    """

    seq: int
    present: bool
    number: int
    row: Row | None


class Machine(Protocol):
    """A machine of one key: the interface through which the stateful operator inside Spark drives it."""

    @property
    def held(self) -> int:
        """Number of rows in the state of the key."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Process all rows of a tick, sorted by `sort_inputs`, and yield the resulting emissions; ticks must ascend."""

    def save(self) -> bytes | None:
        """Serialize the machine's state, which is that of one key; None if there is no state to keep."""

    def entries(self) -> Iterator[StateEntry]:
        """Yield the entries of the key's state, such as rows and counters, for people who inspect it."""


def sort_inputs(arrivals: Sequence[InputRow]) -> list[InputRow]:
    """Sort a tick's input rows by input, then window number, then retractions first, then by their field `order`."""
    return sorted(arrivals, key=lambda a: (a.side, a.seq, a.sign, sort_key(a.order)))


class _StatefulMachine(Protocol):
    """The members that all wrapped machines share."""

    @property
    def held(self) -> int:
        """Number of rows in state."""

    def save(self) -> bytes | None:
        """Serialize the state; None if there is no state to keep."""

    def entries(self) -> Iterator[StateEntry]:
        """Yield the entries of the state, such as rows and counters, for people who inspect it."""


M = TypeVar("M", bound=_StatefulMachine)


class _MachineAdapter(Generic[M]):
    """Base of the adapters from a machine's specific `take` to the common `feed`."""

    def __init__(self, machine: M) -> None:
        """Wrap a state machine, so that Spark's stateful operator can drive it through the common method `feed`."""
        self.machine = machine

    @property
    def held(self) -> int:
        """Number of rows in the state of the wrapped state machine."""
        return self.machine.held

    def save(self) -> bytes | None:
        """Serialize the state of the wrapped state machine; None if there is no state to keep."""
        return self.machine.save()

    def entries(self) -> Iterator[StateEntry]:
        """Yield the entries of the wrapped state machine's state, such as rows and counters, for inspection."""
        return self.machine.entries()


class RowNumberAdapter(_MachineAdapter[RowNumberMachine]):
    """Emits rows with their number in the stream, from 1."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Emit each row that arrives at a tick, with its index: its number in the whole stream, from 1."""
        for arrival in arrivals:
            for element in self.machine.take(tick, arrival.row):
                yield Emission(1, True, element.index, element.row)


class WindowAdapter(_MachineAdapter[WindowMachine]):
    """Emits row windows: a window marker each, then the rows of the window."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Emit the windows that a tick's rows complete: a marker (emission without a row), then the rows."""
        seq = 0
        for arrival in arrivals:
            for window in self.machine.take(tick, arrival.row):
                seq += 1
                yield Emission(seq, False, 0, None)
                for position, row in enumerate(window.rows, 1):
                    yield Emission(seq, True, position, row)


class WindowChangesAdapter(_MachineAdapter[WindowChangesMachine]):
    """Emits differences between consecutive windows; for the report `both`, each row has the sign of its change."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Compare each window of a tick with the previous one; emit added or removed rows, both, or all, by `report`.

        An input with `seq` 0 ends the key.
        """
        windows: dict[int, list[Row]] = {}
        for arrival in arrivals:
            rows = windows.setdefault(arrival.seq, [])
            if arrival.present:
                rows.append(arrival.row)
        if windows and self.machine.report == "both":
            yield Emission(1, False, 0, None)
        for seq, rows in sorted(windows.items()):
            self.machine.ended = seq == 0
            if self.machine.report == "extended":
                window_rows = self.machine.rows_if_added(Bag(tick, tuple(rows)))
                if self.machine.ended:
                    yield Emission(0, False, 0, None)
                elif window_rows is not None:
                    yield Emission(1, False, 0, None)
                    yield from (Emission(1, True, position, row) for position, row in enumerate(window_rows, 1))
                continue
            if self.machine.report == "both":
                yield from (
                    Emission(1, True, sign, row) for sign, row in self.machine.signed_changes(Bag(tick, tuple(rows)))
                )
                continue
            for element in self.machine.take(Bag(tick, tuple(rows))):
                yield Emission(1, True, element.index, element.row)


class ProductAdapter(_MachineAdapter[ProductMachine]):
    """Emits pairs of the current windows of two inputs."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Feed a tick's rows to both inputs; emit joined windows: a marker (emission without a row), then the rows."""
        sides: tuple[list[SideEvent], list[SideEvent]] = ([], [])
        for a in arrivals:
            sides[a.side].append(SideEvent(a.seq, a.sign, a.order, a.key, a.row if a.present else None))
        for position, output in enumerate(self.machine.take(*sides), 1):
            number = position if output.left_number is None else output.left_number
            yield Emission(output.seq, output.row is not None, number, output.row)


class IntervalJoinAdapter(_MachineAdapter[IntervalJoinMachine]):
    """Emits pairs of rows with overlapping validity; the first value of a row is the end of its validity interval."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Join a tick's left and right rows (inputs 0 and 1) with all valid rows; emit pairs valid from this tick."""
        left, right = ([a.row for a in arrivals if a.side == side] for side in (0, 1))
        for row in self.machine.take(tick, left, right):
            yield Emission(1, True, 0, row)


class ChangesAdapter(_MachineAdapter[DeltaJoin | JoinTree | MatchCounter | PathClosureMachine]):
    """Emits changes of pairs (`seq` 1) and of left rows (`seq` 0); `number` is the signed count."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Apply a tick's signed row changes to a join or path machine; emit output changes, after any window marker."""
        if not all(a.present for a in arrivals):
            yield Emission(1, False, 0, None)
        for seq, count, row in self.machine.take([(a.side, a.sign, a.row) for a in arrivals if a.present]):
            yield Emission(seq, True, count, row)


class GroupAggregateAdapter(_MachineAdapter[GroupAggregate]):
    """Emits changes of the aggregates of a group; `number` is the signed count."""

    def feed(self, tick: int, arrivals: Sequence[InputRow]) -> Iterator[Emission]:
        """Emit how a group's result changes at a tick: a window marker if one arrived, then -1 old row, +1 new row."""
        if not all(a.present for a in arrivals):
            yield Emission(1, False, 0, None)
        for count, row in self.machine.take([(a.sign, a.row) for a in arrivals if a.present]):
            yield Emission(1, True, count, row)


STATELESS_WHEN_EMPTY = ("join", "join tree", "matches", "groups", "paths")
"""Machines that equal a new machine when they hold no rows, so that their state may be deleted."""


def drops_empty_state(specification: str) -> bool:
    """Whether the state of the machine that a JSON specification names may be deleted when it holds no rows."""
    entries = json.loads(specification)
    return entries["machine"] in STATELESS_WHEN_EMPTY and not entries.get("whole")


def create_machine(specification: str, state: bytes | None = None) -> Machine:
    """Create the state machine that a JSON specification names, new or restored from saved `state`.

    Raises PlanError for an unknown name.
    """
    entries = json.loads(specification)
    match entries["machine"]:
        case "order":
            return RowNumberAdapter(RowNumberMachine() if state is None else RowNumberMachine.load(state))
        case "window":
            spec = WindowSpec.from_json(json.dumps(entries["window"]))
            return WindowAdapter(WindowMachine(spec) if state is None else WindowMachine.load(spec, state))
        case "change":
            return WindowChangesAdapter(
                WindowChangesMachine(entries["report"]) if state is None else WindowChangesMachine.load(state)
            )
        case "product":
            output, widths = entries.get("how", "windows"), tuple(entries.get("widths", (0, 0)))
            machine = ProductMachine(entries["left"], entries["right"], output, widths)
            return ProductAdapter(machine if state is None else ProductMachine.load(state, output, widths))
        case "pairs":
            return IntervalJoinAdapter(IntervalJoinMachine() if state is None else IntervalJoinMachine.load(state))
        case "join":
            sides, emit = entries["widths"], entries["emit"]
            return ChangesAdapter(DeltaJoin(sides, emit) if state is None else DeltaJoin.load(state, sides, emit))
        case "join tree":
            count, steps = entries["sides"], [JoinStep.from_entries(step) for step in entries["joins"]]
            return ChangesAdapter(JoinTree(count, steps) if state is None else JoinTree.load(state, count, steps))
        case "matches":
            emit, padding = entries["emit"], entries["padding"]
            return ChangesAdapter(
                MatchCounter(emit, padding) if state is None else MatchCounter.load(state, emit, padding)
            )
        case "groups":
            groups = GroupSpec.from_entries(entries)
            return GroupAggregateAdapter(
                GroupAggregate(groups) if state is None else GroupAggregate.load(state, groups)
            )
        case "paths":
            repeats, start = entries["repeats"], entries.get("start")
            return ChangesAdapter(
                PathClosureMachine(repeats, start) if state is None else PathClosureMachine.load(state, repeats, start)
            )
        case other:
            raise PlanError(f"no machine is called {other}")
