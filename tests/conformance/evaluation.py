"""The evaluation tests of W3C: through our parser, translation and reference engine."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import yaml

from tests.rdf.stated import stated
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import Rdf, stored_graph
from transom.languages.sparql import syntax
from transom.languages.sparql.parse import parse
from transom.languages.sparql.translate import translate
from transom.languages.sparql.translation.names import resolve_iri
from transom.model.rdf.read import read_triples
from transom.model.rdf.terms import DATE_TIME, Literal, Triple
from transom.model.time import Calendar
from transom.reference.rdf.evaluate import evaluate

from . import answers
from .manifests import Entry

EXCLUSIONS = Path(__file__).parent / "exclusions.yaml"
NOW = Literal(datetime(2012, 1, 1, tzinfo=UTC).isoformat(), DATE_TIME)


def exclusions() -> dict[str, str]:
    """The tests that do not pass, with the reasons."""
    found: dict[str, str] = yaml.safe_load(EXCLUSIONS.read_text("utf-8"))
    return found


@cache
def graph(path: Path) -> tuple[Triple, ...]:
    """The statements of a file."""
    return tuple(
        read_triples(path.read_bytes(), path.suffix.removeprefix("."), base=path.as_uri(), label_prefix=f"{path}#")
    )


def files(entry: Entry, query: syntax.SparqlQuery) -> dict[str, tuple[str | None, Path]]:
    """The graphs of a test: a name for each, its IRI, and its file. FROM names files beside the query."""
    found: dict[str, tuple[str | None, Path]] = {f"d{n}": (None, path) for n, path in enumerate(entry.data)}
    found |= {f"n{n}": (iri, path) for n, (iri, path) in enumerate(entry.named)}
    for source in query.form.sources:
        name = source.name
        iri = resolve_iri(name.text if hasattr(name, "text") else "", entry.query.as_uri())
        path = Path(iri.removeprefix("file://"))
        if iri not in [known for known, _ in found.values()] and path.is_file():
            found[f"f{len(found)}"] = (iri, path)
    return found


def ours(entry: Entry) -> answers.Expected:
    """Our answer to a test."""
    query = parse(entry.text)
    graphs = files(entry, query)
    extents = {name: stored_graph(name, iri) for name, (iri, _) in graphs.items()}
    catalog = Catalog(Calendar(1000), rdf=Rdf(extents))
    plan = translate(query, catalog, entry.query.as_uri()).plan
    return answers.of(evaluate(plan, stated({}, {name: graph(path) for name, (_, path) in graphs.items()}, NOW)))


def failure(entry: Entry) -> str | None:
    """Why a test does not pass, or None if it does."""
    if entry.result is None:
        return "it has no file with its answer"
    try:
        found = ours(entry)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    expected = answers.read(entry.result)
    if answers.same(found, expected, lax=entry.lax):
        return None
    return f"wants {shown(expected)}, got {shown(found)}"


def shown(answer: answers.Expected) -> str:
    """An answer in one line."""
    if answer.truth is not None:
        return str(answer.truth)
    if answer.graph is not None:
        return f"{len(answer.graph)} statements"
    return f"{len(answer.rows)} rows {[{k: str(v) for k, v in row} for row in answer.rows[:4]]}"


def evaluation_tests(entries: Iterable[Entry]) -> list[Entry]:
    """The tests with an answer to compare."""
    return [entry for entry in entries if entry.kind in ("QueryEvaluationTest", "CSVResultFormatTest")]
