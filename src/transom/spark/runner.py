"""The one runner that puts machines into Spark's transformWithState.

It keeps the rows of a key until their tick is closed, hands them to the machine tick by tick, in order, and keeps the
machine's state as bytes. What comes out depends on the rows alone, not on how they were cut into micro-batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from transom.machines import encoding
from transom.machines.buckets import Bucket, Maker
from transom.machines.steps import Arrival, forgets, in_order, step
from transom.model.time import Calendar
from transom.spark.marks import TickTime

WAITING = "t bigint, rows int, body string"
"""What waits: all rows of a tick that came in one micro-batch, how many they are, and themselves."""


class Shape(NamedTuple):
    """How many columns hold join keys, hold values (per side), come out; how many buckets.

    `lines` is 1 if the grouping key starts with the column `line`, which every row that comes out repeats.
    """

    keys: int
    values: tuple[int, ...]
    out: int
    buckets: int
    lines: int = 0


class MachineRunner(StatefulProcessor):
    """One machine for every key: its specification is a small JSON document, `names` are the columns that come out."""

    def __init__(self, specification: str, calendar: Calendar, names: tuple[str, ...], shape: Shape, live: bool):
        self.specification = specification
        self.calendar = calendar
        self.make = Row(*names)
        self.shape = shape
        self.live = live

    def init(self, handle: Any) -> None:
        """Spark hands over the state of this partition."""
        self.handle = handle
        self.time = TickTime(self.calendar)
        self.waiting = handle.getListState("waiting", WAITING)
        self.machine = handle.getValueState("machine", "state binary, timer bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Keep the rows of a micro-batch; a replay has no later ones, so it goes through them at once."""
        fresh = self._by_tick(rows)
        if not self.live:
            yield from self._feed(key, step(self.specification), fresh)
            return
        if not fresh:
            return
        self.waiting.appendList([(tick, len(found), encoding.dump(found)) for tick, found in fresh.items()])
        state, timer = self._state()
        wanted = self.time.milliseconds(min(fresh))
        if timer is None or wanted < timer:
            if timer is not None:
                self.handle.deleteTimer(timer)
            self.handle.registerTimer(wanted)
            self.machine.update((state, wanted))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Hand on the rows of all ticks that are closed now."""
        ready, rest = self._ready(self.time.closed(timerValues.getCurrentWatermarkInMs()))
        state, _ = self._state()
        machine = step(self.specification, state)
        made = list(self._feed(key, machine, ready))
        blank = not machine.held and forgets(self.specification)
        self._keep(None if blank else machine.save(), rest)
        yield from made

    def close(self) -> None:
        """Nothing is held open."""

    def _ready(self, closed: int) -> tuple[dict[int, list[Arrival]], int | None]:
        """The rows that wait no longer, by tick, and the first tick of those that do."""
        ready: dict[int, list[Arrival]] = {}
        rest: list[tuple[int, int, str]] = []
        for tick, count, body in self.waiting.get():
            if tick <= closed:
                ready.setdefault(tick, []).extend(arrivals(body))
            else:
                rest.append((tick, count, body))
        if rest:
            self.waiting.put(rest)
        else:
            self.waiting.clear()
        return ready, min((tick for tick, _, _ in rest), default=None)

    def _keep(self, state: bytes | None, next_tick: int | None) -> None:
        """Keep the state until there is something to do again."""
        timer = None
        if next_tick is not None:
            timer = self.time.milliseconds(next_tick)
            self.handle.registerTimer(timer)
        if state is None and timer is None:
            self.machine.clear()
        else:
            self.machine.update((state, timer))

    def _state(self) -> tuple[bytes | None, int | None]:
        if not self.machine.exists():
            return None, None
        state, timer = self.machine.get()
        return None if state is None else bytes(state), timer

    def _feed(self, key: Any, machine: Any, ready: Mapping[int, list[Arrival]]) -> Iterator[Any]:
        line = tuple(key)[: self.shape.lines]
        first = self.shape.buckets == 1 or tuple(key)[-1] == 0
        nothing = (None,) * self.shape.out
        make = self.make
        for tick in sorted(ready):
            for seq, present, place, row in machine.feed(tick, in_order(ready[tick])):
                if present or first:
                    yield make(*line, tick, seq, present, place, *(row if present else nothing))

    def _by_tick(self, rows: Iterator[Any]) -> dict[int, list[Arrival]]:
        """Rows of Spark's as a machine takes them, by tick; columns are found by name once, not in every row."""
        found: dict[int, list[Arrival]] = {}
        places: dict[str, int] | None = None
        keys, widths = self.shape.keys, self.shape.values
        for row in rows:
            if places is None:
                places = {name: place for place, name in enumerate(row.__fields__)}
                t, side_at, w, p, n = (places[name] for name in ("t", "side", "w", "p", "n"))
            side = row[side_at]
            own = side if f"cells{side}" in places else 0  # a side without columns of its own has those of the first
            cells = _plain(row[places[f"cells{own}"]])
            order = _plain(row[places[f"o{own}"]])
            arrival = Arrival(side, row[w], row[p], row[n], order, cells[:keys], cells[keys : keys + widths[side]])
            found.setdefault(row[t], []).append(arrival)
        return found


class BucketRunner(MachineRunner):
    """The machines of many keys for every bucket of them: one state and one timer, whatever the number of keys."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Keep the rows of a micro-batch; a replay goes through them at once, to the end that the machine knows."""
        if self.live:
            yield from super().handleInputRows(key, rows, timerValues)
            return
        yield from self._run(Bucket(Maker(self.specification)), self._by_tick(rows), None)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Hand on the rows of all ticks that are closed now, and let the keys act whose time has come."""
        closed = self.time.closed(timerValues.getCurrentWatermarkInMs())
        ready, rest = self._ready(closed)
        state, _ = self._state()
        bucket = Bucket(Maker(self.specification), state)
        made = list(self._run(bucket, ready, closed))
        self._keep(bucket.save(), min((t for t in (rest, bucket.wake) if t is not None), default=None))
        yield from made

    def _run(self, bucket: Bucket, ready: Mapping[int, list[Arrival]], closed: int | None) -> Iterator[Any]:
        nothing = (None,) * (self.shape.out - self.shape.keys)
        make = self.make
        rows = ((tick, arrival) for tick in sorted(ready) for arrival in in_order(ready[tick]))
        for of, (tick, seq, present, place, row) in bucket.run(rows, closed):
            yield make(tick, seq, present, place, *of, *(row or nothing))


def arrivals(body: str) -> Iterator[Arrival]:
    """The rows of one tick that wait in a list entry."""
    for side, seq, present, sign, order, key, row in encoding.undump(body):
        yield Arrival(side, seq, present, sign, encoding.deep_tuple(order), tuple(key), encoding.deep_tuple(row))


def _plain(value: Any) -> Any:
    """Nested rows, which Spark hands over as dictionaries, as nested tuples."""
    if isinstance(value, dict):
        return tuple([_plain(v) if isinstance(v, dict | tuple) else v for v in value.values()])
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value
