"""The proof in the user's hands, over RDF: the reference engine, a replay, and streams cut in several ways."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from pyspark.sql import SparkSession

from transom.algebra.rdf.tree import Question, volatile_calls
from transom.catalog.rdf import RdfExtent
from transom.connectors.rdf_payloads import counts
from transom.errors import UsageError
from transom.model.rdf.answer import Aside, Ordered, RdfAnswer, Truth
from transom.model.rdf.formats import cell, rows
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import Triple
from transom.physical.plan import Kernel
from transom.reference.rdf.evaluate import evaluate
from transom.reference.rdf.statements import Inputs
from transom.runtime.composed_harness import gathered as rows_as_answer
from transom.runtime.composed_harness import is_mixed, sources_of, stream_rows
from transom.runtime.job import Plannable
from transom.runtime.micro_batches import Split
from transom.runtime.options import RunOptions
from transom.runtime.rdf_aside import SetAside
from transom.runtime.rdf_harness import stream_answer
from transom.runtime.rdf_intervals import gathered, replay
from transom.runtime.verify import SPLITS, Check, fair


class Verifiable(Plannable[RdfExtent], Protocol):
    """A compiled query over RDF that the reference engine evaluates and Spark runs."""

    @property
    def algebra(self) -> Question:
        """What the text means."""
        ...

    def inputs(self, inputs: None = None, until: int | None = None) -> tuple[Inputs, Mapping[str, tuple[Aside, ...]]]:
        """The statements of the catalog's sources, and the messages that could not be read."""
        ...


Part = TypeVar("Part", "Valid[Solution]", "Valid[Triple]", Ordered, Truth)


def verify(
    query: Verifiable,
    spark: SparkSession,
    *,
    splits: Sequence[str] = SPLITS,
    start: int = 0,
    until: int | None = None,
    watch: Callable[[str], None] | None = None,
    kernel: Kernel = "auto",
    aside: SetAside | None = None,
) -> Iterator[Check]:
    """Run the query in every way, one after the other; the first check is the reference with itself.

    The replay reads the files of the catalog on Spark, and must set aside the same messages. The streams get the
    statements in the order of their ticks, and tell all changes up to the last one, or up to `until`: what lasts longer
    has no end there.
    """
    if calls := volatile_calls(query.algebra):
        raise UsageError(f"{calls[0].function} gives another value each time", hint="verify the query without it")
    tell = watch or (lambda _: None)
    cuts = [Split.read(text) for text in splits]
    job = query.job(spark, RunOptions(start=start, until=until, kernel=kernel), live=False)
    tell("reading, and evaluating in the reference engine")
    sources = sources_of(job.sources, job.catalog, None, until) if is_mixed(job) else None
    inputs, broken = query.inputs() if sources is None else query.inputs(None, sources.rows.until)
    whole = evaluate(query.algebra, inputs)
    expected = whole.during(start, until)
    yield Check("reference", len(expected), None)
    tell("replaying as a batch")
    aside = aside or SetAside()
    found = gathered(replay(job, spark, aside=aside).collect(), job.result_kind, job.columns)  # type: ignore[arg-type]
    yield Check("replay", len(found), difference(expected, found) or _aside_alike(broken, aside))
    aside.forget()
    if not inputs.streams:
        return
    last = until if sources is None else sources.rows.until
    if last is None:
        last = max([last_change(whole), *(tick for given in inputs.streams.values() for tick, _ in given)])
    told = {name: [one for one in given if one[0] <= last] for name, given in inputs.streams.items()}
    expected = up_to(whole, last).during(start, until)
    for cut in cuts:
        pieces = fair(cut, sources.total if sources else sum(map(len, told.values())))
        tell(f"streaming, {pieces}")
        if sources is None:
            answer = stream_answer(query, spark, replace(inputs, streams=told), pieces, last, kernel)
        else:
            answer = rows_as_answer(*stream_rows(query, spark, sources, pieces, kernel=kernel))
        found = answer.during(start, until)
        yield Check(f"stream, {pieces}", len(found), difference(expected, found))


def _aside_alike(expected: Mapping[str, Sequence[Aside]], found: SetAside) -> str | None:
    one = {name: counts(messages) for name, messages in expected.items()}
    other = {name: broken.counts for name, broken in found.broken().items()}
    return None if one == other else f"set aside: expected {one}, found {other}"


def last_change(answer: RdfAnswer) -> int:
    """The last tick at which an answer changes."""
    ticks = [tick for start, end, _, _ in rows(answer) for tick in (start, end) if tick is not None]
    return max(ticks, default=0)


def up_to(answer: RdfAnswer, last: int) -> RdfAnswer:
    """An answer of which only the changes up to a tick are known: what lasts longer has no end."""

    def known(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        return tuple(
            one if one.end is None or one.end <= last else replace(one, end=None) for one in parts if one.start <= last
        )

    return replace(
        answer,
        solutions=known(answer.solutions),
        triples=known(answer.triples),
        sequences=known(answer.sequences),
        truth=known(answer.truth),
    )


def difference(expected: RdfAnswer, found: RdfAnswer) -> str | None:
    """The first difference between two answers in words, or None."""
    one, other = _lines(expected), _lines(found)
    for line in sorted(set(one) | set(other)):
        if one.count(line) != other.count(line):
            shown = _shown(line)
            return f"missing: {shown}" if one.count(line) > other.count(line) else f"not expected: {shown}"
    return None if one == other else "the order is another"


def _lines(answer: RdfAnswer) -> list[tuple[Hashable, ...]]:
    """The rows of an answer, in order of their start; within a sequence as it has them."""
    found = [
        (start, end is None, end or 0, n, *(cell(term) or "" for term in terms))
        for start, end, n, terms in rows(answer)
    ]
    return found if answer.sequences else sorted(found)


def _shown(line: tuple[Hashable, ...]) -> str:
    start, open_end, end, n, *terms = line
    return f"{start} to {'∞' if open_end else end}, {n} x ({', '.join(map(str, terms))})"
