"""Convert statements that a program passes as rows into streams and graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from transom.catalog.extent import Extent
from transom.catalog.reading.ticks import HintedError, read_tick
from transom.catalog.reading.wording import display_value
from transom.connectors.rdf.terms import check_statement, term_text
from transom.connectors.rows import Origin, SourceRow, checked_rows, ordered_elements
from transom.model.bag import Element, Row, TableVersion
from transom.model.rdf.ntriples import statement_row
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar


def stream_statements(
    extent: Extent, rows: Iterable[object], calendar: Calendar, prefixes: Mapping[str, str]
) -> list[Element]:
    """Convert (time, s, p, o) or (time, Triple) rows of the caller to an RDF stream; `prefixes` expand `ex:a`.

    `prefixes` expand names such as `:a`.
    """
    source_rows: list[SourceRow] = []
    for number, row in enumerate(checked_rows(extent, rows), 1):  # type: ignore[arg-type]
        origin = Origin(extent.name, number)
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) not in (2, 4):
            raise origin.error(
                f"{display_value(row)} is no instant with a statement", "write for example (0, ':a', ':p', 1)"
            )
        try:
            tick = read_tick(row[0], calendar)
        except HintedError as error:
            raise origin.error(str(error), error.hint) from None
        except ValueError as error:
            raise origin.error(str(error)) from None
        source_rows.append(SourceRow(tick, _statement(row[1:], prefixes, origin), origin))
    return ordered_elements(extent, source_rows, None)


def graph_statements(extent: Extent, rows: Iterable[object], prefixes: Mapping[str, str]) -> list[TableVersion]:
    """Convert (s, p, o) rows or Triples of the caller to an RDF graph valid from tick 0; `prefixes` expand `ex:a`.

    `prefixes` expand names such as `:a`.
    """
    statements: list[Row] = []
    for number, row in enumerate(checked_rows(extent, rows), 1):  # type: ignore[arg-type]
        origin = Origin(extent.name, number)
        terms = (row,) if isinstance(row, Triple) else row
        if not isinstance(terms, Sequence) or isinstance(terms, str) or len(terms) not in (1, 3):
            raise origin.error(f"{display_value(row)} is no statement", "write for example (':a', ':p', 1)")
        statements.append(_statement(terms, prefixes, origin))
    return [TableVersion(0, tuple(statements))]


def _statement(terms: Sequence[object], prefixes: Mapping[str, str], origin: Origin) -> Row:
    """Convert a Triple, or three terms, to the row of an RDF statement; raise DataError if it is invalid."""
    if len(terms) == 1:
        if not isinstance(terms[0], Triple):
            raise origin.error(f"{display_value(terms[0])} is no statement", "write for example (':a', ':p', 1)")
        return statement_row(terms[0])
    try:
        row = tuple(term_text(term, prefixes) for term in terms)
    except HintedError as error:
        raise origin.error(str(error), error.hint) from None
    check_statement(row, origin)
    return row
