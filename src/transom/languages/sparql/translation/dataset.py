"""Translates FROM clauses to sources, each with its window (002 Table 1; R10, R13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.patterns import TermPattern, TriplePattern
from transom.algebra.rdf.solutions import union
from transom.algebra.rdf.statements import (
    StoredGraph,
    element_window,
    matching_stream,
    merge_streams,
    range_window,
    rdf_stream,
    union_windows,
)
from transom.algebra.windows import Window
from transom.catalog.extent import Extent
from transom.catalog.rdf import Rdf
from transom.catalog.reading.wording import did_you_mean
from transom.errors import LanguageRule, NameProblem
from transom.languages.sparql import syntax
from transom.languages.sparql.translation.names import NameResolver
from transom.model.rdf.terms import IRI
from transom.model.time import Calendar


@dataclass(frozen=True, slots=True)
class WindowSize:
    """A window in ticks: a width and a slide, or a number of elements."""

    width: int = 0
    slide: int = 0
    count: int = 0

    def over(self, stream: Stream) -> Window:
        """Apply a window of this size to a stream of RDF statements."""
        return element_window(stream, self.count) if self.count else range_window(stream, self.width, self.slide)


@dataclass(frozen=True, slots=True)
class MatchTarget:
    """What a pattern is matched against: streams with the windows of their FROM clauses, and stored graphs."""

    streams: tuple[tuple[str, WindowSize], ...] = ()
    graphs: tuple[str, ...] = ()

    @property
    def statements(self) -> Windows:
        """The plan that reads all statements of the streams, in the windows of FROM, and of the stored graphs."""
        parts: list[Windows] = [size.over(rdf_stream(name)) for name, size in self.streams]
        return union_windows([*parts, StoredGraph(self.graphs)] if self.graphs else parts)

    def statements_in_window(self, window: WindowSize) -> Windows:
        """Return the plan that reads all statements, with `window` on each stream instead of that of FROM."""
        return MatchTarget(tuple((name, window) for name, _ in self.streams), self.graphs).statements

    def pattern(
        self, window: WindowSize | None, subject: TermPattern, predicate: TermPattern, object: TermPattern
    ) -> Windows:
        """Return the plan of a triple pattern's solutions over `window`; None: the windows of FROM (R8, R9).

        ELEMS of a group counts only the statements that match the pattern.
        """
        if window is None or not self.streams:
            return TriplePattern(self.statements, subject, predicate, object)
        below = merge_streams([rdf_stream(name) for name, _ in self.streams])
        counted = matching_stream(below, (subject, predicate, object)) if window.count else below
        streamed = TriplePattern(window.over(counted), subject, predicate, object)
        if not self.graphs:
            return streamed
        return union(streamed, TriplePattern(StoredGraph(self.graphs), subject, predicate, object))


@dataclass(frozen=True, slots=True)
class Dataset:
    """The default match target, and those of GRAPH by IRI."""

    default: MatchTarget
    named: Mapping[str, MatchTarget]


def translate_dataset(form: syntax.Form, names: NameResolver, rdf: Rdf, calendar: Calendar) -> Dataset:
    """Translate the FROM clauses of a query to streams and graphs of the catalog; without FROM, to all graphs."""
    if not form.sources:
        graphs = [graph for graph in rdf.extents.values() if not graph.is_stream]
        default = tuple(graph.name for graph in graphs if graph.iri is None)
        return Dataset(
            MatchTarget((), default),
            {graph.iri: MatchTarget((), (graph.name,)) for graph in graphs if graph.iri is not None},
        )
    streams: list[tuple[str, WindowSize]] = []
    graph_names: list[str] = []
    named: dict[str, MatchTarget] = {}
    for source in form.sources:
        iri = names.iri(source.name)
        extent = find_extent(source, iri, rdf)
        target: MatchTarget
        if isinstance(source, syntax.StreamSource):
            size = window_size_of(source.window, calendar)
            target = MatchTarget(((extent.name, size),))
        else:
            target = MatchTarget((), (extent.name,))
        if source.named:
            previous = named.get(iri.value, target)
            if bool(previous.streams) != bool(target.streams):
                hint = "a GRAPH pattern could mean both; keep NAMED for one of them"
                raise LanguageRule("a stream and a graph have the same name", span=source.name.span, hint=hint)
            named[iri.value] = target
        else:
            streams += target.streams
            graph_names += [name for name in target.graphs if name not in graph_names]
    return Dataset(MatchTarget(tuple(streams), tuple(graph_names)), named)


def find_extent(source: syntax.Source, iri: IRI, rdf: Rdf) -> Extent:
    """Return the stream or graph of the catalog that a FROM clause names; raises NameProblem if it is not declared."""
    stream = isinstance(source, syntax.StreamSource)
    extent = rdf.find(iri.value, stream=stream)
    if extent is not None:
        return extent
    kind, other_kind = ("stream", "graph") if stream else ("graph", "stream")
    if rdf.find(iri.value, stream=not stream) is not None:
        hint = f"it is a {other_kind}: write FROM {'' if stream else 'STREAM '}{iri}{'' if stream else ' WINDOW ...'}"
    else:
        iris = [
            candidate.iri
            for candidate in rdf.extents.values()
            if candidate.is_stream == stream and candidate.iri is not None
        ]
        hint = did_you_mean(iri.value, iris) or "declare it under rdf in the catalog"
    raise NameProblem(f"no {kind} {iri} in the catalog", span=source.name.span, hint=hint)


def window_size_of(window: syntax.Window, calendar: Calendar) -> WindowSize:
    """Convert a WINDOW clause to its size in ticks, or in elements for ELEMS.

    SLIDE without a number is one unit of RANGE (R2).
    """
    match window:
        case syntax.ElementWindow(count=count):
            return WindowSize(count=count)
        case syntax.FixedWindow(width=width):
            return WindowSize(duration_in_ticks(width, calendar), duration_in_ticks(width, calendar))
        case syntax.RangeWindow(width=width, slide=None):
            return WindowSize(duration_in_ticks(width, calendar), _default_slide(window, width, calendar))
        case syntax.RangeWindow(width=width, slide=slide) if slide is not None:
            return WindowSize(duration_in_ticks(width, calendar), duration_in_ticks(slide, calendar))
    raise AssertionError(window)


def _default_slide(window: syntax.RangeWindow, width: syntax.Duration, calendar: Calendar) -> int:
    """Return the ticks of a SLIDE without a number: one unit of the RANGE `width`, such as 1 S for 10 S.

    Raises LanguageRule if that is not a whole number of ticks.
    """
    ticks = calendar.ticks(syntax.Duration(1, width.unit).milliseconds * 1000)
    if ticks:
        return ticks
    unit_text = f"1 {width.unit.value}" if width.unit else "1 millisecond"
    width_text = f"{width.count} {width.unit.value}" if width.unit else f"{width.count}"
    raise LanguageRule(
        f"SLIDE without a number is {unit_text}, one unit of RANGE, and that is not a whole number of ticks",
        span=window.span,
        hint=f"a tick of the catalog is {calendar.describe(1)}; write a number, for example SLIDE {width_text}",
    )


def duration_in_ticks(duration: syntax.Duration, calendar: Calendar) -> int:
    """Convert a duration to ticks, the catalog's unit of time; raises LanguageRule unless it is a multiple."""
    ticks = calendar.ticks(duration.milliseconds * 1000)
    if not ticks:
        length = f"{duration.count} {duration.unit.value if duration.unit else 'ms'}"
        meaning = "" if duration.unit else f"{duration.count} without a unit means "
        raise LanguageRule(
            f"{meaning}{length}{' is' if duration.unit else ', which is'} not a whole number of ticks",
            span=duration.span,
            hint=f"a tick of the catalog is {calendar.describe(1)}; use multiples of it, or declare tick: 1 ms",
        )
    return ticks
