"""Machines of many keys in one shared state; an idle key costs nothing until its wake-up tick."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from transom.errors import PlanError
from transom.machines import codec
from transom.machines.emission import TimedEmission, TimedMachine
from transom.machines.entries import StateEntry
from transom.machines.protocol import InputRow
from transom.machines.windows.distance import DistanceMachine, PositionSpec
from transom.machines.windows.keyed_window import KeyedWindowMachine
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec
from transom.model.bag import Row, row_identity


def is_shared(specification: str) -> bool:
    """Whether a JSON machine specification says that many keys share one state (a `Bucket`), not one state each."""
    return bool(json.loads(specification).get("shared", False))


class TimedMachineFactory:
    """Creates the machine of each key from one JSON specification; PlanError for an unknown machine."""

    def __init__(self, specification: str) -> None:
        """Parse the JSON specification of the machines to make: windows per key, or distances that objects travel."""
        entries: dict[str, Any] = json.loads(specification)
        self.until: int | None = entries.get("until")
        self._position: PositionSpec | None = None
        self._forget_after: int | None = entries.get("forget_after")
        self._keyed_window: KeyedWindowSpec | None = None
        match entries["machine"]:
            case "distance":
                self._position = PositionSpec.from_entries(entries["place"])
            case "lineage":
                self._keyed_window = KeyedWindowSpec.from_json(specification)
            case other:
                raise PlanError(f"no machine that keys share is called {other}")

    def make(self, state: bytes | None = None) -> TimedMachine:
        """Create the state machine of one key, new or restored from the bytes of its `save`."""
        if self._keyed_window is not None:
            return (
                KeyedWindowMachine(self._keyed_window)
                if state is None
                else KeyedWindowMachine.load(self._keyed_window, state)
            )
        if self._position is None:
            raise PlanError("a machine needs a specification")
        if state is None:
            return DistanceMachine(self._position, self._forget_after)
        return DistanceMachine.load(self._position, state, self._forget_after)


class Bucket:
    """Rows of many keys in, the emissions of each key's machine out.

    `run` restores the machine of a key only if a row of the key arrives or its wake-up tick is reached.
    """

    kind = "bucket"

    def __init__(self, factory: TimedMachineFactory, state: bytes | None = None) -> None:
        """Create the shared state of many keys, empty or from the bytes of `save`; `factory` makes their machines.

        `factory` creates the state machine of each key.
        """
        self.factory = factory
        self._states: dict[Any, tuple[Row, int | None, bytes]] = {}
        for key, wake, saved in [] if state is None else codec.load(self.kind, state):
            row = codec.unpack(key)
            self._states[row_identity(row)] = (row, wake, saved.encode("latin-1"))

    @property
    def held(self) -> int:
        """Number of rows in state, over all partition keys of this bucket."""
        return sum(self.factory.make(state).held for _, _, state in self._states.values())

    @property
    def keys(self) -> int:
        """Number of partition keys of this bucket that have state."""
        return len(self._states)

    @property
    def next_wakeup(self) -> int | None:
        """The earliest tick at which a key has work to do even if no more rows arrive; None if there is none."""
        return min((wake for _, wake, _ in self._states.values() if wake is not None), default=None)

    def run(self, arrivals: Iterable[tuple[int, InputRow]], closed: int | None) -> Iterator[tuple[Row, TimedEmission]]:
        """Feed (tick, row) to each row's key; yield (key, emission) of ticks up to `closed`, None if the input ended.

        If `closed` is None, the input has ended: the emissions go up to the tick `until` of the specification.
        """
        arrived: dict[Any, tuple[Row, dict[int, list[Row]]]] = {}
        for tick, arrival in arrivals:
            _, ticks = arrived.setdefault(row_identity(arrival.key), (arrival.key, {}))
            rows = ticks.setdefault(tick, [])
            if arrival.present:
                rows.append(arrival.row)
        end = self.factory.until if closed is None else closed
        due = [
            identity
            for identity, (_, wake, _) in self._states.items()
            if wake is not None and end is not None and wake <= end
        ]
        for identity, (key, ticks) in arrived.items():
            yield from self._run(identity, key, ticks, end)
        for identity in due:
            if identity not in arrived:
                yield from self._run(identity, self._states[identity][0], {}, end)

    def _run(
        self, identity: Any, key: Row, rows_by_tick: dict[int, list[Row]], end_tick: int | None
    ) -> Iterator[tuple[Row, TimedEmission]]:
        """Feed a key new rows, close ticks up to `end_tick` (None: none) and save its state; yield (key, emission).

        `rows_by_tick` has the key's new rows by tick.
        """
        _, _, state = self._states.get(identity, (key, None, None))
        machine = self.factory.make(state)
        for tick, rows in rows_by_tick.items():
            yield from ((key, emission) for emission in machine.take(tick, rows))
        if end_tick is not None:
            yield from ((key, emission) for emission in machine.advance(end_tick))
        if not machine.blank:
            self._states[identity] = (key, machine.next_wakeup, machine.save())
        elif identity in self._states:
            del self._states[identity]

    def entries(self) -> Iterator[tuple[Row, StateEntry]]:
        """Yield (key, entry) for each entry of each key's state, such as a row or a counter, for inspection."""
        for key, _, state in self._states.values():
            yield from ((key, entry) for entry in self.factory.make(state).entries())

    def save(self) -> bytes | None:
        """Serialize the states of all keys of this bucket; None if no key has state."""
        entries = [[codec.pack(key), wake, state.decode("latin-1")] for key, wake, state in self._states.values()]
        return codec.save(self.kind, entries) if entries else None
