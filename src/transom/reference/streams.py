"""Figures 1, 3 and 8: filters and projections on streams, and converters from windows to streams."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.streams import StreamProject, StreamSelect, WithoutJumps
from transom.model.bag import Bag, Element, Row, difference, row_identity
from transom.model.space import step
from transom.reference.expressions import RowScope, holds
from transom.reference.relations import consecutive, project


def stream_select(op: StreamSelect, elements: Sequence[Element]) -> list[Element]:
    """Figure 1: filter; tick and index are kept."""
    schema = op.input.schema
    return [e for e in elements if holds(op.predicate, RowScope.of(schema, e))]


def stream_project(op: StreamProject, elements: Sequence[Element]) -> list[Element]:
    """Figure 3 projectOnTaggedTuple: tick and index are kept."""
    schema = op.input.schema
    return [Element(e.tick, e.index, project(op.items, RowScope.of(schema, e))) for e in elements]


def stream_union(parts: Sequence[Sequence[Element]]) -> list[Element]:
    """All parts in order of tick; sorting keeps the order of the parts where ticks are equal (R10, R24)."""
    return renumber(sorted((element for part in parts for element in part), key=lambda element: element.tick))


def renumber(elements: Sequence[Element]) -> list[Element]:
    """The same elements, numbered from 1 (S15)."""
    return [Element(e.tick, place, e.row) for place, e in enumerate(elements, start=1)]


def without_jumps(op: WithoutJumps, elements: Sequence[Element]) -> tuple[list[Element], list[Element]]:
    """The rows that their objects can have reached since the last one kept, and those that are rejected."""
    schema = op.input.schema
    kept: list[Element] = []
    rejected: list[Element] = []
    last: dict[tuple[object, ...], tuple[int, tuple[float, float]]] = {}
    seen: dict[tuple[object, ...], int] = {}
    for e in elements:
        key = row_identity(tuple(e.row[schema.position(a)] for a in op.key))
        if op.forget_after is not None and key in seen and e.tick - seen[key] - 1 > op.forget_after:
            last.pop(key, None)
        place = op.position.place(*(e.row[schema.position(a)] for a in op.place))
        if place is not None and key in last:
            since, before = last[key]
            if not op.speed.allows(step(op.position, before, place), e.tick - since):
                rejected.append(e)
                continue
        if place is not None:
            last[key] = (e.tick, place)
        seen[key] = e.tick
        kept.append(e)
    return kept, rejected


def r_stream(windows: Sequence[Bag]) -> list[Element]:
    """Figure 8 rStream: all tuples of every window."""
    return append([(w.tick, w.rows) for w in windows])


def i_stream(windows: Sequence[Bag]) -> list[Element]:
    """Figure 8 iStream: what was not in the window before; the first is compared with nothing."""
    return append([(w.tick, difference(w.rows, before)) for before, w in consecutive(windows)])


def d_stream(windows: Sequence[Bag]) -> list[Element]:
    """Section 6.3 dStream: what is gone since the window before, with the tick of the present one (S13)."""
    return append([(w.tick, difference(before, w.rows)) for before, w in consecutive(windows)])


def append(batches: Sequence[tuple[int, Sequence[Row]]]) -> list[Element]:
    """Figure 8 append: tuples with the tick of their window and a running index from 1."""
    tagged = [(tick, row) for tick, rows in batches for row in rows]
    return [Element(tick, index, row) for index, (tick, row) in enumerate(tagged, start=1)]
