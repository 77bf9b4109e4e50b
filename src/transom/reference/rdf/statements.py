"""Definitions 1 to 5: the statements of sources with their validity intervals, in order of start."""

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
from transom.model.rdf.ntriples import decode_term
from transom.model.rdf.solutions import Valid
from transom.model.rdf.terms import Term
from transom.model.types import Value
from transom.reference import windows
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs


class _TermReader:
    """Parses rows of encoded terms; each distinct term is parsed once."""

    def __init__(self) -> None:
        """Start with an empty cache of parsed terms."""
        self.parsed: dict[Value, Term] = {}

    def __call__(self, row: Row) -> tuple[Term, ...]:
        """Parse a row of RDF terms in N-Triples syntax."""
        return tuple(self._term(text) for text in row)

    def _term(self, text: Value) -> Term:
        """Parse a term in N-Triples syntax, or take it from the cache."""
        term = self.parsed.get(text)
        if term is None:
            term = self.parsed[text] = decode_term(str(text))
        return term


def stored_graph(op: StoredGraph, inputs: Inputs) -> list[Valid[Row]]:
    """Return the distinct statements of the stored graphs that an operator reads, valid from tick 0 for ever (R13)."""
    versions = (version for extent in op.extents for version in inputs.tables.get(extent, ()))
    distinct = dict.fromkeys(row for version in versions for row in version.rows)
    read = _TermReader()
    return [Valid(read(row), 0, None) for row in distinct]


def relation_union(left: Sequence[Valid[Row]], right: Sequence[Valid[Row]]) -> list[Valid[Row]]:
    """Merge the statements of both inputs, with validity intervals, by start; at equal starts left ones come first."""
    return sorted((*left, *right), key=lambda element: element.start)


def window(op: Window, inputs: Inputs) -> list[Valid[Row]]:
    """Return the statements of a window's streams, each with the interval in which the window holds it (R3 to R6)."""
    if isinstance(op.input, StoredTable):
        raise Unsupported("Window", "statements are not read from tables", "never")
    extents = {source.extent for source in walk(op) if isinstance(source, StreamReceive)}
    read = _TermReader()
    arrived = {
        name: [replace(e, row=read(e.row)) for e in sorted(inputs.streams.get(name, ()), key=attrgetter("tick"))]
        for name in extents
    }
    until = max((elements[-1].tick for elements in arrived.values() if elements), default=0)
    elements = evaluate_stream(op.input, Inputs(until, arrived))
    return [Valid(element.row, start, end) for element, start, end in windows.validity(op, elements)]
