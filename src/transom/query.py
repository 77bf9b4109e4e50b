"""A compiled query: it keeps every intermediate and answers questions about itself.

Planner, reference engine, connectors and runtime are imported by the methods that use them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, get_args

from transom.algebra import explain
from transom.algebra.composed import composed_in
from transom.algebra.state import Formula, plus
from transom.algebra.state_bound import StateBound, remarks
from transom.catalog.extents import Extent
from transom.catalog_bounds import bound_of
from transom.compiled import Compiled, ResultKind, extents_of
from transom.composing import inner_state, with_inner
from transom.errors import QueryWarning, Unsupported, UsageError
from transom.languages.known import LANGUAGES
from transom.shown import Engines, Map, Picture, is_operator, is_syntax

Stage = Literal["syntax", "algebra", "optimized", "plan", "spark"]
STAGES = get_args(Stage)
if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from transom.physical.node import Physical
    from transom.physical.plan import Kernel
    from transom.rdf_semantics import RdfSemantics
    from transom.row_semantics import RowSemantics
    from transom.runtime.job import Job
    from transom.runtime.options import OnDataLoss, RunOptions
    from transom.runtime.running import Running
    from transom.spark.rejected import Rejected

Format = Literal["text", "json", "dot"]


AnswerType = TypeVar("AnswerType", covariant=True)


def semantics_of(query: Compiled) -> RowSemantics | RdfSemantics:
    """What the language of a query means by its algebra: rows, or statements and solutions."""
    if LANGUAGES[query.language].stream is None:
        from transom.rdf_semantics import RdfSemantics

        return RdfSemantics(query)
    from transom.row_semantics import RowSemantics

    return RowSemantics(query)


@dataclass(frozen=True)
class Query(Compiled, Generic[AnswerType]):
    """A compiled query. `algebra` is what the text means, `plan` the same after the optimizer."""

    def __repr__(self) -> str:
        return f"<Query {self.name or self.language}: {self.gives} ({', '.join(self.columns)})>"

    @cached_property
    def semantics(self) -> RowSemantics | RdfSemantics:
        """How the query is planned, evaluated and shown."""
        return semantics_of(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        return self.semantics.columns

    @property
    def gives(self) -> ResultKind:
        """What the answer is: tagged tuples, a stream of CQL or windows; over RDF solutions, triples, or a boolean."""
        return self.semantics.result_kind

    @property
    def reads(self) -> tuple[Extent, ...]:
        """The extents that the query reads, each once, through all queries whose answers it reads."""
        return extents_of(self)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes of the query, and those of the catalog that it does not declare anew."""
        return self.semantics.prefixes

    @cached_property
    def state(self) -> StateBound:
        """How many rows, or statements and solutions, the whole query must remember (E8)."""
        return self.state_of(plus(self.semantics.state, inner_state(self.plan)))

    def spark_state(self, kernel: Kernel = "auto") -> StateBound:
        """How many rows the plan for Spark keeps, all operators together, with one tick open beyond the lateness."""
        from transom.physical import show

        return self.state_of(show.total(self.physical(kernel=kernel != "off")))

    def state_of(self, formula: Formula) -> StateBound:
        """A bound on rows in words and, where all is declared, as a number."""
        return bound_of(formula, self.catalog, self.plan)

    def explain(
        self,
        stage: Stage = "plan",
        format: Format = "text",
        *,
        spark: SparkSession | None = None,
        kernel: Kernel = "auto",
    ) -> str:
        """One stage of the query as text, JSON or a graph in the DOT language; the stage `spark` needs a session.

        The stage `plan` shows what a session runs that takes the kernel; with `kernel="off"`, what others run.
        """
        match stage:
            case "syntax":
                tree = explain.branch(self.syntax, is_syntax)
            case "algebra":
                tree = explain.branch(self.algebra, is_operator, self._remark)
            case "optimized":
                tree = explain.branch(self.plan, is_operator, self._remark)
            case "plan":
                from transom.physical import show

                plan = self.physical(kernel=kernel != "off")
                tree = show.tree(plan, lambda formula: remarks(self.state_of(formula)))
            case "spark" if spark is not None:
                from transom.runtime.options import RunOptions
                from transom.runtime.start import spark_plan

                return spark_plan(self._planned(spark, RunOptions(kernel=kernel), live=True), spark)
            case "spark":
                raise UsageError("the stage spark needs a session", hint="write explain('spark', spark=session)")
            case _:
                raise UsageError(f"no stage is called {stage}", hint=f"stages are {', '.join(STAGES)}")
        if format not in get_args(Format):
            raise UsageError(f"no format is called {format}", hint="formats are text, json and dot")
        return explain.written(tree, format, roles=stage == "syntax")

    def _remark(self, op: Any) -> Mapping[str, Any]:
        said, formula = self.semantics.remark(op)
        state = None if formula is None else self.state_of(formula)
        return said if state is None or state.rows == 0 else {**said, **remarks(state)}

    def physical(
        self,
        *,
        start: int = 0,
        index: bool = False,
        slack: int | None = None,
        kernel: bool = False,
        given: Collection[str] | None = (),
        answers: Collection[str] = (),
    ) -> Physical:
        """The plan for Spark: representations, paths and bounds, without a JVM.

        `index` asks for the running index of a tagged stream; `slack` is how many ticks may be open at once, for the
        bounds on state: the lateness of the sources and what a micro-batch spans (default: the lateness and one tick).
        `kernel` is the plan for a session that takes the kernel. `given` are extents whose rows are handed over: a live
        run follows the logs of all other tables that are scanned; None is a replay, which follows none. `answers` are
        extents of queries whose rows are handed over.
        """
        logs = [e.name for e in self.reads if e.grows and given is not None and e.name not in given]
        inner = composed_in(self.plan)
        try:
            plan = self.semantics.arrange(start=start, index=index, slack=slack, kernel=kernel, growing=logs)
            return with_inner(plan, inner, self.reads, start, slack, kernel, logs, answers) if inner else plan
        except Unsupported as gap:
            gap.span = gap.span or self.semantics.place_of(gap.operator, [*logs, *inner])
            raise gap.within(self.text, self.name) from None

    @cached_property
    def engines(self) -> Engines:
        """Which engines run the query, and why the others do not; nothing is run to find out."""
        from transom.engines import engines_of

        known = self.semantics.refusals()
        for gap in known.values():
            gap.within(self.text, self.name)
        return engines_of(known, lambda given: self.physical(given=given))

    def to_df(
        self,
        spark: SparkSession,
        sources: Mapping[str, DataFrame] | None = None,
        *,
        index: bool = False,
        start: int = 0,
        until: int | None = None,
        approximate_sums: bool = False,
        kernel: Kernel = "auto",
        rejected: Rejected | None = None,
    ) -> DataFrame:
        """The answer as one DataFrame to go on with: streaming where a source streams, else batch (a replay).

        `sources` maps extents to DataFrames with a time column; the others are opened as the catalog says, as batches
        if no given one streams. `tick` is the end of the tick and is event time; `index` adds the running index.
        `kernel` says whether stateful operators run in Java: `auto` where the session takes the jar, `on` or `off`. In
        a batch `rejected` counts the rows beyond a speed limit.
        """
        from transom.runtime.dataframe import dataframe, is_live
        from transom.runtime.options import RunOptions

        known = self.catalog.sources
        live = is_live(sources or {}, [known[name] for name in sources or () if name in known])
        options = RunOptions(start, until, index, approximate_sums, kernel)
        job = self.job(spark, options, tuple(sources or ()), live=live)
        job.kernel.warn()
        return dataframe(job, spark, sources, live=live, rejected=rejected)

    def replay(
        self,
        spark: SparkSession,
        sources: Mapping[str, DataFrame] | None = None,
        *,
        start: int = 0,
        until: int | None = None,
        index: bool = False,
        kernel: Kernel = "auto",
        rejected: Rejected | None = None,
    ) -> DataFrame:
        """The answer over sources that are no streams, in the order of its ticks.

        Over RDF it is intervals: `start`, `end` (NULL: for ever) and what is valid, between the first and last tick.
        Solutions and statements come with `n`, how often they are, solutions of a sequence with their `place`, a truth
        value is `ask`. `rejected` counts rows beyond a speed limit, and messages that are not RDF.
        """
        from transom.runtime.dataframe import replay
        from transom.runtime.options import RunOptions

        job = self.job(spark, RunOptions(start, until, index, kernel=kernel), tuple(sources or ()), live=False)
        job.kernel.warn()
        return replay(job, spark, sources, rejected=rejected)

    def job(self, spark: SparkSession, options: RunOptions, given: Collection[str] = (), *, live: bool = True) -> Job:
        """The query, planned once for a session and a run; `given` names the sources that the caller opens.

        A live run without an end is refused if it would make too many rows of one.
        """
        job = self._planned(spark, options, given, live=live)
        if live and options.until is None:
            self._check_copies(job.plan)
        return job

    def _planned(self, spark: SparkSession, options: RunOptions, given: Collection[str] = (), *, live: bool) -> Job:
        from transom.physical import show
        from transom.runtime.job import Job
        from transom.runtime.kernel import planned

        options = replace(options, index=options.index and self.gives == "tagged-tuples")
        arranged = partial(
            self.physical,
            start=options.start,
            index=options.index,
            given=tuple(given) if live else None,
            answers=tuple(given),
        )
        choice, plan = planned(spark, options.kernel, lambda fast: arranged(kernel=fast))
        bound, results = self.state_of(show.total(plan)), self.semantics.results(plan)
        sources = extents_of(self, given)
        return Job(self.text, self.name, self.catalog, sources, plan, results, bound, choice, options)

    def _check_copies(self, plan: Physical) -> None:
        """Refuse a plan that makes too many rows of one: one for each window that it is in."""
        from transom.physical.stays import MOST_COPIES, copies

        count = copies(plan)
        if count > MOST_COPIES:
            raise UsageError(
                f"a row is in {count:,} windows, and a live run on Spark makes a row for each, at most {MOST_COPIES:,}",
                hint="shorten the range, slide by more, give `until`, or use ISTREAM, DSTREAM or the kernel",
                span=self.semantics.place_of("Stay", [extent.name for extent in self.reads]),
                text=self.text,
                source=self.name,
            )

    def start(
        self,
        spark: SparkSession,
        sink: str,
        checkpoint: str | os.PathLike[str],
        *,
        sources: Mapping[str, DataFrame] | None = None,
        start: int = 0,
        until: int | None = None,
        index: bool = False,
        approximate_sums: bool = False,
        once: bool = False,
        allow_unbounded: bool = False,
        kernel: Kernel = "auto",
        on_data_loss: OnDataLoss = "refuse",
    ) -> Running:
        """Run the query and write its rows to `sink`; a restart with the same `checkpoint` resumes from there.

        `sink` is console, parquet:DIR, jsonl:DIR, postgresql://..., kafka://..., mqtt://... (mqtts:// with TLS) or
        webhook:URL. With `once` the query stops after the available input. A changed query is refused on the
        checkpoint of another. `on_data_loss` says what to do when Kafka has deleted messages before they were read.
        """
        from transom.runtime.options import RunOptions
        from transom.runtime.start import start_query

        options = RunOptions(
            start=start,
            until=until,
            index=index,
            approximate_sums=approximate_sums,
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

    def format(self) -> str:
        """The text of the query in canonical form, with its comments."""
        return LANGUAGES[self.language].format_text(self.text, self.syntax)

    def simulate(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: int | None = None,
        *,
        start: int = 0,
        watch: Callable[[str], None] | None = None,
        now: datetime | None = None,
    ) -> AnswerType:
        """The answer by the reference engine, from `start` to `until`.

        `inputs` gives rows by extent: for streams mappings with a `tick`, or sequences that begin with it; for
        tables rows, or rows by the tick from which they hold. Extents without an entry use the catalog's sources.
        Without `until` the answer ends with the last tick of the inputs; over RDF it then has no end, and messages
        that cannot be read are in its `aside`. `watch` is told what is being done; `now` is what NOW() says over
        stored graphs.
        """
        given = self.inputs(inputs, until, start=start, watch=watch, now=now)
        for remark in self.semantics.unmatched(given):
            warnings.warn(remark.line(self.text, self.name), QueryWarning, stacklevel=2)
        return cast(AnswerType, self.semantics.evaluate(given).known(start, until))

    def evaluate(self, inputs: Any) -> AnswerType:
        """The whole answer by the reference engine to what `inputs` gives; over RDF it has no end."""
        return cast(AnswerType, self.semantics.evaluate(inputs))

    def inputs(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: int | None = None,
        *,
        start: int = 0,
        watch: Callable[[str], None] | None = None,
        now: datetime | None = None,
    ) -> Any:
        """What the reference engine evaluates over: the given rows, or those of the catalog's sources."""
        return self.semantics.inputs(inputs, until, start=start, watch=watch, now=now)

    def picture(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: int | None = None,
        *,
        start: int = 0,
        watch: Callable[[str], None] | None = None,
    ) -> Picture:
        """The windows of the query over time, or when its solutions are valid, as an SVG that a notebook shows."""
        given = self.inputs(inputs, until, start=start, watch=watch)
        return Picture(self.semantics.picture(given, start, until))

    def map(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: int | None = None,
        *,
        start: int = 0,
        at: int | None = None,
        colour: Literal["object", "speed"] = "object",
        watch: Callable[[str], None] | None = None,
    ) -> Map:
        """Where the objects of the query went, with the window in force at a tick, and the regions of the catalog."""
        return self.semantics.map(self.inputs(inputs, until, start=start, watch=watch), at, colour)

    def _repr_html_(self) -> str:
        from html import escape

        remarks = "".join(f"<p>warning: {escape(remark.message)}</p>" for remark in self.warnings)
        return (
            f"<pre>{escape(self.format())}</pre>{remarks}<p>gives {self.gives} ({escape(', '.join(self.columns))}); "
            f"remembers {escape(str(self.state))} {self.semantics.unit}</p>"
        )
