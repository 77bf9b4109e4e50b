"""The StatefulProcessor that runs machines inside Spark's transformWithState.

It buffers the rows of a key until their tick is closed, feeds them to the machine tick by tick, in order, and stores
the machine's state as bytes. The output depends on the rows alone, not on how they are divided into micro-batches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

from transom.machines import codec
from transom.machines.buckets import Bucket, TimedMachineFactory
from transom.machines.protocol import InputRow, create_machine, drops_empty_state, sort_inputs
from transom.model.time import Calendar
from transom.spark.columns import COUNT, IS_ROW, SIDE, TICK_NUMBER, WINDOW
from transom.spark.event_time import TickTime

PENDING_ROWS_SCHEMA = "t bigint, rows int, body string"
"""Buffered rows: one entry per tick and micro-batch, with the tick, the number of rows, and the rows as JSON."""


class MachineShape(NamedTuple):
    """Numbers of join keys, of values per side, of emitted values, and of buckets.

    `window_keys` is 1 if the grouping key starts with the column `window_key`, which every emitted row repeats.
    """

    pair_keys: int
    widths: tuple[int, ...]
    emitted: int
    buckets: int
    window_keys: int = 0


class MachineRunner(StatefulProcessor):
    """Run one machine per key; `specification` is a small JSON document, `names` are the output columns."""

    def __init__(
        self, specification: str, calendar: Calendar, output_columns: tuple[str, ...], shape: MachineShape, live: bool
    ):
        """Create the processor that runs a machine (JSON) per key; if `live`, rows wait until their tick is closed.

        `output_columns` are the output columns, `shape` has the sizes of the machine. In a `live` run, rows wait for
        their ticks to close.
        """
        self.specification = specification
        self.calendar = calendar
        self.output_row = Row(*output_columns)
        self.shape = shape
        self.live = live

    def init(self, handle: Any) -> None:
        """Open the state variables of this partition; Spark calls this first."""
        self.handle = handle
        self.time = TickTime(self.calendar)
        self.pending_rows = handle.getListState("waiting", PENDING_ROWS_SCHEMA)
        self.machine_state = handle.getValueState("machine", "state binary, timer bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Buffer a key's new rows until a timer (live run), or process them at once; yield the output rows.

        Spark calls this, and gets the rows that the machine emits.
        """
        rows_by_tick = self._rows_by_tick(rows)
        if not self.live:
            yield from self._feed(key, create_machine(self.specification), rows_by_tick)
            return
        if not rows_by_tick:
            return
        self.pending_rows.appendList(
            [(tick, len(tick_rows), codec.encode_json(tick_rows)) for tick, tick_rows in rows_by_tick.items()]
        )
        state, timer = self._load_state()
        next_timer = self.time.watermark_ms_of(min(rows_by_tick))
        if timer is None or next_timer < timer:
            if timer is not None:
                self.handle.deleteTimer(timer)
            self.handle.registerTimer(next_timer)
            self.machine_state.update((state, next_timer))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Process the buffered rows of closed ticks when a timer fires, and yield the rows that the machine emits.

        Spark calls this.
        """
        ready, next_open = self._take_closed(self.time.last_closed_tick(timerValues.getCurrentWatermarkInMs()))
        state, _ = self._load_state()
        machine = create_machine(self.specification, state)
        emitted = list(self._feed(key, machine, ready))
        is_empty = not machine.held and drops_empty_state(self.specification)
        self._store(None if is_empty else machine.save(), next_open)
        yield from emitted

    def close(self) -> None:
        """Do nothing: the runner holds no resources."""

    def _take_closed(self, closed_tick: int) -> tuple[dict[int, list[InputRow]], int | None]:
        """Remove the buffered rows up to `closed_tick`; return them by tick, and the first tick left or None."""
        ready: dict[int, list[InputRow]] = {}
        open_entries: list[tuple[int, int, str]] = []
        for tick, count, body in self.pending_rows.get():
            if tick <= closed_tick:
                ready.setdefault(tick, []).extend(decode_arrivals(body))
            else:
                open_entries.append((tick, count, body))
        if open_entries:
            self.pending_rows.put(open_entries)
        else:
            self.pending_rows.clear()
        return ready, min((tick for tick, _, _ in open_entries), default=None)

    def _store(self, state: bytes | None, next_tick: int | None) -> None:
        """Store the machine's state and set a timer for `next_tick`, if any; clear the state if there is neither."""
        timer = None
        if next_tick is not None:
            timer = self.time.watermark_ms_of(next_tick)
            self.handle.registerTimer(timer)
        if state is None and timer is None:
            self.machine_state.clear()
        else:
            self.machine_state.update((state, timer))

    def _load_state(self) -> tuple[bytes | None, int | None]:
        """Load the machine's state and its timer, in milliseconds; each is None if it is not stored."""
        if not self.machine_state.exists():
            return None, None
        state, timer = self.machine_state.get()
        return None if state is None else bytes(state), timer

    def _feed(self, key: Any, machine: Any, ready: Mapping[int, list[InputRow]]) -> Iterator[Any]:
        """Pass the `ready` rows to a machine, tick by tick, and yield the rows that it emits.

        If a key has several machines, only one of them yields window markers.
        """
        window_key = tuple(key)[: self.shape.window_keys]
        emits_markers = self.shape.buckets == 1 or tuple(key)[-1] == 0
        nulls = (None,) * self.shape.emitted
        output_row = self.output_row
        for tick in sorted(ready):
            for seq, is_row, number, row in machine.feed(tick, sort_inputs(ready[tick])):
                if is_row or emits_markers:
                    yield output_row(*window_key, tick, seq, is_row, number, *(row if is_row else nulls))

    def _rows_by_tick(self, rows: Iterator[Any]) -> dict[int, list[InputRow]]:
        """Convert Spark rows to input rows of the machine, by tick."""
        rows_by_tick: dict[int, list[InputRow]] = {}
        positions: dict[str, int] | None = None
        keys, widths = self.shape.pair_keys, self.shape.widths
        for row in rows:
            if positions is None:
                positions = {name: number for number, name in enumerate(row.__fields__)}
                t, side_position, w, p, n = (positions[name] for name in (TICK_NUMBER, SIDE, WINDOW, IS_ROW, COUNT))
                layouts = _side_layouts(positions, len(widths))
            side = row[side_position]
            order_position, cells_position = layouts[side]
            cells = _nested_tuples(row[cells_position])
            order = _nested_tuples(row[order_position])
            arrival = InputRow(side, row[w], row[p], row[n], order, cells[:keys], cells[keys : keys + widths[side]])
            rows_by_tick.setdefault(row[t], []).append(arrival)
        return rows_by_tick


class BucketRunner(MachineRunner):
    """Run the machines of many keys (a bucket of keys), with one Spark state and one timer for all of them."""

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Process new rows of a bucket (keys that share one state), yield the output; if live, buffer until a timer.

        Spark calls this, and gets the rows that the machines emit.
        """
        if self.live:
            yield from super().handleInputRows(key, rows, timerValues)
            return
        yield from self._run(Bucket(TimedMachineFactory(self.specification)), self._rows_by_tick(rows), None)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """Process closed ticks of a bucket (keys that share one state) when a timer fires; yield the output rows.

        Spark calls this, and gets the rows that the machines emit.
        """
        closed = self.time.last_closed_tick(timerValues.getCurrentWatermarkInMs())
        ready, next_open = self._take_closed(closed)
        state, _ = self._load_state()
        bucket = Bucket(TimedMachineFactory(self.specification), state)
        emitted = list(self._run(bucket, ready, closed))
        self._store(bucket.save(), min((t for t in (next_open, bucket.next_wakeup) if t is not None), default=None))
        yield from emitted

    def _run(self, bucket: Bucket, ready: Mapping[int, list[InputRow]], closed_tick: int | None) -> Iterator[Any]:
        """Feed `ready` rows, by tick, to a bucket of keys, up to `closed_tick` (None: end of run); yield output rows.

        Keys that wait for a tick up to `closed_tick` are woken, too; None means the end of the run.
        """
        nulls = (None,) * (self.shape.emitted - self.shape.pair_keys)
        output_row = self.output_row
        rows = ((tick, arrival) for tick in sorted(ready) for arrival in sort_inputs(ready[tick]))
        for key, (tick, seq, is_row, number, row) in bucket.run(rows, closed_tick):
            yield output_row(tick, seq, is_row, number, *key, *(row or nulls))


def _side_layouts(positions: Mapping[str, int], sides: int) -> list[tuple[int, int]]:
    """Return, per join side, the indexes in a row of two columns: its sort order and its cells (values).

    `positions` are the positions of the columns by name. A side without columns uses those of the side before it.
    """
    layouts: list[tuple[int, int]] = []
    for side in range(sides):
        has_columns = f"cells{side}" in positions
        layouts.append((positions[f"order{side}"], positions[f"cells{side}"]) if has_columns else layouts[-1])
    return layouts


def decode_arrivals(body: str) -> Iterator[InputRow]:
    """Decode a machine's input rows from JSON; `body` holds the buffered rows of one tick and micro-batch."""
    for side, seq, is_row, sign, order, key, row in codec.decode_json(body):
        yield InputRow(side, seq, is_row, sign, codec.nested_tuple(order), tuple(key), codec.nested_tuple(row))


def _nested_tuples(value: Any) -> Any:
    """Convert nested rows, which Spark passes as dictionaries, to nested tuples."""
    if isinstance(value, dict):
        return tuple([_nested_tuples(v) if isinstance(v, dict | tuple) else v for v in value.values()])
    return tuple(map(_nested_tuples, value)) if isinstance(value, tuple) else value
