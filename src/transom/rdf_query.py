"""A compiled query over RDF: it keeps every intermediate and answers questions about itself."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from transom.algebra import explain
from transom.algebra.composed import composed_in, sources_of
from transom.algebra.operator import AnyOperator
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.solutions import ordered
from transom.algebra.rdf.tree import Question
from transom.algebra.state import Formula, text
from transom.algebra.state_bound import StateBound
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.rdf import RdfExtent
from transom.catalog_bounds import bound_of, total
from transom.connectors.composed import gather_all
from transom.errors import QueryWarning, Unsupported, UsageError
from transom.languages.sparql.names import Names
from transom.languages.sparql.places import place_of
from transom.languages.sparql.remarks import unknown_predicates
from transom.languages.sparql.syntax import Query as Syntax
from transom.languages.sparql.unparse import format_text
from transom.languages.sql.select import Remark
from transom.model.rdf.answer import Aside, RdfAnswer, RdfAnswerKind
from transom.physical import show
from transom.physical.compose import Composer
from transom.physical.node import Physical
from transom.physical.plan import Kernel
from transom.physical.rdf_arrange import arrange
from transom.rdf_engines import of_rdf
from transom.reference.rdf.evaluate import evaluate
from transom.reference.rdf.statements import Inputs
from transom.shown import Engines, Picture, is_syntax
from transom.spark.function_gaps import refuse_functions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from transom.runtime.job import Job
    from transom.runtime.options import OnDataLoss, RunOptions
    from transom.runtime.rdf_aside import SetAside
    from transom.runtime.running import Running

RdfStage = Literal["syntax", "algebra", "plan"]


@dataclass(frozen=True)
class RdfQuery:
    """A compiled query over RDF streams and graphs. `algebra` is what the text means."""

    text: str = field(repr=False)
    language: str
    catalog: Catalog = field(repr=False)
    syntax: Syntax = field(repr=False)
    algebra: Question = field(repr=False)
    warnings: tuple[Remark, ...] = ()
    name: str | None = None

    def __repr__(self) -> str:
        return f"<RdfQuery {self.name or self.language}: {self.gives} ({', '.join(self.columns)})>"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        match self.algebra:
            case Ask():
                return ("ask",)
            case Construct() | Describe():
                return ("s", "p", "o")
            case solutions:
                return tuple(variable.name for variable in solutions.variables)

    @property
    def gives(self) -> RdfAnswerKind:
        """What the answer is made of."""
        match self.algebra:
            case Ask():
                return "boolean"
            case Construct() | Describe():
                return "triples"
            case solutions:
                return "sequences" if ordered(solutions) else "solutions"

    @property
    def reads(self) -> tuple[RdfExtent, ...]:
        """The streams and graphs that the query reads, each once."""
        known = self.catalog.rdf.extents
        return tuple(known[name] for name in sources_of(self.algebra) if name in known)

    @property
    def rows(self) -> tuple[Extent, ...]:
        """The extents of rows of which streams are made that the query reads, each once."""
        known = self.catalog.extents
        return tuple(known[name] for name in sources_of(self.algebra) if name in known)

    def format(self) -> str:
        """The text of the query in canonical form, with its comments."""
        return format_text(self.text, self.syntax)

    def explain(
        self,
        stage: RdfStage = "algebra",
        format: Literal["text", "json", "dot"] = "text",
        *,
        kernel: Kernel = "auto",
    ) -> str:
        """One stage of the query as text, JSON or a graph in the DOT language.

        The stage `plan` shows what a session runs that takes the kernel; with `kernel="off"`, what others run.
        """
        if stage not in get_args(RdfStage):
            known = "stages are syntax, algebra and plan"
            raise UsageError(f"no stage of a query over RDF is called {stage}", hint=known)
        if format not in ("text", "json", "dot"):
            raise UsageError(f"no format is called {format}", hint="formats are text, json and dot")
        syntax = stage == "syntax"
        if stage == "plan":
            calendar = self.catalog.calendar
            plan = self.physical(kernel=kernel != "off")
            tree = show.tree(plan, lambda formula: {"remembers": f"{text(formula, calendar)} rows"})
        else:
            tree = explain.branch(self.syntax, is_syntax) if syntax else explain.branch(self.algebra, _is_operator)
        if format == "text":
            return explain.as_text(tree, roles=syntax)
        return explain.as_json(tree) if format == "json" else explain.as_dot(tree)

    def physical(self, *, kernel: bool = False, answers: Collection[str] = ()) -> Physical:
        """The plan for Spark: representations, paths and bounds, without a JVM.

        `answers` are streams of queries whose statements are handed over.
        """
        local = frozenset(extent.name for extent in self.reads if extent.local)
        inner = composed_in(self.algebra)
        slack = 1 + max((extent.lateness for extent in (*self.reads, *self.rows)), default=0)
        try:
            plan = arrange(self.algebra, kernel=kernel, local=local)
            refuse_functions(self.algebra)
            if not inner:
                return plan
            keys = {extent.name: extent.keys for extent in self.rows if extent.keys is not None}
            composer = Composer(inner, 0, slack, kernel, keys, frozenset(), frozenset(answers), local)
            return composer.composed(plan)
        except Unsupported as gap:
            raise self._located(gap, gap.operator) from None

    @cached_property
    def engines(self) -> Engines:
        """Which engines run the query, and why the others do not; nothing is run to find out."""
        return of_rdf(self.algebra, self.physical, self._located)

    def _located(self, gap: Unsupported, what: str) -> Unsupported:
        """A refusal that points at an operator or a function of the text."""
        gap.span = gap.span or place_of(self.syntax, what)
        gap.within(self.text, self.name)
        return gap

    def to_df(
        self, spark: SparkSession, sources: Mapping[str, DataFrame] | None = None, *, kernel: Kernel = "auto"
    ) -> DataFrame:
        """The answer as one DataFrame: streaming where a source streams, else batch.

        `sources` gives statements by stream or graph as DataFrames with the columns s, p and o, terms spelled as in
        N-Triples, and for streams `tick` (a number or an instant); what has no entry is read from the catalog's files,
        streams as batches if no given one streams. A stream may come as messages instead: `tick` and
        `statements`, a list of s, p and o.

        What changes with time comes as changes: `tick`, `change` (how many more or fewer from then on), and the
        variables; a sequence comes as `tick`, `place` and the variables, whole at every tick at which it may be
        another, and `empty` where it has nothing. What only stored graphs say has the variables alone.
        """
        from transom.runtime.dataframe import dataframe
        from transom.runtime.options import RunOptions

        live = any(frame.isStreaming for frame in (sources or {}).values())
        job = self.job(spark, RunOptions(kernel=kernel), tuple(sources or ()), live=live)
        job.kernel.warn()
        return dataframe(job, spark, sources, live=live)

    def job(self, spark: SparkSession, options: RunOptions, given: Collection[str] = (), *, live: bool = True) -> Job:
        """The query, planned once for a session and a run."""
        from transom.runtime.job import Job
        from transom.runtime.kernel import planned

        choice, plan = planned(spark, options.kernel, lambda fast: self.physical(kernel=fast, answers=tuple(given)))
        bound = self._state(show.total(plan))
        known = {**self.catalog.extents, **self.catalog.rdf.extents}
        sources = tuple(known[name] for name in sources_of(self.algebra, given))
        return Job(self.text, self.name, self.catalog, sources, plan, self.columns, self.gives, bound, choice, options)

    def replay(
        self,
        spark: SparkSession,
        sources: Mapping[str, DataFrame] | None = None,
        *,
        start: int = 0,
        until: int | None = None,
        kernel: Kernel = "auto",
        aside: SetAside | None = None,
    ) -> DataFrame:
        """The answer over sources that are no streams, as intervals: `start`, `end` (NULL: for ever) and what is valid.

        Solutions and statements come with `n`, how often they are, solutions of a sequence with their `place`, a truth
        value is `ask`. Given are those that are valid at some tick from `start` to `until`. With `aside`, the files of
        the catalog are read once, and it knows which messages could not be read.
        """
        from transom.runtime.options import RunOptions
        from transom.runtime.rdf_intervals import replay

        job = self.job(spark, RunOptions(start, until, kernel=kernel), tuple(sources or ()), live=False)
        job.kernel.warn()
        return replay(job, spark, sources, aside=aside)

    def start(
        self,
        spark: SparkSession,
        sink: str,
        checkpoint: str | os.PathLike[str],
        *,
        sources: Mapping[str, DataFrame] | None = None,
        until: int | None = None,
        once: bool = False,
        allow_unbounded: bool = False,
        kernel: Kernel = "auto",
        on_data_loss: OnDataLoss = "refuse",
    ) -> Running:
        """Run the query on streaming `sources`, or on the files of the catalog: its changes go to `sink`.

        `checkpoint` is a folder to go on from later. With `once` it takes what is there and stops. `until` is the last
        tick whose changes are told; with `once` the files count as complete up to it. `on_data_loss` says what to do
        when Kafka has deleted messages before they were read.
        """
        from transom.runtime.options import RunOptions
        from transom.runtime.start import start_query

        options = RunOptions(
            until=until,
            kernel=kernel,
            sink=sink,
            checkpoint=Path(checkpoint).absolute(),
            once=once,
            allow_unbounded=allow_unbounded,
            on_data_loss=on_data_loss,
        )
        job = self.job(spark, options, tuple(sources or ()))
        job.kernel.warn()
        return start_query(job, spark, sources)

    def simulate(
        self,
        inputs: Mapping[str, Iterable[object]] | None = None,
        until: int | None = None,
        *,
        now: datetime | None = None,
    ) -> RdfAnswer:
        """The answer by the reference engine, from tick 0 for ever.

        `inputs` gives statements by extent: for streams rows of an instant and three terms, for graphs rows of three
        terms. A term is one of the model's, a value of Python's, or text as SPARQL writes terms. What has no entry is
        read from the catalog's files; messages that cannot be read are set aside in the answer.
        `until` is the last tick of the rows of which statements are made (the last tick of all sources). `now` is what
        NOW() says over stored graphs.
        """
        found, aside = self.inputs(inputs, until, now=now)
        for remark in self.unmatched(found):
            warnings.warn(remark.line(self.text, self.name), QueryWarning, stacklevel=2)
        return replace(evaluate(self.algebra, found), aside=aside)

    def undeclared(self) -> tuple[Remark, ...]:
        """The predicates of patterns that the catalog does not declare, where it declares those of all that is read."""
        declared = [extent.predicates for extent in self.reads]
        if None in declared:
            return ()
        return self._unknown({iri for predicates in declared for iri in predicates or ()})

    def unmatched(self, inputs: Inputs) -> tuple[Remark, ...]:
        """The predicates of patterns that no statement of some inputs has."""
        streamed = (triple for given in inputs.streams.values() for _, triple in given)
        stored = (triple for given in inputs.graphs.values() for triple in given)
        said = {(remark.message, remark.span) for remark in self.warnings}
        found = self._unknown({triple.predicate.value for triple in (*streamed, *stored)})
        return tuple(remark for remark in found if (remark.message, remark.span) not in said)

    def _unknown(self, known: set[str]) -> tuple[Remark, ...]:
        """The predicates of patterns that are not among those that are known; none where nothing is known."""
        names = Names.of(self.syntax, self.catalog.rdf.prefixes)
        return tuple(unknown_predicates(self.syntax, names, known)) if known else ()

    def inputs(
        self,
        inputs: Mapping[str, Iterable[object]] | None = None,
        until: int | None = None,
        *,
        now: datetime | None = None,
    ) -> tuple[Inputs, Mapping[str, tuple[Aside, ...]]]:
        """What the reference engine evaluates over, and the messages that could not be read, by stream."""
        if inputs is not None and not isinstance(inputs, Mapping):
            raise UsageError("inputs are statements by extent", hint="write {'td': [(0, ':a', ':p', 1)]}")
        composed = composed_in(self.algebra)
        for name in inputs or {}:
            if name not in self.catalog.rdf.extents and not (composed and name in self.catalog.extents):
                known = ", ".join(self.catalog.rdf.extents)
                raise UsageError(f"inputs for {name}, which is no stream or graph", hint=f"there is {known}")
        _, found = gather_all(self.algebra, self.catalog, inputs, until, now=now)
        return found.inputs, found.aside

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes of the query, and those of the catalog that it does not declare anew."""
        return Names.of(self.syntax, self.catalog.rdf.prefixes).prefixes

    @property
    def state(self) -> StateBound:
        """How many statements and solutions the whole query must remember (E8)."""
        return self._state(total(self.algebra))

    def spark_state(self, kernel: Kernel = "auto") -> StateBound:
        """How many rows the plan for Spark remembers at most; its bounds depend on the path."""
        return self._state(show.total(self.physical(kernel=kernel != "off")))

    def _state(self, formula: Formula) -> StateBound:
        return bound_of(formula, self.catalog, self.algebra)

    def picture(
        self, inputs: Mapping[str, Iterable[object]] | None = None, until: int | None = None, *, start: int = 0
    ) -> Picture:
        """The answer over time, as an SVG drawing: one lane per solution, bars for the times in which it is valid."""
        from transom.picture.intervals import draw_answer

        answer = self.simulate(inputs)
        name = Path(self.name or "").name
        calendar, prefixes = self.catalog.calendar, self.prefixes
        return Picture(draw_answer(answer, calendar, start, until, prefixes=prefixes, title=name, text=self.text))

    def _repr_html_(self) -> str:
        from html import escape

        remarks = "".join(f"<p>warning: {escape(remark.message)}</p>" for remark in self.warnings)
        columns = escape(", ".join(self.columns))
        return f"<pre>{escape(self.format())}</pre>{remarks}<p>gives {self.gives} ({columns})</p>"


def _is_operator(content: Any) -> bool:
    return isinstance(content, AnyOperator)
