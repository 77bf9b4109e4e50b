"""Statements as inputs of the reference engine, beside the same as triples, for those who check it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transom.model.bag import Element, TableVersion
from transom.model.rdf.ntriples import statement_row
from transom.model.rdf.terms import Literal, Triple
from transom.reference.sources import Inputs

Given = Mapping[str, Sequence[tuple[int, Triple]]]


@dataclass(frozen=True, slots=True)
class Stated(Inputs):
    """Inputs of statements alone; `given` and `graphs` are what they were made of."""

    given: Given = field(default_factory=dict)
    graphs: Mapping[str, Sequence[Triple]] = field(default_factory=dict)


def stated(given: Given, graphs: Mapping[str, Sequence[Triple]] | None = None, now: Literal | None = None) -> Stated:
    """Streams of triples with their ticks, and graphs of triples."""
    graphs = graphs or {}
    streams = {
        name: [Element(t, number, statement_row(one)) for number, (t, one) in enumerate(rows, 1)]
        for name, rows in given.items()
    }
    tables = {name: [TableVersion(0, tuple(map(statement_row, rows)))] for name, rows in graphs.items()}
    until = max((tick for rows in given.values() for tick, _ in rows), default=0)
    return Stated(until, streams, tables, ends=False, now=now, given=given, graphs=graphs)
