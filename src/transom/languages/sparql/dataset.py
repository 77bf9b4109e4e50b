"""What a query reads: FROM clauses to sources, each with its window (002 Table 1; R10, R13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.patterns import Place, TriplePattern
from transom.algebra.rdf.solutions import union
from transom.algebra.rdf.statements import (
    StoredGraph,
    element_window,
    fitting,
    range_window,
    rdf_stream,
    stream_of,
    union_of,
)
from transom.algebra.windows import Window
from transom.catalog.extents import Extent
from transom.catalog.rdf import Rdf
from transom.catalog.wording import did_you_mean
from transom.errors import LanguageRule, NameProblem
from transom.languages.sparql import syntax
from transom.languages.sparql.names import Names
from transom.model.rdf.terms import IRI
from transom.model.time import Calendar


@dataclass(frozen=True, slots=True)
class Size:
    """A window in ticks: a width and a slide, or a number of elements."""

    width: int = 0
    slide: int = 0
    count: int = 0

    def over(self, stream: Stream) -> Window:
        """The window on a stream."""
        return element_window(stream, self.count) if self.count else range_window(stream, self.width, self.slide)


@dataclass(frozen=True, slots=True)
class Target:
    """What a pattern is matched against: streams with the windows of their FROM clauses, and stored graphs."""

    streams: tuple[tuple[str, Size], ...] = ()
    graphs: tuple[str, ...] = ()

    @property
    def statements(self) -> Windows:
        """All statements, streams through their own windows."""
        parts: list[Windows] = [size.over(rdf_stream(name)) for name, size in self.streams]
        return union_of([*parts, StoredGraph(self.graphs)] if self.graphs else parts)

    def through(self, window: Size) -> Windows:
        """All statements, streams through another window of time."""
        return Target(tuple((name, window) for name, _ in self.streams), self.graphs).statements

    def pattern(self, window: Size | None, subject: Place, predicate: Place, object: Place) -> Windows:
        """A triple pattern: above the windows of FROM, or below the window of its group (002 Alg. 1; R8, R9)."""
        if window is None or not self.streams:
            return TriplePattern(self.statements, subject, predicate, object)
        below = stream_of([rdf_stream(name) for name, _ in self.streams])
        counted = fitting(below, (subject, predicate, object)) if window.count else below
        live = TriplePattern(window.over(counted), subject, predicate, object)
        if not self.graphs:
            return live
        return union(live, TriplePattern(StoredGraph(self.graphs), subject, predicate, object))


@dataclass(frozen=True, slots=True)
class Dataset:
    """The default target, and those that GRAPH names."""

    default: Target
    named: Mapping[str, Target]


def dataset(form: syntax.Form, names: Names, rdf: Rdf, calendar: Calendar) -> Dataset:
    """The sources of a query; without FROM, all stored graphs of the catalog."""
    if not form.sources:
        graphs = [one for one in rdf.extents.values() if not one.is_stream]
        default = tuple(one.name for one in graphs if one.iri is None)
        return Dataset(Target((), default), {one.iri: Target((), (one.name,)) for one in graphs if one.iri is not None})
    streams: list[tuple[str, Size]] = []
    graph_names: list[str] = []
    named: dict[str, Target] = {}
    for source in form.sources:
        iri = names.iri(source.name)
        extent = found(source, iri, rdf)
        own: Target
        if isinstance(source, syntax.StreamSource):
            size = size_of(source.window, calendar)
            own = Target(((extent.name, size),))
        else:
            own = Target((), (extent.name,))
        if source.named:
            before = named.get(iri.value, own)
            if bool(before.streams) != bool(own.streams):
                hint = "GRAPH would mean both; name one of them"
                raise LanguageRule("a stream and a graph of one name", span=source.name.span, hint=hint)
            named[iri.value] = own
        else:
            streams += own.streams
            graph_names += [name for name in own.graphs if name not in graph_names]
    return Dataset(Target(tuple(streams), tuple(graph_names)), named)


def found(source: syntax.Source, iri: IRI, rdf: Rdf) -> Extent:
    """The extent that a FROM clause names; NameProblem if the catalog has none."""
    stream = isinstance(source, syntax.StreamSource)
    extent = rdf.named(iri.value, stream=stream)
    if extent is not None:
        return extent
    kind, other = ("stream", "graph") if stream else ("graph", "stream")
    if rdf.named(iri.value, stream=not stream) is not None:
        hint = f"it is a {other}: write FROM {'' if stream else 'STREAM '}{iri}{'' if stream else ' WINDOW ...'}"
    else:
        known = [one.iri for one in rdf.extents.values() if one.is_stream == stream and one.iri is not None]
        hint = did_you_mean(iri.value, known) or "declare it under rdf in the catalog"
    raise NameProblem(f"no {kind} {iri} in the catalog", span=source.name.span, hint=hint)


def size_of(window: syntax.Window, calendar: Calendar) -> Size:
    """A window in ticks; without a slide it is one unit of the width (R2)."""
    match window:
        case syntax.ElementWindow(count=count):
            return Size(count=count)
        case syntax.FixedWindow(width=width):
            return Size(ticks(width, calendar), ticks(width, calendar))
        case syntax.RangeWindow(width=width, slide=None):
            return Size(ticks(width, calendar), _one_unit(window, width, calendar))
        case syntax.RangeWindow(width=width, slide=slide) if slide is not None:
            return Size(ticks(width, calendar), ticks(slide, calendar))
    raise AssertionError(window)


def _one_unit(window: syntax.RangeWindow, width: syntax.Duration, calendar: Calendar) -> int:
    """The slide of a window whose SLIDE has no number, if it is a whole number of ticks."""
    count = calendar.ticks(syntax.Duration(1, width.unit).milliseconds * 1000)
    if count:
        return count
    size = f"1 {width.unit.value}" if width.unit else "1 millisecond"
    written = f"{width.count} {width.unit.value}" if width.unit else f"{width.count}"
    raise LanguageRule(
        f"SLIDE without a number is one unit of the RANGE, here {size}, which is no whole number of ticks",
        span=window.span,
        hint=f"a tick of the catalog is {calendar.describe(1)}; write a number, for example SLIDE {written}",
    )


def ticks(duration: syntax.Duration, calendar: Calendar) -> int:
    """A length of time in ticks, if it is a whole number of them."""
    count = calendar.ticks(duration.milliseconds * 1000)
    if not count:
        unit = duration.unit.value if duration.unit else "milliseconds (there is no unit)"
        raise LanguageRule(
            f"{duration.count} {unit} is no whole number of ticks",
            span=duration.span,
            hint=f"a tick of the catalog is {calendar.describe(1)}; write for example tick: 1 ms",
        )
    return count
