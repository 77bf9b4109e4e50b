"""Statements that a program gives as rows: what a query over RDF is asked over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from transom.catalog.extents import Extent
from transom.catalog.ticks import Hinted, read_tick
from transom.catalog.wording import show
from transom.connectors.rows import Given, Origin, checked_rows, tagged
from transom.connectors.terms import check_statement, term_text
from transom.model.bag import Element, Row, Version
from transom.model.rdf.spelling import statement_row
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar


def stream_statements(
    extent: Extent, rows: Iterable[object], calendar: Calendar, prefixes: Mapping[str, str]
) -> list[Element]:
    """The statements of a stream: rows of an instant and three terms, or of an instant and a Triple."""
    found: list[Given] = []
    for number, row in enumerate(checked_rows(extent, rows), 1):  # type: ignore[arg-type]
        origin = Origin(extent.name, number)
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) not in (2, 4):
            raise origin.error(f"{show(row)} is no instant with a statement", "write for example (0, ':a', ':p', 1)")
        try:
            tick = read_tick(row[0], calendar)
        except Hinted as error:
            raise origin.error(str(error), error.hint) from None
        except ValueError as error:
            raise origin.error(str(error)) from None
        found.append(Given(tick, _statement(row[1:], prefixes, origin), origin))
    return tagged(extent, found, None)


def graph_statements(extent: Extent, rows: Iterable[object], prefixes: Mapping[str, str]) -> list[Version]:
    """The statements of a graph, from tick 0 on: rows of three terms, or Triples."""
    found: list[Row] = []
    for number, row in enumerate(checked_rows(extent, rows), 1):  # type: ignore[arg-type]
        origin = Origin(extent.name, number)
        given = (row,) if isinstance(row, Triple) else row
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) not in (1, 3):
            raise origin.error(f"{show(row)} is no statement", "write for example (':a', ':p', 1)")
        found.append(_statement(given, prefixes, origin))
    return [Version(0, tuple(found))]


def _statement(given: Sequence[object], prefixes: Mapping[str, str], origin: Origin) -> Row:
    """A statement from a Triple, or from three terms."""
    if len(given) == 1:
        if not isinstance(given[0], Triple):
            raise origin.error(f"{show(given[0])} is no statement", "write for example (':a', ':p', 1)")
        return statement_row(given[0])
    try:
        row = tuple(term_text(one, prefixes) for one in given)
    except Hinted as error:
        raise origin.error(str(error), error.hint) from None
    check_statement(row, origin)
    return row
