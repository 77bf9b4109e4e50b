"""A compiled query: it keeps every intermediate and answers questions about itself.

Planner, reference engine, connectors and runtime are imported by the methods that use them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from transom.algebra import explain
from transom.algebra.composed import composed_in, sources_of
from transom.algebra.operator import AnyOperator, Operator, Plan
from transom.algebra.state import Formula
from transom.algebra.state_bound import StateBound, remarks
from transom.algebra.tree import is_stream
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.rdf import RdfExtent
from transom.catalog_bounds import bound_of, remembered, total
from transom.errors import Unsupported, UsageError
from transom.languages.known import LANGUAGES
from transom.model.answer import Answer, AnswerKind
from transom.shown import Engines, Map, Picture, is_syntax

Stage = Literal["syntax", "algebra", "optimized", "plan", "spark"]
STAGES = get_args(Stage)
if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from transom.languages.sql.select import Remark
    from transom.optimizer.pipeline import Step
    from transom.physical.node import Physical
    from transom.physical.plan import Kernel
    from transom.reference.sources import Inputs
    from transom.runtime.job import Job
    from transom.runtime.options import OnDataLoss, RunOptions
    from transom.runtime.running import Running
    from transom.spark.rejected import Rejected

Format = Literal["text", "json", "dot"]


@dataclass(frozen=True)
class Query:
    """A compiled query. `algebra` is what the text means, `plan` the same after the optimizer."""

    text: str = field(repr=False)
    language: str
    catalog: Catalog = field(repr=False)
    syntax: object = field(repr=False)
    algebra: Plan = field(repr=False)
    steps: tuple[Step, ...] = field(repr=False)
    warnings: tuple[Remark, ...] = ()
    name: str | None = None

    def __repr__(self) -> str:
        return f"<Query {self.name or self.language}: {self.gives} ({', '.join(self.columns)})>"

    @property
    def plan(self) -> Plan:
        """The optimised algebra."""
        return self.steps[-1].plan if self.steps else self.algebra

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        return tuple(attribute.label for attribute in self.plan.schema)

    @property
    def gives(self) -> AnswerKind:
        """Whether the answer is a stream of tagged tuples, a stream of CQL, or a stream of windows."""
        return LANGUAGES[self.language].stream if is_stream(self.plan) else "windows"

    @cached_property
    def state(self) -> StateBound:
        """How many rows the whole query must remember (E8)."""
        return self.state_of(total(self.plan))

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
                tree = explain.branch(self.algebra, _is_operator, self._remark)
            case "optimized":
                tree = explain.branch(self.plan, _is_operator, self._remark)
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

    def _remark(self, op: AnyOperator) -> Mapping[str, Any]:
        schema = {"columns": [str(attribute) for attribute in op.schema]} if isinstance(op, Operator) else {}
        state = self.state_of(remembered(op))
        return schema if state.rows == 0 else {**schema, **remarks(state)}

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
        from transom.physical.arrange import arrange

        late = max((extent.lateness for extent in (*self.reads, *self.statements)), default=0)
        slack = late + 1 if slack is None else slack
        keys = {extent.name: extent.keys for extent in self.reads if extent.keys is not None}
        logs = [e.name for e in self.reads if e.grows and given is not None and e.name not in given]
        try:
            plan = arrange(self.plan, start=start, index=index, slack=slack, kernel=kernel, keys=keys, growing=logs)
            if not (inner := composed_in(self.plan)):
                return plan
            from transom.physical.compose import Composer
            from transom.spark.function_gaps import refuse_inner

            refuse_inner(inner.values())
            return Composer(inner, start, slack, kernel, keys, frozenset(logs), frozenset(answers)).composed(plan)
        except Unsupported as gap:
            raise self._located(gap, [*logs, *composed_in(self.plan)]) from None

    def _located(self, gap: Unsupported, extents: Sequence[str]) -> Unsupported:
        """A refusal that points into the text."""
        from transom.languages.places import place_of

        gap.span = gap.span or place_of(self.syntax, gap.operator, extents)
        gap.within(self.text, self.name)
        return gap

    @cached_property
    def engines(self) -> Engines:
        """Which engines run the query, and why the others do not; nothing is run to find out."""
        from transom.engines import of_rows

        return of_rows(lambda given: self.physical(given=given))

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

        live = is_live(sources or {}, self.catalog)
        options = RunOptions(start, until, index, approximate_sums, kernel)
        job = self.job(spark, options, tuple(sources or ()), live=live)
        job.kernel.warn()
        return dataframe(job, spark, sources, live=live, rejected=rejected)

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
        bound = self.state_of(show.total(plan))
        known = {**self.catalog.extents, **self.catalog.rdf.extents}
        sources = tuple(known[name] for name in sources_of(self.plan, given))
        return Job(self.text, self.name, self.catalog, sources, plan, self.columns, self.gives, bound, choice, options)

    def _check_copies(self, plan: Physical) -> None:
        """Refuse a plan that makes too many rows of one: one for each window that it is in."""
        from transom.languages.places import place_of
        from transom.physical.stays import MOST_COPIES, copies

        count = copies(plan)
        if count > MOST_COPIES:
            raise UsageError(
                f"a row is in {count:,} windows, and a live run on Spark makes a row for each, at most {MOST_COPIES:,}",
                hint="shorten the range, slide by more, give `until`, or use ISTREAM, DSTREAM or the kernel",
                span=place_of(self.syntax, "Stay", [extent.name for extent in self.reads]),
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
    ) -> Answer:
        """The answer by the reference engine, for every tick from `start` to `until` (the last tick of the inputs).

        `inputs` gives rows by extent: for streams mappings with a `tick`, or sequences that begin with it; for
        tables rows, or rows by the tick from which they hold. Extents without an entry use the catalog's sources.
        `watch` is told what is being done.
        """
        from transom.reference.evaluate import evaluate_stream, evaluate_window
        from transom.reference.limits import check_windows

        given = self.inputs(inputs, until, start=start, watch=watch)
        check_windows(self.plan, given.start, given.until)
        plan = self.plan
        if is_stream(plan):
            return Answer(self.columns, self.gives, elements=tuple(evaluate_stream(plan, given)))  # type: ignore[arg-type]
        windows = evaluate_window(plan, given)  # type: ignore[arg-type]
        return Answer(self.columns, "windows", windows=tuple(w for w in windows if not w.over))

    def inputs(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: int | None = None,
        *,
        start: int = 0,
        watch: Callable[[str], None] | None = None,
    ) -> Inputs:
        """What the reference engine evaluates over: the given rows, or those of the catalog's sources."""
        from transom.connectors.composed import gather_all

        return gather_all(self.plan, self.catalog, inputs, until, start=start, watch=watch)[0]

    def picture(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: int | None = None,
        *,
        start: int = 0,
        watch: Callable[[str], None] | None = None,
    ) -> Picture:
        """The windows of the query over time, as an SVG drawing that a notebook shows."""
        from transom.picture import picture as draw

        given = self.inputs(inputs, until, start=start, watch=watch)
        return Picture(
            draw(self.algebra, given, self.catalog.calendar, title=Path(self.name or "").name, text=self.text)
        )

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
        from transom.picture.map import draw

        given = self.inputs(inputs, until, start=start, watch=watch)
        name = Path(self.name or "").name
        return Map(*draw(self.algebra, given, self.reads, self.catalog, at=at, colour=colour, title=name))

    @property
    def reads(self) -> tuple[Extent, ...]:
        """The extents of rows that the query reads, each once, through all queries whose answers it reads."""
        known = self.catalog.extents
        return tuple(known[name] for name in sources_of(self.plan) if name in known)

    @property
    def statements(self) -> tuple[RdfExtent, ...]:
        """The streams and graphs of RDF that queries read whose answers this one reads."""
        known = self.catalog.rdf.extents
        return tuple(known[name] for name in sources_of(self.plan) if name in known)

    def _repr_html_(self) -> str:
        from html import escape

        remarks = "".join(f"<p>warning: {escape(remark.message)}</p>" for remark in self.warnings)
        return (
            f"<pre>{escape(self.format())}</pre>{remarks}<p>gives {self.gives} ({escape(', '.join(self.columns))}); "
            f"remembers {escape(str(self.state))} rows</p>"
        )


def _is_operator(content: Any) -> bool:
    return isinstance(content, AnyOperator)
