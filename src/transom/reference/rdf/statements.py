"""Definitions 1 to 5: what sources deliver, and for how long windows keep it. All lists are in order of start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.sources import StoredTable, StreamReceive
from transom.algebra.tree import walk
from transom.algebra.windows import Window
from transom.errors import Unsupported
from transom.model.bag import Row
from transom.model.rdf.solutions import Valid
from transom.model.rdf.spelling import decode
from transom.model.rdf.terms import Term
from transom.model.types import Value
from transom.reference import windows
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs


class _Reader:
    """Reads rows of spelled terms; each term is read once."""

    def __init__(self) -> None:
        self.known: dict[Value, Term] = {}

    def __call__(self, row: Row) -> tuple[Term, ...]:
        return tuple(self._term(text) for text in row)

    def _term(self, text: Value) -> Term:
        found = self.known.get(text)
        if found is None:
            found = self.known[text] = decode(str(text))
        return found


def stored_graph(op: StoredGraph, inputs: Inputs) -> list[Valid[Row]]:
    """Every statement once, valid for ever (R13)."""
    held = (version.rows for extent in op.extents for version in inputs.tables.get(extent, ()))
    rows = dict.fromkeys(row for rows in held for row in rows)
    read = _Reader()
    return [Valid(read(row), 0, None) for row in rows]


def relation_union(left: Sequence[Valid[Row]], right: Sequence[Valid[Row]]) -> list[Valid[Row]]:
    """Both sides in order of start; sorting keeps the left first where starts are equal (R10, R24)."""
    return sorted((*left, *right), key=lambda element: element.start)


def window(op: Window, inputs: Inputs) -> list[Valid[Row]]:
    """The statements of streams with the instants at which the window holds them (R3 to R6)."""
    if isinstance(op.input, StoredTable):
        raise Unsupported("Window", "statements are not read from tables", "never")
    extents = {source.extent for source in walk(op) if isinstance(source, StreamReceive)}
    read = _Reader()
    arrived = {
        name: [replace(e, row=read(e.row)) for e in sorted(inputs.streams.get(name, ()), key=attrgetter("tick"))]
        for name in extents
    }
    until = max((elements[-1].tick for elements in arrived.values() if elements), default=0)
    elements = evaluate_stream(op.input, Inputs(until, arrived))
    held = windows.validity(op, elements)
    return [Valid(element.row, start, end) for element, start, end in held]
