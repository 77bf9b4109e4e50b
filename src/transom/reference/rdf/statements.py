"""Definitions 1 to 5: what sources deliver, and for how long windows keep it. All lists are in order of start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transom.algebra.rdf.statements import ElementWindow, RangeWindow, RdfStream, StoredGraph
from transom.model.rdf.solutions import Payload, Valid
from transom.model.rdf.terms import Literal, Triple


@dataclass(frozen=True, slots=True)
class Inputs:
    """What every stream delivers, with its instants in order of arrival, and what every stored graph holds.

    `now` is when the query is asked, for stored graphs only (R28).
    """

    streams: Mapping[str, Sequence[tuple[int, Triple]]] = field(default_factory=dict)
    graphs: Mapping[str, Sequence[Triple]] = field(default_factory=dict)
    now: Literal | None = None


def rdf_stream(op: RdfStream, inputs: Inputs) -> list[Valid[Triple]]:
    """Definition 1: every statement is valid at its instant alone (R1)."""
    arrived = sorted(inputs.streams.get(op.extent, ()), key=lambda element: element[0])
    return [Valid(triple, t, t + 1) for t, triple in arrived]


def stored_graph(op: StoredGraph, inputs: Inputs) -> list[Valid[Triple]]:
    """Every statement once, valid for ever (R13)."""
    triples = dict.fromkeys(triple for extent in op.extents for triple in inputs.graphs.get(extent, ()))
    return [Valid(triple, 0, None) for triple in triples]


def merge(parts: Sequence[Sequence[Valid[Triple]]]) -> list[Valid[Triple]]:
    """All parts in order of start; sorting keeps the order of the parts where starts are equal (R10, R24)."""
    return sorted((element for part in parts for element in part), key=lambda element: element.start)


def range_window(op: RangeWindow, elements: Sequence[Valid[Payload]]) -> list[Valid[Payload]]:
    """Definition 3 as intervals: the window moves at multiples of the slide (R3, R4)."""
    return [Valid(e.payload, e.start, (e.start + op.width) // op.slide * op.slide) for e in elements]


def element_window(op: ElementWindow, elements: Sequence[Valid[Payload]]) -> list[Valid[Payload]]:
    """Definition 5 as intervals: an element is valid until the count-th after it comes (R5, R6)."""
    starts: list[int | None] = [e.start for e in elements]
    ends = starts[op.count :] + [None] * op.count
    return [Valid(e.payload, e.start, end) for e, end in zip(elements, ends)]
