"""Machines behind one face: all that arrived for a tick goes in, what it makes comes out, state is bytes.

The runner inside Spark knows this face and nothing else, so every machine can be driven without Spark as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from transom.errors import PlanError
from transom.machines.change import ChangeMachine
from transom.machines.delta_join import DeltaJoin
from transom.machines.encoding import sort_key
from transom.machines.group_aggregate import GroupAggregate, GroupSpec
from transom.machines.match_counter import MatchCounter
from transom.machines.order import OrderMachine
from transom.machines.pairs import PairsMachine
from transom.machines.paths import PathMachine
from transom.machines.product import Event, ProductMachine
from transom.machines.window import WindowMachine, WindowSpec
from transom.model.bag import Bag, Row


class Arrival(NamedTuple):
    """A row on its way into a machine.

    `side` is 0, or 1 for the right side of two; `seq` is the window of its tick; a row that is not `present` only says
    that its window exists, or with the window 0 that its key is over; `sign` is 1, or -1 for a row that goes, or how
    many copies of it do; `order` puts rows of one window in order.
    """

    side: int
    seq: int
    present: bool
    sign: int
    order: Any
    key: Row
    row: Row


class Departure(NamedTuple):
    """A row on its way out: its window, whether it says more than that the window exists, its place, its values."""

    seq: int
    present: bool
    place: int
    row: Row | None


class Step(Protocol):
    """What the runner asks of a machine."""

    @property
    def held(self) -> int:
        """Rows that are remembered."""

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """All rows of a tick, in order; ticks come in order."""

    def save(self) -> bytes | None:
        """The state as bytes; None when nothing is remembered."""


def in_order(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """The rows of a tick as a machine wants them: by side and window, goings first, then in their own order."""
    return sorted(arrivals, key=lambda a: (a.side, a.seq, a.sign, sort_key(a.order)))


class NumberStep:
    """Rows with their position in the stream."""

    def __init__(self, machine: OrderMachine) -> None:
        self.machine = machine

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """Each row with its number."""
        for arrival in arrivals:
            for element in self.machine.take(tick, arrival.row):
                yield Departure(1, True, element.index, element.row)

    def save(self) -> bytes:
        """The state as bytes."""
        return self.machine.save()


class CutStep:
    """Row windows: each with a row that says it exists, then its rows."""

    def __init__(self, machine: WindowMachine) -> None:
        self.machine = machine

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """The windows that the rows of a tick complete."""
        seq = 0
        for arrival in arrivals:
            for window in self.machine.take(tick, arrival.row):
                seq += 1
                yield Departure(seq, False, 0, None)
                for place, row in enumerate(window.rows, 1):
                    yield Departure(seq, True, place, row)

    def save(self) -> bytes:
        """The state as bytes."""
        return self.machine.save()


class CompareStep:
    """What came or went between consecutive windows; of both, the place is the sign."""

    def __init__(self, machine: ChangeMachine) -> None:
        self.machine = machine

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """The changes at a tick, window by window."""
        windows: dict[int, list[Row]] = {}
        for arrival in arrivals:
            rows = windows.setdefault(arrival.seq, [])
            if arrival.present:
                rows.append(arrival.row)
        if windows and self.machine.report == "both":
            yield Departure(1, False, 0, None)
        for seq, rows in sorted(windows.items()):
            self.machine.over = seq == 0
            if self.machine.report == "grown":
                grown = self.machine.grow(Bag(tick, tuple(rows)))
                if self.machine.over:
                    yield Departure(0, False, 0, None)
                elif grown is not None:
                    yield Departure(1, False, 0, None)
                    yield from (Departure(1, True, place, row) for place, row in enumerate(grown, 1))
                continue
            if self.machine.report == "both":
                yield from (Departure(1, True, sign, row) for sign, row in self.machine.turn(Bag(tick, tuple(rows))))
                continue
            for element in self.machine.take(Bag(tick, tuple(rows))):
                yield Departure(1, True, element.index, element.row)

    def save(self) -> bytes | None:
        """The state as bytes; None when the key is over."""
        return self.machine.save()


class ProductStep:
    """Pairs of windows."""

    def __init__(self, machine: ProductMachine) -> None:
        self.machine = machine

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """The pairs at a tick."""
        sides: tuple[list[Event], list[Event]] = ([], [])
        for a in arrivals:
            sides[a.side].append(Event(a.seq, a.sign, a.order, a.key, a.row if a.present else None))
        for place, pair in enumerate(self.machine.take(*sides), 1):
            where = place if pair.place is None else pair.place
            yield Departure(pair.seq, pair.row is not None, where, pair.row)

    def save(self) -> bytes:
        """The state as bytes."""
        return self.machine.save()


class PairsStep:
    """Pairs of rows that are there at once; the first value of a row is the tick at which it goes."""

    def __init__(self, machine: PairsMachine) -> None:
        self.machine = machine

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """The pairs that begin at a tick."""
        left, right = ([a.row for a in arrivals if a.side == side] for side in (0, 1))
        for row in self.machine.take(tick, left, right):
            yield Departure(1, True, 0, row)

    def save(self) -> bytes:
        """The state as bytes."""
        return self.machine.save()


class JoinStep:
    """Changes of pairs (window 1) and of left rows (window 0); the place of a change is its signed count."""

    def __init__(self, machine: DeltaJoin | MatchCounter | PathMachine) -> None:
        self.machine = machine

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """The changes of a tick, and a window marker if one came."""
        if not all(a.present for a in arrivals):
            yield Departure(1, False, 0, None)
        for seq, count, row in self.machine.take([(a.side, a.sign, a.row) for a in arrivals if a.present]):
            yield Departure(seq, True, count, row)

    def save(self) -> bytes:
        """The state as bytes."""
        return self.machine.save()


class GroupStep:
    """Changes of the aggregates of a group; the place of a change is its signed count."""

    def __init__(self, machine: GroupAggregate) -> None:
        self.machine = machine

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return self.machine.held

    def feed(self, tick: int, arrivals: Sequence[Arrival]) -> Iterator[Departure]:
        """The changes of a tick, and a window marker if one came."""
        if not all(a.present for a in arrivals):
            yield Departure(1, False, 0, None)
        for count, row in self.machine.take([(a.sign, a.row) for a in arrivals if a.present]):
            yield Departure(1, True, count, row)

    def save(self) -> bytes:
        """The state as bytes."""
        return self.machine.save()


FORGETFUL = ("join", "matches", "groups", "paths")
"""Machines that are as good as new when they hold nothing: the state of a key may go."""


def forgets(specification: str) -> bool:
    """Whether a machine that holds nothing needs no state; a group that exists without rows does."""
    entries = json.loads(specification)
    return entries["machine"] in FORGETFUL and not entries.get("whole")


def step(specification: str, state: bytes | None = None) -> Step:
    """The machine that a specification describes, new or as it was saved."""
    entries = json.loads(specification)
    match entries["machine"]:
        case "order":
            return NumberStep(OrderMachine() if state is None else OrderMachine.load(state))
        case "window":
            spec = WindowSpec.from_json(json.dumps(entries["window"]))
            return CutStep(WindowMachine(spec) if state is None else WindowMachine.load(spec, state))
        case "change":
            return CompareStep(ChangeMachine(entries["report"]) if state is None else ChangeMachine.load(state))
        case "product":
            how, widths = entries.get("how", "windows"), tuple(entries.get("widths", (0, 0)))
            machine = ProductMachine(entries["left"], entries["right"], how, widths)
            return ProductStep(machine if state is None else ProductMachine.load(state, how, widths))
        case "pairs":
            return PairsStep(PairsMachine() if state is None else PairsMachine.load(state))
        case "join":
            sides, emit = entries["widths"], entries["emit"]
            return JoinStep(DeltaJoin(sides, emit) if state is None else DeltaJoin.load(state, sides, emit))
        case "matches":
            emit, more = entries["emit"], entries["padding"]
            return JoinStep(MatchCounter(emit, more) if state is None else MatchCounter.load(state, emit, more))
        case "groups":
            groups = GroupSpec.from_entries(entries)
            return GroupStep(GroupAggregate(groups) if state is None else GroupAggregate.load(state, groups))
        case "paths":
            repeats, start = entries["repeats"], entries.get("start")
            return JoinStep(PathMachine(repeats, start) if state is None else PathMachine.load(state, repeats, start))
        case other:
            raise PlanError(f"no machine is called {other}")
