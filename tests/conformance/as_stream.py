"""The evaluation tests of W3C over streams: all statements come at tick 0, and one window holds them.

What a test calls its default graph is one stream; each of its named graphs is another one, by the name that it has.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tests.rdf.stated import Stated, stated
from transom import compile
from transom.algebra.tree import reads_streams
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import Rdf, rdf_stream
from transom.errors import QueryWarning, Unsupported
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.parse import parse
from transom.languages.sparql.translation.names import resolve_iri
from transom.languages.sparql.unparse import unparse
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.query import Query

from . import answers
from .evaluation import evaluation_tests, files, graph, shown
from .manifests import Entry, entries

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from transom.physical.nodes.windows import KernelMode
    from transom.runtime.verify.micro_batches import Split

T = TypeVar("T")
DEFAULT = "urn:default"
WINDOW = syntax.FixedWindow(syntax.Duration(10, syntax.TimeUnit.MS))
"""Ten ticks, of which the first is the one of all statements."""
VOLATILE = {
    "functions/now01": "NOW",
    "functions/rand01": "RAND",
    "functions/uuid01": "UUID",
    "functions/uuid02": "UUID",
    "functions/struuid01": "STRUUID",
}
"""Tests that ask for what has no one value while a solution is valid; over a stream that is refused (R28)."""

Engine = Callable[[Query, Stated], RdfAnswer]
"""What answers a query over streams, from tick 0 on."""


@dataclass(frozen=True)
class Streamed:
    """A test as a query over streams, with what they bring."""

    query: Query
    inputs: Stated


def simulated(query: Query, inputs: Stated) -> RdfAnswer:
    """The answer of the reference engine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)  # many tests ask for what is not there
        return query.simulate(inputs.given)


def on_spark(spark: SparkSession, split: Split | None = None, kernel: KernelMode = "auto") -> Engine:
    """Spark as the engine, with a stream that is cut into micro-batches; all at once if nothing else is said."""
    from transom.runtime.verify.harness import stream_answer
    from transom.runtime.verify.micro_batches import Split

    return lambda query, inputs: stream_answer(query, spark, inputs, split or Split(), 0, kernel)


def every() -> list[Entry]:
    """The evaluation tests of both versions."""
    return [entry for version in ("sparql10", "sparql11") for entry in evaluation_tests(entries(version))]


def possible() -> list[Entry]:
    """The tests that can be asked over streams, and read one: the pattern of some is empty, or names no graph."""
    asked = (entry for entry in every() if entry.name not in VOLATILE)
    return [entry for entry in asked if reads_streams(streamed(entry).query.algebra)]


@cache
def streamed(entry: Entry) -> Streamed:
    """A test as a query over streams."""
    query = parse(entry.text)
    default, named = dataset(entry, query)
    extents = {"s": rdf_stream("s", DEFAULT)}
    streams = {"s": at_once(default)}
    sources = [syntax.StreamSource(terms.Iri(DEFAULT), WINDOW)]
    for number, (iri, path) in enumerate(named.items()):
        name = f"n{number}"
        extents[name], streams[name] = rdf_stream(name, iri), at_once([path])
        sources.append(syntax.StreamSource(terms.Iri(iri), WINDOW, named=True))
    prologue = (syntax.Base(entry.query.as_uri()), *query.prologue)
    text = unparse(replace(query, prologue=prologue, form=replace(query.form, sources=tuple(sources))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)  # of variables that nothing binds, on purpose
        compiled = compile(text, Catalog(Calendar(1000), rdf=Rdf(extents)), language="sparql")
    assert isinstance(compiled, Query)
    return Streamed(compiled, stated({extent.name: streams[extent.name] for extent in compiled.sources}))


def dataset(entry: Entry, query: syntax.SparqlQuery) -> tuple[list[Path], dict[str, Path]]:
    """The files of the default graph, and those of named graphs by their names."""
    given = files(entry, query).values()
    named = {iri: path for iri, path in given if iri is not None}
    if not query.form.sources:
        return [path for iri, path in given if iri is None], named
    asked = [(one.named, named[iri_of(one.name, entry)], iri_of(one.name, entry)) for one in query.form.sources]
    default = [path for is_named, path, _ in asked if not is_named]
    return default, {iri: path for is_named, path, iri in asked if is_named}


def iri_of(name: terms.IriName, entry: Entry) -> str:
    """The IRI that FROM names, seen from the file of the query."""
    assert isinstance(name, terms.Iri), "the tests write IRIs behind FROM"
    return resolve_iri(name.text, entry.query.as_uri())


def at_once(paths: Iterable[Path]) -> list[tuple[int, Triple]]:
    """The statements of some files, each once, at tick 0."""
    return [(0, one) for one in dict.fromkeys(one for path in paths for one in graph(path))]


def now(answer: RdfAnswer, tick: int = 0) -> answers.Expected:
    """What an answer says of one tick."""

    def there(start: int, end: int | None) -> bool:
        return start <= tick and (end is None or tick < end)

    truth = tuple(one for one in answer.truth if there(one.start, one.end))
    sequences = tuple(one for one in answer.sequences if there(one.start, one.end))
    solutions = tuple(one for one in answer.solutions if one.at(tick))
    triples = tuple(one for one in answer.triples if one.at(tick))
    return answers.of(replace(answer, truth=truth, sequences=sequences, solutions=solutions, triples=triples))


def failure(entry: Entry, engine: Engine = simulated) -> str | None:
    """Why a test does not pass as a stream, or None if it does."""
    return failures([entry], engine)[0]


def failures(tests: Sequence[Entry], engine: Engine, together: int = 1) -> list[str | None]:
    """Of each test why it does not pass, several at a time."""

    def judged(entry: Entry, test: Streamed | str) -> str | None:
        if isinstance(test, str):
            return test
        return told(lambda: differs(entry, now(engine(test.query, test.inputs))))

    prepared = [told(lambda entry=entry: streamed(entry)) for entry in tests]  # type: ignore[misc]
    with ThreadPoolExecutor(together) as pool:
        return list(pool.map(judged, tests, prepared))


def told(job: Callable[[], T]) -> T | str:
    """What a job gives, or why it gives nothing."""
    try:
        return job()
    except Unsupported as refusal:
        return f"refused: {refusal.operator}: {refusal.why}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:300] if str(error) else ''}"


def differs(entry: Entry, found: answers.Expected) -> str | None:
    """How an answer differs from the one that W3C expects, if it does."""
    assert entry.result is not None, "it has no file with its answer"
    expected = answers.read(entry.result)
    return None if answers.same(found, expected, lax=entry.lax) else f"wants {shown(expected)}, got {shown(found)}"
