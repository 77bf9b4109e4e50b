"""Where statements come from, and windows, which say for how long an element is valid."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.rdf.operator import Solutions, Statements
from transom.algebra.rdf.patterns import TriplePattern
from transom.algebra.rdf.variable import Variable
from transom.errors import PlanError


@dataclass(frozen=True, slots=True)
class RdfStream(Statements):
    """A stream of statements, each valid at the one instant at which it came.

    Meaning  every statement of the extent with the interval [t, t + 1), in order of time, then of arrival (R1).
    Bounds   several statements per instant, and one statement several times (R7).
    Source   002 Defs. 1, 2.
    State    none.
    """

    extent: str


@dataclass(frozen=True, slots=True)
class StoredGraph(Statements):
    """A stored graph, or several merged into one: a set of statements that are always valid.

    Meaning  every statement once, with the interval [0, inf) (R13); blank nodes of two graphs are two nodes.
    Bounds   no graph at all is the empty graph.
    Source   002 Listing 1.2; W3C 13.1.
    State    none of its own; the graph lies elsewhere.
    """

    extents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merge(Statements):
    """Several streams and graphs of statements as one.

    Meaning  all elements of all parts with their intervals, in order of their start, then in the order of the parts
             (R10).
    Bounds   a statement of two parts comes twice (R7); no part at all is the empty stream, which GRAPH with an unknown
             name reads.
    Source   002 Table 1 (several FROM STREAM), Def. 9.
    State    none; the parts are read in step (R24).
    """

    parts: tuple[Statements, ...]

    @property
    def gives_statements(self) -> bool:
        return all(part.gives_statements for part in self.parts)


@dataclass(frozen=True, slots=True)
class RangeWindow(Statements, Solutions):
    """Each element of a stream valid for a length of time.

    Meaning  an element of instant c gets [c, floor((c + width) / slide) * slide): at t those elements are there with
             i*slide - width <= c <= t, where i = floor(t / slide) + 1 (R3, R4, R25).
    Bounds   1 <= slide <= width (R21); slide = width is FIXED. It stands on streams, or on a pattern over streams, and
             on no other window (R9); both places mean the same.
    Source   002 Def. 3, Alg. 2.
    State    none; an interval is computed from the element alone.
    """

    input: Statements | TriplePattern
    width: int
    slide: int

    def __post_init__(self) -> None:
        if not 1 <= self.slide <= self.width:
            raise PlanError("a window is at least one instant wide and slides by at most its width (R21)")
        check_unwindowed(self.input)

    @property
    def gives_statements(self) -> bool:
        return not isinstance(self.input, TriplePattern)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return variables_below(self.input)


@dataclass(frozen=True, slots=True)
class ElementWindow(Statements, Solutions):
    """The last so many elements of a stream.

    Meaning  an element gets [c, start of the count-th later element); the last ones are valid for ever (R5, R6).
    Bounds   elements are counted in order: on a stream its statements, on a pattern its solutions (R8). With equal
             starts an interval is empty and its element never seen. It stands on no other window.
    Source   002 Defs. 4, 5, Sec. 7.
    State    count elements.
    """

    input: Statements | TriplePattern
    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise PlanError("a window holds at least one element (R21)")
        check_unwindowed(self.input)

    @property
    def gives_statements(self) -> bool:
        return not isinstance(self.input, TriplePattern)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return variables_below(self.input)


def check_unwindowed(op: Statements | TriplePattern) -> None:
    """What a window stands on is a stream, or a pattern over streams: nothing with an interval of its own yet."""
    if isinstance(op, TriplePattern):
        check_unwindowed(op.input)
    elif isinstance(op, Merge):
        for part in op.parts:
            check_unwindowed(part)
    elif not isinstance(op, RdfStream):
        raise PlanError(f"a window stands on streams, not on a {type(op).__name__}")


def variables_below(op: Statements | TriplePattern) -> tuple[Variable, ...]:
    """The variables of a pattern below a window; statements have none."""
    return op.variables if isinstance(op, TriplePattern) else ()
