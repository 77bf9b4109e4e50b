"""Definitions 1 to 5: what sources deliver, and for how long windows keep it. All lists are in order of start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.rdf.tree import walk
from transom.algebra.sources import StoredTable, StreamReceive
from transom.algebra.windows import Window
from transom.errors import Unsupported
from transom.model.bag import Element
from transom.model.rdf.solutions import Valid
from transom.model.rdf.terms import Literal, Triple
from transom.reference import windows
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs as RowInputs


@dataclass(frozen=True, slots=True)
class Inputs:
    """What every stream delivers, with its instants in order of arrival, and what every stored graph holds.

    `now` is when the query is asked, for stored graphs only (R28).
    """

    streams: Mapping[str, Sequence[tuple[int, Triple]]] = field(default_factory=dict)
    graphs: Mapping[str, Sequence[Triple]] = field(default_factory=dict)
    now: Literal | None = None


def stored_graph(op: StoredGraph, inputs: Inputs) -> list[Valid[Triple]]:
    """Every statement once, valid for ever (R13)."""
    triples = dict.fromkeys(triple for extent in op.extents for triple in inputs.graphs.get(extent, ()))
    return [Valid(triple, 0, None) for triple in triples]


def relation_union(left: Sequence[Valid[Triple]], right: Sequence[Valid[Triple]]) -> list[Valid[Triple]]:
    """Both sides in order of start; sorting keeps the left first where starts are equal (R10, R24)."""
    return sorted((*left, *right), key=lambda element: element.start)


def window(op: Window, inputs: Inputs) -> list[Valid[Triple]]:
    """The statements of streams with the instants at which the window holds them (R3 to R6)."""
    if isinstance(op.input, StoredTable):
        raise Unsupported("Window", "statements are not read from tables", "never")
    extents = {source.extent for source in walk(op) if isinstance(source, StreamReceive)}
    arrived = {
        name: [
            Element(tick, number, (triple.subject, triple.predicate, triple.object))
            for number, (tick, triple) in enumerate(sorted(inputs.streams.get(name, ()), key=itemgetter(0)), start=1)
        ]
        for name in extents
    }
    until = max((elements[-1].tick for elements in arrived.values() if elements), default=0)
    elements = evaluate_stream(op.input, RowInputs(until, arrived))
    return [
        Valid(Triple(*e.row), start, end)  # type: ignore[arg-type]
        for e, start, end in windows.validity(op, elements)
    ]
