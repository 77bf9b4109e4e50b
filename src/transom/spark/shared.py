"""The runner for machines of which many keys share one state: few entries in the state store, one timer for all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from transom.machines import encoding
from transom.machines.buckets import Bucket, Maker
from transom.machines.steps import Arrival, in_order
from transom.model.time import Calendar
from transom.spark.runner import MachineRunner, Shape, arrivals


class SharedRunner(MachineRunner):
    """A bucket of machines for every key of Spark's; what comes out carries the key of its machine."""

    def __init__(self, specification: str, calendar: Calendar, names: tuple[str, ...], shape: Shape, live: bool):
        super().__init__(specification, calendar, names, shape, live)
        self.maker = Maker(specification)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Keep the rows of a micro-batch; a replay has no later ones, so it goes through them at once."""
        fresh = self._by_tick(rows)
        if not self.live:
            yield from self._told(key, Bucket(self.maker), fresh, None)
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
        """Hand on the rows of all ticks that are closed now, and let machines act whose time has come."""
        closed = self.time.closed(timerValues.getCurrentWatermarkInMs())
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
        state, _ = self._state()
        bucket = Bucket(self.maker, state)
        made = list(self._told(key, bucket, ready, closed))
        ticks = [tick for tick, _, _ in rest] + ([] if bucket.wake is None else [bucket.wake])
        timer = self.time.milliseconds(min(ticks)) if ticks else None
        if timer is not None:
            self.handle.registerTimer(timer)
        saved = bucket.save()
        if saved is None and timer is None:
            self.machine.clear()
        else:
            self.machine.update((saved, timer))
        yield from made

    def _told(self, key: Any, bucket: Bucket, ready: dict[int, list[Arrival]], closed: int | None) -> Iterator[Any]:
        lanes = tuple(key)[: self.shape.lanes]
        nothing = (None,) * self.shape.out
        rows = chain.from_iterable(((tick, a) for a in in_order(ready[tick])) for tick in sorted(ready))
        for own, told in bucket.run(rows, closed):
            if told.seq:
                cells = told.row if told.present and told.row is not None else nothing
                yield self.make(*lanes, *own, told.tick, told.seq, told.present, told.place, *cells)
