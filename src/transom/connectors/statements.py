"""Statements of RDF from plain Python and from files: what a query over RDF is asked over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from transom.catalog.catalog import Catalog
from transom.catalog.rdf import RdfExtent
from transom.catalog.ticks import Hinted, read_tick
from transom.catalog.wording import show
from transom.connectors.rows import Origin
from transom.errors import DataError, QueryError, UsageError
from transom.languages.sparql.written import read_term
from transom.model.rdf.read import read_triples
from transom.model.rdf.terms import DATE_TIME, DECIMAL, DOUBLE, IRI, BlankNode, Literal, Term, Triple, boolean, integer


def stream_statements(extent: RdfExtent, rows: Iterable[object], catalog: Catalog) -> list[tuple[int, Triple]]:
    """The statements of a stream: rows of an instant and three terms, or of an instant and a Triple."""
    found: list[tuple[int, Triple]] = []
    for number, row in enumerate(_rows(extent, rows), 1):
        origin = Origin(extent.name, number)
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) not in (2, 4):
            raise origin.error(f"{show(row)} is no instant with a statement", "write for example (0, ':a', ':p', 1)")
        try:
            tick = read_tick(row[0], catalog.calendar)
        except Hinted as error:
            raise origin.error(str(error), error.hint) from None
        except ValueError as error:
            raise origin.error(str(error)) from None
        found.append((tick, _triple(row[1:], catalog, origin)))
    return found


def graph_statements(extent: RdfExtent, rows: Iterable[object], catalog: Catalog) -> list[Triple]:
    """The statements of a graph: rows of three terms, or Triples."""
    found: list[Triple] = []
    for number, row in enumerate(_rows(extent, rows), 1):
        origin = Origin(extent.name, number)
        given = (row,) if isinstance(row, Triple) else row
        if not isinstance(given, Sequence) or isinstance(given, str) or len(given) not in (1, 3):
            raise origin.error(f"{show(row)} is no statement", "write for example (':a', ':p', 1)")
        found.append(_triple(given, catalog, origin))
    return found


def open_graph(extent: RdfExtent, folder: Path | None) -> list[Triple]:
    """The statements of a graph from its files; blank nodes of two files are two nodes."""
    if not extent.files:
        raise UsageError(
            f"no statements for {extent.name}: it has no files",
            hint=f"give them as inputs, or add files: {extent.name}.ttl to the catalog",
        )
    found: list[Triple] = []
    for number, name in enumerate(extent.files):
        path = (folder or Path()) / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {path}", detail=str(error), hint="give the path of a file of RDF") from error
        ending = path.suffix.removeprefix(".").lower()
        try:
            found += read_triples(content, ending, base=path.absolute().as_uri(), nodes=f"{extent.name}.{number}.")
        except DataError as error:
            error.source = str(path)
            raise
    return found


def _rows(extent: RdfExtent, rows: object) -> Iterable[object]:
    if isinstance(rows, str | bytes | dict) or not isinstance(rows, Iterable):
        raise DataError(f"the rows of {extent.name} are {show(rows)}, not a list", hint="give a list of rows")
    return rows


def _triple(given: Sequence[object], catalog: Catalog, origin: Origin) -> Triple:
    """A statement from a Triple, or from three terms."""
    if len(given) == 1:
        if not isinstance(given[0], Triple):
            raise origin.error(f"{show(given[0])} is no statement", "write for example (':a', ':p', 1)")
        return given[0]
    subject, predicate, object = (_term(one, catalog, origin) for one in given)
    if not isinstance(subject, IRI | BlankNode):
        raise origin.error(f"{subject} cannot be a subject", "a subject is an IRI or a blank node")
    if not isinstance(predicate, IRI):
        raise origin.error(f"{predicate} cannot be a predicate", "a predicate is an IRI")
    return Triple(subject, predicate, object)


def _term(given: object, catalog: Catalog, origin: Origin) -> Term:
    """A term: one of the model's, a value of Python's, or text as SPARQL writes terms."""
    match given:
        case IRI() | BlankNode() | Literal():
            return given
        case bool():
            return boolean(given)
        case int():
            return integer(given)
        case Decimal() if given.is_finite():
            return Literal(f"{given:f}", DECIMAL)
        case float():
            return Literal({"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(given), repr(given)), DOUBLE)
        case datetime():
            return Literal(given.isoformat().replace("+00:00", "Z"), DATE_TIME)
        case str():
            try:
                return read_term(given, catalog.rdf.prefixes)
            except QueryError as error:
                raise origin.error(error.message, error.hint) from None
        case _:
            raise origin.error(f"{show(given)} is no term", 'write for example <http://example.org/a>, 1.5 or "text"')
