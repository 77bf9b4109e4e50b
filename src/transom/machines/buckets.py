"""The machines of many keys in one state, with an agenda: a key that is silent costs nothing until its time comes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from transom.errors import PlanError
from transom.machines import encoding
from transom.machines.distance import DistanceMachine, PlaceSpec
from transom.machines.lineage import LineageMachine
from transom.machines.lineage_spec import LineageSpec
from transom.machines.steps import Arrival
from transom.machines.told import Timed, Told
from transom.model.bag import Row, row_identity


def is_shared(specification: str) -> bool:
    """Whether many keys share the state of a machine, by its specification."""
    return bool(json.loads(specification).get("shared", False))


class Maker:
    """Makes the machines of many keys from one specification."""

    def __init__(self, specification: str) -> None:
        entries: dict[str, Any] = json.loads(specification)
        self.until: int | None = entries.get("until")
        self._place: PlaceSpec | None = None
        self._forget_after: int | None = entries.get("forget_after")
        self._lineage: LineageSpec | None = None
        match entries["machine"]:
            case "distance":
                self._place = PlaceSpec.from_entries(entries["place"])
            case "lineage":
                self._lineage = LineageSpec.from_json(specification)
            case other:
                raise PlanError(f"no machine that keys share is called {other}")

    def make(self, state: bytes | None = None) -> Timed:
        """A machine, new or as it was saved."""
        if self._lineage is not None:
            return LineageMachine(self._lineage) if state is None else LineageMachine.load(self._lineage, state)
        if self._place is None:
            raise PlanError("a machine needs a specification")
        if state is None:
            return DistanceMachine(self._place, self._forget_after)
        return DistanceMachine.load(self._place, state, self._forget_after)


class Bucket:
    """Rows of many keys in, what the machine of each key tells out.

    The state of a key is not read before a row of it comes, or the tick at which it has something to do.
    """

    kind = "bucket"

    def __init__(self, maker: Maker, state: bytes | None = None) -> None:
        self.maker = maker
        self._states: dict[Any, tuple[Row, int | None, bytes]] = {}
        for key, wake, saved in [] if state is None else encoding.load(self.kind, state):
            row = encoding.unpack(key)
            self._states[row_identity(row)] = (row, wake, saved.encode("latin-1"))

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return sum(self.maker.make(state).held for _, _, state in self._states.values())

    @property
    def keys(self) -> int:
        """Keys that are remembered."""
        return len(self._states)

    @property
    def wake(self) -> int | None:
        """The next tick at which a key has something to do if nothing more comes in."""
        return min((wake for _, wake, _ in self._states.values() if wake is not None), default=None)

    def run(self, arrivals: Iterable[tuple[int, Arrival]], closed: int | None) -> Iterator[tuple[Row, Told]]:
        """Rows of ticks that are closed, those of a key in order; then all that is told up to a closed tick.

        Without a closed tick nothing will ever come again, and all is told up to the end that the machine knows.
        """
        found: dict[Any, tuple[Row, dict[int, list[Row]]]] = {}
        for tick, arrival in arrivals:
            _, ticks = found.setdefault(row_identity(arrival.key), (arrival.key, {}))
            rows = ticks.setdefault(tick, [])
            if arrival.present:
                rows.append(arrival.row)
        end = self.maker.until if closed is None else closed
        due = [k for k, (_, wake, _) in self._states.items() if wake is not None and end is not None and wake <= end]
        for name, (key, ticks) in found.items():
            yield from self._run(name, key, ticks, end)
        for name in due:
            if name not in found:
                yield from self._run(name, self._states[name][0], {}, end)

    def _run(self, name: Any, key: Row, ticks: dict[int, list[Row]], end: int | None) -> Iterator[tuple[Row, Told]]:
        _, _, state = self._states.get(name, (key, None, None))
        machine = self.maker.make(state)
        for tick, rows in ticks.items():
            yield from ((key, told) for told in machine.take(tick, rows))
        if end is not None:
            yield from ((key, told) for told in machine.advance(end))
        if not machine.blank:
            self._states[name] = (key, machine.wake, machine.save())
        elif name in self._states:
            del self._states[name]

    def save(self) -> bytes | None:
        """The state as bytes; None when nothing is remembered."""
        entries = [[encoding.pack(key), wake, state.decode("latin-1")] for key, wake, state in self._states.values()]
        return encoding.save(self.kind, entries) if entries else None
