"""Sources of statements: streams of rows (s, p, o) under the one `Window`, and stored graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from transom.algebra.expressions.expression import Column, Expression, conjunction
from transom.algebra.expressions.terms import STATEMENT, term_call, term_literal
from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.patterns import TermPattern, as_variable
from transom.algebra.relations import RelationUnion
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import Renumber, StreamSelect, StreamUnion
from transom.algebra.windows import Bound, Coordinate, CoordinateRange, Every, OnArrival, Window
from transom.errors import PlanError
from transom.model.schema import Schema


@dataclass(frozen=True, slots=True)
class StoredGraph(Windows):
    """The triples of a stored graph, or of several stored graphs that are merged into one.

    Meaning  the triples are always valid. Every triple occurs once, from tick 0 (R13). Two graphs never share a blank
             node.
    Bounds   without extents, the graph is empty. A GRAPH clause with an unknown name reads such an empty graph.
    Source   002 Listing 1.2; W3C 13.1.
    State    none, because the graph is stored outside the query.
    """

    extents: tuple[str, ...]

    @property
    def schema(self) -> Schema:
        """The columns of an RDF statement: subject, predicate and object."""
        return STATEMENT


def rdf_stream(extent: str) -> StreamReceive:
    """Build the operator that reads a source of RDF statements, ordered by tick, then by arrival (002 Defs. 1, 2)."""
    return StreamReceive(extent, STATEMENT)


def merge_streams(parts: Sequence[Stream]) -> Stream:
    """Merge several streams of statements in order of tick; a single stream stays unchanged (002 Table 1; R10)."""
    return parts[0] if len(parts) == 1 else StreamUnion(tuple(parts))


def union_windows(parts: Sequence[Windows]) -> Windows:
    """Build the bag union of windows and stored graphs; without any, the empty graph (002 Def. 9; R7, R10)."""
    return reduce(RelationUnion, parts) if parts else StoredGraph(())


def range_window(input: Stream, width: int, slide: int) -> Window:
    """Build SPARQL's window `RANGE width SLIDE slide`, in ticks, over a stream of statements.

    At tick t it holds the statements since (floor(t / slide) + 1) * slide - width.

    It is defined in 002 Def. 3; FIXED is slide = width (R3, R4, R25).
    """
    if not 1 <= slide <= width:
        raise PlanError("a window is at least one instant wide and slides by at most its width (R21)")
    window_range = CoordinateRange(Coordinate.TICK, Bound(slide, slide - width), Bound(1, 0))
    return Window(input, Every(Coordinate.TICK, 1), window_range)


def element_window(input: Stream, count: int) -> Window:
    """Build SPARQL's window `ELEMS count`: the last `count` statements of a stream (R5, R6, R8).

    See 002 Defs. 4, 5 and Sec. 7.
    """
    if count < 1:
        raise PlanError("a window holds at least one element (R21)")
    return Window(input, OnArrival(), CoordinateRange(Coordinate.INDEX, Bound(1, 1 - count), Bound(1, 0)))


def range_and_slide(op: Windows) -> tuple[int, int] | None:
    """Return width and slide, in ticks, of a window that `range_window` built; None for any other operator."""
    match op:
        case Window(
            slide=Every(coordinate=Coordinate.TICK, step=1), range=CoordinateRange(low=low, high=Bound(step=1))
        ):
            return (low.step - low.offset, low.step)
        case _:
            return None


def element_count(op: Windows) -> int | None:
    """Return the number of statements in a window that `element_window` built; None for any other operator."""
    match op:
        case Window(slide=OnArrival(), range=CoordinateRange(coordinate=Coordinate.INDEX, low=low)):
            return 1 - low.offset
        case _:
            return None


def matching_stream(input: Stream, pattern: Sequence[TermPattern]) -> Stream:
    """Keep and renumber the statements that match a triple pattern, which count-based windows then count (R8)."""
    first: dict[str, Column] = {}
    conditions: list[Expression] = []
    for attribute, item in zip(STATEMENT, map(as_variable, pattern), strict=True):
        column = Column(attribute)
        if not isinstance(item, Column):
            conditions.append(term_call("sameTerm", column, term_literal(item)))
        elif first.setdefault(item.name, column) is not column:
            conditions.append(term_call("sameTerm", column, first[item.name]))
    if not conditions:
        return input
    return Renumber(StreamSelect(input, conjunction(conditions)))
