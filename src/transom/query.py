"""Query: a compiled query with all its stages, and the methods that explain, plan, run and draw it.

Planner, reference engine, connectors and runtime are imported by the methods that use them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, get_args

from transom.algebra import explain
from transom.algebra.composition.composed_source import composed_sources
from transom.algebra.state.bound import StateBound, bound_remarks
from transom.algebra.state.formula import Formula, plus
from transom.catalog.extent import Extent
from transom.catalog_bounds import bound_from_catalog
from transom.compiled import Compiled, ResultKind, source_extents
from transom.composition import inner_query_state, plan_inner_queries
from transom.errors import QueryWarning, Unsupported, UsageError
from transom.languages.registry import LANGUAGES
from transom.reports import Engines, Map, Picture, is_operator, is_syntax

Stage = Literal["syntax", "algebra", "optimized", "plan", "spark"]
STAGES = get_args(Stage)
if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from transom.physical.nodes.node import PhysicalNode
    from transom.physical.nodes.windows import KernelMode
    from transom.runtime.job import Job
    from transom.runtime.options import OnDataLoss, RunOptions
    from transom.runtime.running import Running
    from transom.semantics.rdf import RdfSemantics
    from transom.semantics.rows import RowSemantics
    from transom.spark.input.rejected import RejectedRows

ExplainFormat = Literal["text", "json", "dot"]
AnswerType = TypeVar("AnswerType", covariant=True)


@dataclass(frozen=True)
class Query(Compiled, Generic[AnswerType]):
    """A compiled query. `algebra` is the translation of the text, `optimized` the plan after the optimizer."""

    def __repr__(self) -> str:
        """The name or language of the query, its kind of answer and its columns."""
        return f"<Query {self.name or self.language}: {self.result_kind} ({', '.join(self.columns)})>"

    @cached_property
    def semantics(self) -> RowSemantics | RdfSemantics:
        """How queries of this language are planned, evaluated and shown, as registered in LANGUAGES."""
        module, _, name = LANGUAGES[self.language].semantics.partition(":")
        semantics: RowSemantics | RdfSemantics = getattr(import_module(module), name)(self)
        return semantics

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the answer."""
        return self.semantics.columns

    @property
    def result_kind(self) -> ResultKind:
        """The kind of answer: tagged tuples, a CQL stream or windows; over RDF solutions, triples or a boolean."""
        return self.semantics.result_kind

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The distinct extents that the query reads, including those of queries that are its sources."""
        return source_extents(self)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes of the query, and those of the catalog that it does not redeclare."""
        return self.semantics.prefixes

    @cached_property
    def state(self) -> StateBound:
        """The state bound of the query with its inner queries, in rows, or over RDF in statements and solutions."""
        return self.state_of(plus(self.semantics.state, inner_query_state(self.optimized)))

    def spark_state(self, kernel: KernelMode = "auto") -> StateBound:
        """The state bound of the Spark plan, all operators together; `kernel` can exclude the kernel from the plan."""
        from transom.physical import show

        return self.state_of(show.total_state(self.physical(kernel=kernel != "off")))

    def state_of(self, formula: Formula) -> StateBound:
        """Evaluate a formula for a state bound: as text and, if the catalog declares everything needed, as a number."""
        return bound_from_catalog(formula, self.catalog, self.optimized)

    def explain(
        self,
        stage: Stage = "plan",
        format: ExplainFormat = "text",
        *,
        spark: SparkSession | None = None,
        kernel: KernelMode = "auto",
    ) -> str:
        """One stage as text, JSON or DOT; the stage `spark` needs a session; `kernel` "off": without the kernel.

        The stage `plan` shows the plan with the kernel; with `kernel="off"`, the plan without it.
        """
        match stage:
            case "syntax":
                tree = explain.build_tree(self.syntax, is_syntax)
            case "algebra":
                tree = explain.build_tree(self.algebra, is_operator, self._remark)
            case "optimized":
                tree = explain.build_tree(self.optimized, is_operator, self._remark)
            case "plan":
                from transom.physical import show

                plan = self.physical(kernel=kernel != "off")
                tree = show.plan_tree(plan, lambda formula: bound_remarks(self.state_of(formula)))
            case "spark" if spark is not None:
                from transom.runtime.options import RunOptions
                from transom.runtime.start import spark_plan

                return spark_plan(self._planned(spark, RunOptions(kernel=kernel), live=True), spark)
            case "spark":
                raise UsageError("the stage spark needs a session", hint="write explain('spark', spark=session)")
            case _:
                raise UsageError(f"no stage is called {stage}", hint=f"stages are {', '.join(STAGES)}")
        if format not in get_args(ExplainFormat):
            raise UsageError(f"no format is called {format}", hint="formats are text, json and dot")
        return explain.render_tree(tree, format, roles=stage == "syntax")

    def _remark(self, op: Any) -> Mapping[str, Any]:
        """The remarks that `explain` shows at an operator, with its state bound unless that is zero."""
        remarks, formula = self.semantics.operator_remarks(op)
        state = None if formula is None else self.state_of(formula)
        return remarks if state is None or state.rows == 0 else {**remarks, **bound_remarks(state)}

    def physical(
        self,
        *,
        start: int = 0,
        index: bool = False,
        slack: int | None = None,
        kernel: bool = False,
        user_sources: Collection[str] | None = (),
        answers: Collection[str] = (),
    ) -> PhysicalNode:
        """Spark plan; `index` numbers rows, `slack`: open ticks, `kernel`: Java; user gives `user_sources`, `answers`.

        `index` adds the running index of a tagged stream. `slack` is the number of ticks open at once, for the state
        bounds: the lateness of the sources and what a micro-batch spans (default: the lateness and one tick). `kernel`
        plans for a session with the kernel. `user_sources` names extents whose rows the caller supplies; a live run
        follows the logs of all other scanned tables, and None plans a replay, which follows none. `answers` names
        composed extents whose rows the caller supplies.
        """
        logs = [extent.name for extent in self.sources if extent.grows]
        followed = [] if user_sources is None else [name for name in logs if name not in user_sources]
        inner = composed_sources(self.optimized)
        try:
            plan = self.semantics.physical_plan(start=start, index=index, slack=slack, kernel=kernel, growing=followed)
            if inner:
                plan = plan_inner_queries(plan, inner, self.sources, start, slack, kernel, followed, answers)
            return plan
        except Unsupported as gap:
            gap.span = gap.span or self.semantics.locate(gap.operator, [*followed, *inner])
            raise gap.within(self.text, self.name) from None

    @cached_property
    def engines(self) -> Engines:
        """The engines that run the query, and why the others do not; found by planning only."""
        from transom.engines import find_engines

        refusals = self.semantics.refusals()
        for gap in refusals.values():
            gap.within(self.text, self.name)
        return find_engines(refusals, lambda user_sources: self.physical(user_sources=user_sources))

    def to_df(
        self,
        spark: SparkSession,
        sources: Mapping[str, DataFrame] | None = None,
        *,
        index: bool = False,
        start: int = 0,
        until: int | None = None,
        approximate_sums: bool = False,
        kernel: KernelMode = "auto",
        rejected: RejectedRows | None = None,
    ) -> DataFrame:
        """The answer, streaming if one of `sources` is; `index` numbers rows, `rejected` counts rows over speed limits.

        `sources` maps extents to DataFrames with a time column; the others are opened from the catalog. The column
        `tick` is the end of the tick and the event time; `index` adds the running index. `kernel` says whether stateful
        operators run in Java: `auto` (if the session accepts the jar), `on` or `off`. In a batch `rejected` counts the
        rows beyond a speed limit.
        """
        from transom.runtime.dataframe import dataframe, is_live
        from transom.runtime.options import RunOptions

        extents = self.catalog.sources
        live = is_live(sources or {}, [extents[name] for name in sources or () if name in extents])
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
        kernel: KernelMode = "auto",
        rejected: RejectedRows | None = None,
    ) -> DataFrame:
        """The batch answer over `sources` or catalog, by tick; `index` numbers rows, `rejected` counts unusable rows.

        Over RDF the rows are validity intervals: `start`, `end` (NULL if unbounded) and the values, between the first
        and last tick. Solutions and triples have their multiplicity in `n`, solutions of a sequence their position in
        `place`, and a truth value is in `ask`. `rejected` counts rows beyond a speed limit, and messages that are not
        RDF.
        """
        from transom.runtime.dataframe import replay
        from transom.runtime.options import RunOptions

        job = self.job(spark, RunOptions(start, until, index, kernel=kernel), tuple(sources or ()), live=False)
        job.kernel.warn()
        return replay(job, spark, sources, rejected=rejected)

    def job(
        self, spark: SparkSession, options: RunOptions, user_sources: Collection[str] = (), *, live: bool = True
    ) -> Job:
        """Plan the query for a session and run `options`, `live` or as a batch; the caller opens `user_sources`.

        Raises UsageError for a live run without `until` that would copy a row into too many windows.
        """
        job = self._planned(spark, options, user_sources, live=live)
        if live and options.until is None:
            self._check_copies(job.plan)
        return job

    def _planned(
        self, spark: SparkSession, options: RunOptions, user_sources: Collection[str] = (), *, live: bool
    ) -> Job:
        """Plan as `job`, `live` or in batch, but for any number of windows per row; caller opens `user_sources`."""
        from transom.physical import show
        from transom.runtime.job import Job
        from transom.runtime.kernel import plan_for_session

        options = replace(options, index=options.index and self.result_kind == "tagged-tuples")
        make_plan = partial(
            self.physical,
            start=options.start,
            index=options.index,
            user_sources=tuple(user_sources) if live else None,
            answers=tuple(user_sources),
        )
        choice, plan = plan_for_session(spark, options.kernel, lambda use_kernel: make_plan(kernel=use_kernel))
        bound, results = self.state_of(show.total_state(plan)), self.semantics.results(plan)
        sources = source_extents(self, user_sources)
        return Job(self.text, self.name, self.catalog, sources, plan, results, bound, choice, options)

    def _check_copies(self, plan: PhysicalNode) -> None:
        """Raise UsageError if the plan copies a row into more than MAX_COPIES windows."""
        from transom.physical.lifetimes import MAX_COPIES, max_copies

        count = max_copies(plan)
        if count > MAX_COPIES:
            raise UsageError(
                f"a row is in {count:,} windows, and a live run on Spark makes a row for each, at most {MAX_COPIES:,}",
                hint="shorten the range, slide by more, give `until`, or use ISTREAM, DSTREAM or the kernel",
                span=self.semantics.locate("Window", [extent.name for extent in self.sources]),
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
        kernel: KernelMode = "auto",
        on_data_loss: OnDataLoss = "refuse",
    ) -> Running:
        """Run the query into `sink`, resuming from `checkpoint`; `once`: stop after given input; `index` numbers rows.

        `sink` is console, parquet:DIR, jsonl:DIR, postgresql://..., kafka://..., mqtt://... (mqtts:// with TLS) or
        webhook:URL. With `once` the query stops after the available input. A changed query cannot resume from the
        checkpoint of another: CheckpointError. `on_data_loss` says what to do when Kafka has deleted unread messages.
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
        """The reference engine's answer in `start` to `until` to `inputs` or catalog; `watch`: progress; `now`: NOW().

        `inputs` maps extents to rows: for streams mappings with a `tick`, or sequences that begin with it; for tables
        rows, or rows by the tick from which they are valid. Other extents use the catalog's sources. Without `until`
        the answer ends with the last tick of the inputs; over RDF it has no end. Over RDF, messages that cannot be read
        are in its `rejected`. `watch` is called with a description of each step; `now` is the value of NOW() over
        stored graphs.
        """
        run_inputs = self.inputs(inputs, until, start=start, watch=watch, now=now)
        for remark in self.semantics.input_remarks(run_inputs):
            warnings.warn(remark.line(self.text, self.name), QueryWarning, stacklevel=2)
        return cast(AnswerType, self.semantics.evaluate(run_inputs).clipped(start, until))

    def evaluate(self, inputs: Any) -> AnswerType:
        """The reference engine's answer over inputs from the method `inputs`, not clipped; over RDF it has no end."""
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
        """The reference engine's input: `inputs`, else catalog rows to `until`; `watch`: progress; `now`: NOW()."""
        return self.semantics.inputs(inputs, until, start=start, watch=watch, now=now)

    def picture(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: int | None = None,
        *,
        start: int = 0,
        watch: Callable[[str], None] | None = None,
    ) -> Picture:
        """SVG of windows or solutions' validity in `start` to `until`, over `inputs` or catalog; `watch`: progress."""
        run_inputs = self.inputs(inputs, until, start=start, watch=watch)
        return Picture(self.semantics.picture(run_inputs, start, until))

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
        """A map of tracks with `colour` by object or speed, the window at tick `at` (None: last) and the regions."""
        return self.semantics.map(self.inputs(inputs, until, start=start, watch=watch), at, colour)

    def _repr_html_(self) -> str:
        """The query in canonical form with its warnings and state bound, as notebooks display it."""
        from html import escape

        remarks = "".join(f"<p>warning: {escape(remark.message)}</p>" for remark in self.warnings)
        return (
            f"<pre>{escape(self.format())}</pre>{remarks}"
            f"<p>gives {self.result_kind} ({escape(', '.join(self.columns))}); "
            f"remembers {escape(str(self.state))} {self.semantics.unit}</p>"
        )
