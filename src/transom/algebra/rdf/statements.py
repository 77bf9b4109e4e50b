"""Where statements come from: streams of rows (s, p, o) through the one `Window`, and stored graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from transom.algebra.expressions import Column, Expression, conjunction
from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.patterns import Place, hidden
from transom.algebra.relations import RelationUnion
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import Renumber, StreamSelect, StreamUnion
from transom.algebra.terms import STATEMENT, term_call, term_literal
from transom.algebra.windows import Arrival, Between, Bound, Coordinate, Every, Window
from transom.errors import PlanError
from transom.model.schema import Schema


@dataclass(frozen=True, slots=True)
class StoredGraph(Windows):
    """A stored graph, or several merged into one: a set of statements that are always valid.

    Meaning  every statement once, from tick 0 on (R13); blank nodes of two graphs are two nodes.
    Bounds   no graph at all is the empty graph, which GRAPH with an unknown name reads.
    Source   002 Listing 1.2; W3C 13.1.
    State    none of its own; the graph lies elsewhere.
    """

    extents: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        return STATEMENT


def rdf_stream(extent: str) -> StreamReceive:
    """The statements of a stream, in order of time, then of arrival (002 Defs. 1, 2; R1)."""
    return StreamReceive(extent, STATEMENT)


def stream_of(parts: Sequence[Stream]) -> Stream:
    """Several streams of statements as one (002 Table 1, several FROM STREAM; R10)."""
    return parts[0] if len(parts) == 1 else StreamUnion(tuple(parts))


def union_of(parts: Sequence[Windows]) -> Windows:
    """The statements of several windows and graphs; one that is in two of them comes twice (002 Def. 9; R7, R10)."""
    return reduce(RelationUnion, parts) if parts else StoredGraph(())


def range_window(input: Stream, width: int, slide: int) -> Window:
    """RANGE and SLIDE: at t the statements c with i*slide - width <= c <= t, i = floor(t / slide) + 1 (002 Def. 3).

    FIXED is slide = width (R3, R4, R25).
    """
    if not 1 <= slide <= width:
        raise PlanError("a window is at least one instant wide and slides by at most its width (R21)")
    reach = Between(Coordinate.TICK, Bound(slide, slide - width), Bound(1, 0))
    return Window(input, Every(Coordinate.TICK, 1), reach)


def element_window(input: Stream, count: int) -> Window:
    """ELEMS: the last so many statements, counted in order (002 Defs. 4, 5, Sec. 7; R5, R6, R8)."""
    if count < 1:
        raise PlanError("a window holds at least one element (R21)")
    return Window(input, Arrival(), Between(Coordinate.INDEX, Bound(1, 1 - count), Bound(1, 0)))


def range_and_slide(op: Windows) -> tuple[int, int] | None:
    """The width and the slide of a `range_window`; None of other windows."""
    match op:
        case Window(slide=Every(coordinate=Coordinate.TICK, step=1), range=Between(low=low, high=Bound(step=1))):
            return (low.step - low.offset, low.step)
        case _:
            return None


def element_count(op: Windows) -> int | None:
    """The number of statements of an `element_window`; None of other windows."""
    match op:
        case Window(slide=Arrival(), range=Between(coordinate=Coordinate.INDEX, low=low)):
            return 1 - low.offset
        case _:
            return None


def fitting(input: Stream, places: Sequence[Place]) -> Stream:
    """The statements of a stream that fit a triple pattern, numbered anew: a window above counts only these (R8)."""
    first: dict[str, Column] = {}
    wanted: list[Expression] = []
    for attribute, place in zip(STATEMENT, map(hidden, places), strict=True):
        column = Column(attribute)
        if not isinstance(place, Column):
            wanted.append(term_call("sameTerm", column, term_literal(place)))
        elif first.setdefault(place.name, column) is not column:
            wanted.append(term_call("sameTerm", column, first[place.name]))
    if not wanted:
        return input
    return Renumber(StreamSelect(input, conjunction(wanted)))
