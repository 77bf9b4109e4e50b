"""Figures 1, 3 and 8: filters and projections on streams, and converters from windows to streams."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.streams import SpeedLimit, StreamProject, StreamSelect
from transom.model.bag import Bag, Element, Row, difference, row_identity
from transom.model.geometry.space import step_length
from transom.reference.expressions import RowContext, is_true
from transom.reference.relations import project, with_previous_window


def stream_select(op: StreamSelect, elements: Sequence[Element]) -> list[Element]:
    """Keep the elements of a stream for which a predicate is true, with their tick and index (Figure 1)."""
    schema = op.input.schema
    return [e for e in elements if is_true(op.predicate, RowContext.of(schema, e))]


def stream_project(op: StreamProject, elements: Sequence[Element]) -> list[Element]:
    """Map each element of a stream by a list of expressions, keeping its tick and index (Figure 3)."""
    schema = op.input.schema
    return [Element(e.tick, e.index, project(op.items, RowContext.of(schema, e))) for e in elements]


def stream_union(parts: Sequence[Sequence[Element]]) -> list[Element]:
    """Merge streams by tick; within a tick the order of the streams is kept (R10, R24)."""
    return renumber(sorted((element for part in parts for element in part), key=lambda element: element.tick))


def renumber(elements: Sequence[Element]) -> list[Element]:
    """Replace the index of each element by its number in this stream, from 1 (S15)."""
    return [Element(e.tick, index, e.row) for index, e in enumerate(elements, start=1)]


def speed_limit(op: SpeedLimit, elements: Sequence[Element]) -> tuple[list[Element], list[Element]]:
    """Split a stream into (accepted rows, rejected rows, whose position is reachable only above the speed limit)."""
    schema = op.input.schema
    accepted: list[Element] = []
    rejected: list[Element] = []
    last: dict[tuple[object, ...], tuple[int, tuple[float, float]]] = {}
    last_tick: dict[tuple[object, ...], int] = {}
    for e in elements:
        key = row_identity(tuple(e.row[schema.position(a)] for a in op.key))
        if op.forget_after is not None and key in last_tick and e.tick - last_tick[key] - 1 > op.forget_after:
            last.pop(key, None)
        position = op.position.point(*(e.row[schema.position(a)] for a in op.position_columns))
        if position is not None and key in last:
            previous_tick, previous = last[key]
            if not op.speed.allows(step_length(op.position, previous, position), e.tick - previous_tick):
                rejected.append(e)
                continue
        if position is not None:
            last[key] = (e.tick, position)
        last_tick[key] = e.tick
        accepted.append(e)
    return accepted, rejected


def r_stream(windows: Sequence[Bag]) -> list[Element]:
    """RSTREAM: the rows of every window, in order of windows, each at its window's tick; numbered from 1 (Figure 8)."""
    return stream_of_batches([(w.tick, w.rows) for w in windows])


def i_stream(windows: Sequence[Bag]) -> list[Element]:
    """ISTREAM: the rows of each window, at its tick, that the previous window of its key lacked (Figure 8)."""
    return stream_of_batches([(w.tick, difference(w.rows, before)) for before, w in with_previous_window(windows)])


def d_stream(windows: Sequence[Bag]) -> list[Element]:
    """DSTREAM: for each window, at its tick, the rows that left since its key's previous window (Sec. 6.3; S13)."""
    return stream_of_batches([(w.tick, difference(before, w.rows)) for before, w in with_previous_window(windows)])


def stream_of_batches(batches: Sequence[tuple[int, Sequence[Row]]]) -> list[Element]:
    """Concatenate (tick, its rows) pairs, in order of ticks, to stream elements numbered from 1 (Figure 8 append)."""
    tagged = [(tick, row) for tick, rows in batches for row in rows]
    return [Element(tick, index, row) for index, (tick, row) in enumerate(tagged, start=1)]
