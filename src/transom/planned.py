"""PlannedQuery: the part of a query that explains and plans it, and bounds its state.

Planner and runtime are imported by the methods that use them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

from transom.algebra import explain
from transom.algebra.composition.composed_source import composed_sources
from transom.algebra.state.bound import StateBound, bound_remarks
from transom.algebra.state.formula import Formula, plus
from transom.catalog.extent import Extent
from transom.catalog.sources import Files, Table
from transom.catalog_bounds import bound_from_catalog
from transom.compiled import Compiled, ResultKind, source_extents
from transom.composition import inner_query_state, plan_inner_queries
from transom.errors import Unsupported, UsageError
from transom.languages.registry import LANGUAGES
from transom.model.run_time import TimeLike, parse_time
from transom.reports import Engines, is_operator, is_syntax

Stage = Literal["syntax", "algebra", "optimized", "plan", "spark"]
STAGES = get_args(Stage)
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from transom.algebra.state.reach import HistoryReach
    from transom.physical.nodes.node import PhysicalNode
    from transom.physical.nodes.windows import KernelMode
    from transom.runtime.job import Job
    from transom.runtime.options import RunOptions
    from transom.semantics.rdf import RdfSemantics
    from transom.semantics.rows import RowSemantics

ExplainFormat = Literal["text", "json", "dot"]


@dataclass(frozen=True)
class PlannedQuery(Compiled):
    """A compiled query that knows its semantics, its plans and the bounds of its state.

    Examples:
        >>> import transom
        >>> catalog = {"extents": {"a": "pushed (x:integer)"}}
        >>> query = transom.compile("SELECT AVG(x) FROM a [FROM NOW-9 TO NOW SLIDE 10 SEC]", catalog)
    """

    @cached_property
    def semantics(self) -> RowSemantics | RdfSemantics:
        """The object that plans, evaluates and prints the query; its class depends on the query's language."""
        module, _, name = LANGUAGES[self.language].semantics.partition(":")
        semantics: RowSemantics | RdfSemantics = getattr(import_module(module), name)(self)
        return semantics

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the answer."""
        return self.semantics.columns

    @property
    def result_kind(self) -> ResultKind:
        """The kind of answer, such as tagged tuples, windows, RDF solutions, triples or a boolean."""
        return self.semantics.result_kind

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The distinct extents (sources and tables) that the query reads, including those of inner queries."""
        return source_extents(self)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that a SPARQL query may use: its own, and those of the catalog that it does not redeclare."""
        return self.semantics.prefixes

    @cached_property
    def state(self) -> StateBound:
        """The bound on the rows that the query and its inner queries keep in state.

        Over RDF, these are statements and solutions.
        """
        return self.state_of(plus(self.semantics.state, inner_query_state(self.optimized)))

    @cached_property
    def reach(self) -> HistoryReach:
        """How far back rows matter: how many ticks of rows before T are needed to compute answers from T on.

        Examples:
            >>> query.reach.ticks
            9
        """
        from transom.algebra.state.reach import reach

        changing = [extent.name for extent in self.sources if not isinstance(extent.source, Files | Table)]
        return reach(self.optimized, changing)

    def spark_state(self, kernel: KernelMode = "auto") -> StateBound:
        """Return the bound, in rows, on all state of the Spark plan, which uses the Java kernel unless `kernel` is off.

        Args:
            kernel: Whether the plan uses the kernel: auto and on say yes, off says no.

        Examples:
            >>> str(query.spark_state())
            '4'
        """
        from transom.physical import show

        return self.state_of(show.total_state(self.physical(kernel=kernel != "off")))

    def state_of(self, formula: Formula) -> StateBound:
        """Evaluate a formula for a state bound: as text and, if the catalog declares enough, as a number."""
        return bound_from_catalog(formula, self.catalog, self.optimized)

    def explain(
        self,
        stage: Stage = "plan",
        format: ExplainFormat = "text",
        *,
        spark: SparkSession | None = None,
        kernel: KernelMode = "auto",
    ) -> str:
        """Return a stage of the query's compilation, such as its plan, as text, JSON or a DOT graph.

        Args:
            stage: syntax, algebra, optimized, plan (for Spark) or spark (Spark's own plan).
            format: text, json or dot; the stage spark is text.
            spark: The session, which only the stage spark needs.
            kernel: Whether the plan uses the kernel: auto and on say yes, off says no.

        Examples:
            >>> print(query.explain("optimized"))
            WindowAggregation(aggregates=[AVG(a.x)])
            └─ Window(slide=every 10 tick from 0, range=tick now-9 .. now in steps of 10)  -- state rate(a) * 10 s rows
               └─ StreamReceive(extent=a)
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
        """Return the notes (key: value) that `explain` prints at an operator, with any nonzero state bound."""
        remarks, formula = self.semantics.operator_remarks(op)
        state = None if formula is None else self.state_of(formula)
        return remarks if state is None or state.rows == 0 else {**remarks, **bound_remarks(state)}

    def physical(
        self,
        *,
        start: TimeLike = 0,
        index: bool = False,
        slack: int | None = None,
        kernel: bool = False,
        user_sources: Collection[str] | None = (),
        answers: Collection[str] = (),
    ) -> PhysicalNode:
        """Spark plan with `slack` ticks open; `index` numbers tuples, `kernel` uses Java, `user_sources` None: replay.

        Args:
            start: The first tick.
            index: Whether tagged tuples get their running index.
            slack: The number of ticks open at once, for the state bounds: the lateness of the sources and what a
                micro-batch spans. By default the largest lateness and one tick.
            kernel: Whether the plan is for a session with the kernel.
            user_sources: Extents whose rows the caller supplies; a live run follows the logs of all other scanned
                tables. None plans a replay, which follows none.
            answers: Extents defined by queries whose rows the caller supplies.
        """
        logs = [extent.name for extent in self.sources if extent.grows]
        followed = [] if user_sources is None else [name for name in logs if name not in user_sources]
        inner = composed_sources(self.optimized)
        first = self._tick(start, "start")
        try:
            plan = self.semantics.physical_plan(
                start=first, index=index, open_ticks=slack, kernel=kernel, followed_tables=followed
            )
            if inner:
                plan = plan_inner_queries(plan, inner, self.sources, first, slack, kernel, followed, answers)
            return plan
        except Unsupported as gap:
            gap.span = gap.span or self.semantics.locate(gap.operator, [*followed, *inner])
            raise gap.within(self.text, self.name) from None

    @cached_property
    def engines(self) -> Engines:
        """The engines that can run the query, and why the others cannot; the query is planned, but not run."""
        from transom.engines import find_engines

        refusals = self.semantics.refusals()
        for gap in refusals.values():
            gap.within(self.text, self.name)
        return find_engines(refusals, lambda user_sources: self.physical(user_sources=user_sources))

    def job(
        self,
        spark: SparkSession | None,
        options: RunOptions,
        opened_by_caller: Collection[str] = (),
        *,
        live: bool = True,
    ) -> Job:
        """Plan the query as a Spark job, a batch unless `live`; UsageError if endless rows fall in too many windows.

        A run that has an end may copy a row into any number.

        Args:
            spark: The session; None for a plan that is only compared with others.
            options: All options of the run.
            opened_by_caller: Extents whose DataFrames the caller supplies.
            live: Whether the sources are streams; otherwise the run is a batch.
        """
        job = self._planned(spark, options, opened_by_caller, live=live)
        if live and options.until is None:
            self._check_copies(job.plan)
        return job

    def _planned(
        self, spark: SparkSession | None, options: RunOptions, opened_by_caller: Collection[str] = (), *, live: bool
    ) -> Job:
        """Plan the query as a Spark job, a batch unless `live`; unlike `job`, without a limit on windows per row.

        The caller opens the `opened_by_caller`.
        """
        from transom.physical import show
        from transom.runtime.job import Job
        from transom.runtime.kernel import plan_for_session

        options = replace(options, index=options.index and self.result_kind == "tagged-tuples")
        make_plan = partial(
            self.physical,
            start=options.start,
            index=options.index,
            user_sources=tuple(opened_by_caller) if live else None,
            answers=tuple(opened_by_caller),
        )
        choice, plan = plan_for_session(spark, options.kernel, lambda use_kernel: make_plan(kernel=use_kernel))
        bound, results = self.state_of(show.total_state(plan)), self.semantics.results(plan)
        sources = source_extents(self, opened_by_caller)
        return Job(
            self.text,
            self.name,
            self.catalog,
            sources,
            plan,
            results,
            bound,
            choice,
            options,
            self.state_of,
            self.language,
        )

    def _check_copies(self, plan: PhysicalNode) -> None:
        """Raise UsageError if a row of the plan falls in more than MAX_COPIES windows, each with a copy of the row."""
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

    def _ticks(self, start: TimeLike, until: TimeLike | None) -> tuple[int, int | None]:
        """Convert start and end of a run (tick, duration, instant, text) to its first and last tick (None: no end)."""
        return self._tick(start, "start"), None if until is None else self._tick(until, "until")

    def _tick(self, time: TimeLike, name: str) -> int:
        """Convert a time (tick, duration, instant or text) to a tick; error messages call it `name`."""
        return parse_time(time, name, self.catalog.calendar)
