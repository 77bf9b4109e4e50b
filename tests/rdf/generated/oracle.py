"""Generated questions, each as a plan and as SPARQL text, and Oxigraph's answer at one instant.

Oxigraph knows no time: what is valid at an instant, computed here from Definitions 3 and 5 by themselves, is put into
one named graph per window, and the text asks those graphs. It stores sets, so no statement comes twice.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyoxigraph as ox

from tests.rdf.build import term
from tests.rdf.stated import Stated, stated
from transom.algebra.expressions.expression import Column
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import TermPattern
from transom.algebra.rdf.statements import (
    StoredGraph,
    element_count,
    element_window,
    range_and_slide,
    range_window,
    rdf_stream,
    union_windows,
)
from transom.algebra.relations import RelationUnion
from transom.algebra.sources import StreamReceive
from transom.algebra.tree import RdfPlan
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term, Triple

SUBJECTS = [":a", ":b", "_:n"]
PREDICATES = [":p", ":q", ":r"]
OBJECTS: list[Any] = [":a", ":b", "_:n", 1, 2, 7, 2.5, '"x"', '"xy"']
VARIABLES = ["x", "y", "z", "w"]
LAST = 14
Row = tuple[int, Triple]


@dataclass(frozen=True)
class Piece:
    """A part of a question: its plan, its text, its variables, and whether a blank node of the data can be in it."""

    plan: Windows
    text: str
    names: tuple[str, ...]


@dataclass
class Case:
    """A question with its inputs; `graphs` says for each graph what is in it at an instant; one has no name.

    `text` is for Oxigraph; `ours` is the text of a question that was drawn as one.
    """

    inputs: Stated
    graphs: dict[str, Callable[[int], list[Triple]]]
    plan: RdfPlan = field(init=False)
    text: str = ""
    ours: str = ""
    names: tuple[str, ...] = ()
    ordered: bool = False
    made: int = 0


def streams(chance: random.Random) -> Stated:
    """Two streams and a graph without a statement that comes twice."""
    every = [(s, p, o) for s in SUBJECTS for p in PREDICATES for o in OBJECTS]
    drawn = [_triple(*one) for one in chance.sample(every, chance.randint(4, 16))]
    cut, end = sorted(chance.sample(range(len(drawn) + 1), 2))
    return stated(
        {
            "s": [(chance.randint(0, LAST), one) for one in drawn[:cut]],
            "u": [(chance.randint(0, LAST), one) for one in drawn[cut:end]],
        },
        {"g": drawn[end:]},
    )


def _triple(subject: str, predicate: str, object: Any) -> Triple:
    return Triple(term(subject), term(predicate), term(object))  # type: ignore[arg-type]


def new_source(chance: random.Random, case: Case) -> tuple[Windows, str]:
    """Statements with windows, and the named graph that holds the same."""
    match chance.randrange(5):
        case 0:
            source: Windows = StoredGraph(("g",))
        case 1:
            source = union_windows((windowed(chance, "s"), windowed(chance, "u")))
        case _:
            source = windowed(chance, chance.choice("ssu"))
    return source, graph_of(case, lambda t: content(source, case.inputs, t))


def graph_of(case: Case, at: Callable[[int], list[Triple]]) -> str:
    """The name of a new graph with some content."""
    name = f"urn:graph:{len(case.graphs)}"
    case.graphs[name] = at
    return name


def windowed(chance: random.Random, extent: str) -> Windows:
    """A stream with a window."""
    if chance.random() < 0.3:
        return element_window(rdf_stream(extent), chance.randint(1, 4))
    slide = chance.randint(1, 4)
    return range_window(rdf_stream(extent), slide + chance.randint(0, 8), slide)


def content(source: Windows, inputs: Stated, t: int, counted: tuple[TermPattern, ...] | None = None) -> list[Triple]:
    """The statements in a window at an instant, by Definitions 3 and 5 as they stand (R3, R5).

    `counted` is the pattern whose solutions a window of elements counts; it counts all statements if there is none.
    """
    match source:
        case StoredGraph(extents=(extent,)):
            return list(inputs.graphs[extent])
        case RelationUnion(left=left, right=right):
            return [one for part in (left, right) for one in content(part, inputs, t)]
    stream: Any = source
    while not isinstance(stream, StreamReceive):
        stream = stream.input
    extent = stream.extent
    if (size := range_and_slide(source)) is not None:
        width, slide = size
        i = t // slide + 1
        return [one for c, one in inputs.given[extent] if max(i * slide - width, 0) <= c <= t]
    count = element_count(source)
    assert count is not None
    return last(inputs.given[extent], count, t, lambda one: counted is None or fits(counted, one))


def last(rows: Any, count: int, t: int, choose: Callable[[Triple], bool]) -> list[Triple]:
    """The last so many of what came up to an instant."""
    arrived = [one for c, one in sorted(rows, key=lambda row: row[0]) if c <= t and choose(one)]
    return arrived[-count:]


def fits(places: tuple[TermPattern, ...], one: Triple) -> bool:
    """Whether a statement fits a pattern."""
    terms = (one.subject, one.predicate, one.object)
    same = all(not isinstance(p, Column) for p, _ in zip(places, terms)) or all(
        a == b for p, a in zip(places, terms) for q, b in zip(places, terms) if p == q and isinstance(p, Column)
    )
    return same and all(p == found for p, found in zip(places, terms) if not isinstance(p, Column))


def oxigraph(case: Case, t: int) -> list[tuple[Any, ...]] | bool:
    """What Oxigraph answers at an instant; rows in its order."""
    store = ox.Store()
    for name, at in case.graphs.items():
        graph = ox.NamedNode(name) if name else ox.DefaultGraph()
        store.add_graph(graph)
        for one in at(t):
            store.add(ox.Quad(theirs(one.subject), theirs(one.predicate), theirs(one.object), graph))
    found = store.query(case.text)
    if isinstance(found, ox.QueryBoolean):
        return bool(found)
    return [tuple(seen(None if row[n] is None else ours(row[n])) for n in case.names) for row in found]


def theirs(one: Term) -> Any:
    """A term as Oxigraph has it."""
    match one:
        case IRI(value=value):
            return ox.NamedNode(value)
        case BlankNode(label=label):
            return ox.BlankNode(label)
        case Literal(language=language) if language:
            return ox.Literal(one.lexical, language=language)
        case Literal():
            return ox.Literal(one.lexical, datatype=ox.NamedNode(one.datatype))


def ours(found: Any) -> Term:
    """A term of Oxigraph's as ours."""
    if isinstance(found, ox.NamedNode):
        return IRI(found.value)
    if isinstance(found, ox.BlankNode):
        return BlankNode(found.value)
    return Literal(found.value, found.datatype.value, found.language or "")


def seen(one: Term | None) -> Any:
    """A term so that one number written in two ways is the same."""
    if isinstance(one, Literal) and one.datatype.endswith(("#integer", "#decimal")):
        return (one.datatype, Decimal(one.lexical))
    if isinstance(one, Literal) and one.datatype.endswith(("#double", "#float")):
        return (one.datatype, float(one.lexical.replace("INF", "inf")))
    return one


def bag(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows without an order."""
    return Counter(rows)
