"""Query: a compiled query with all its stages, and the methods that explain, plan, run and draw it.

Reference engine, connectors and runtime are imported by the methods that use them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from transom.errors import QueryWarning, RejectedWarning
from transom.languages.registry import LANGUAGES
from transom.model.run_time import TimeLike
from transom.planned import PlannedQuery
from transom.reports import Map, Picture

if TYPE_CHECKING:
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    from transom.physical.nodes.windows import KernelMode
    from transom.runtime.beginning import OnQueryChange
    from transom.runtime.options import OnDataLoss
    from transom.runtime.running import Running
    from transom.spark.input.rejected import RejectedRows

AnswerType = TypeVar("AnswerType", covariant=True)


@dataclass(frozen=True, repr=False)
class Query(PlannedQuery, Generic[AnswerType]):
    """A compiled query: `algebra` is the tree of operators before the optimizer, `optimized` the tree after it.

    Times (`start`, `until`, `at`) are ticks, durations since the epoch (`"10 min"`, a timedelta) or instants (ISO 8601
    text, `"now"`, a datetime).

    Examples:
        >>> import transom
        >>> catalog = {"extents": {"a": "pushed (x:integer)"}}
        >>> query = transom.compile("SELECT AVG(x) FROM a [FROM NOW-9 TO NOW SLIDE 10 SEC]", catalog)
        >>> query
        <Query sneeql: windows (AVG(x))>
        >>> query.columns, query.result_kind, str(query.state)
        (('AVG(x)',), 'windows', 'rate(a) * 10 s')
    """

    def __repr__(self) -> str:
        """Return a short text with the query's name or language, its kind of answer and its columns."""
        return f"<Query {self.name or self.language}: {self.result_kind} ({', '.join(self.columns)})>"

    def to_df(
        self,
        spark: SparkSession,
        sources: Mapping[str, DataFrame] | None = None,
        *,
        index: bool = False,
        start: TimeLike = 0,
        until: TimeLike | None = None,
        approximate_sums: bool = False,
        kernel: KernelMode = "auto",
        rejected: RejectedRows | None = None,
    ) -> DataFrame:
        """Return the answer as a DataFrame, which is a streaming DataFrame if one of the sources is.

        The column `tick` is the end of a tick. It is the event time of the answer.

        Args:
            spark: The session.
            sources: DataFrames with a time column, by extent; other extents are read from the catalog's sources.
            index: Whether the answer has a column with the index of each tuple.
            start: The first tick of the answer.
            until: The last tick of the answer.
            approximate_sums: Whether sums of floats may depend on the order of rows, which is faster.
            kernel: Whether stateful operators run in Java: auto (if the session accepts the jar), on or off.
            rejected: Counts the rows of a batch that exceed `max_speed`.
        """
        from transom.runtime.dataframe import dataframe, is_live
        from transom.runtime.options import RunOptions

        extents = self.catalog.sources
        live = is_live(sources or {}, [extents[name] for name in sources or () if name in extents])
        options = RunOptions(*self._ticks(start, until), index, approximate_sums, kernel)
        job = self.job(spark, options, tuple(sources or ()), live=live)
        job.kernel.warn()
        return dataframe(job, spark, sources, live=live, rejected=rejected)

    def replay(
        self,
        spark: SparkSession,
        sources: Mapping[str, DataFrame] | None = None,
        *,
        start: TimeLike = 0,
        until: TimeLike | None = None,
        index: bool = False,
        kernel: KernelMode = "auto",
        rejected: RejectedRows | None = None,
    ) -> DataFrame:
        """Return the answer over recorded rows as a batch DataFrame, ordered by tick.

        Over RDF, each row is a validity interval: `start`, `end` (NULL if there is none) and the values. The column `n`
        is the number of copies of a solution or triple. The column `place` is the position of a solution in a sequence.
        The column `ask` is the answer of an ASK query.

        Args:
            spark: The session.
            sources: Batch DataFrames with a time column, by extent; other extents are read as the catalog says.
            start: The first tick of the answer.
            until: The last tick of the answer; by default the last tick of the sources.
            index: Whether the answer has a column with the index of each tuple.
            kernel: Whether stateful operators run in Java: auto (if the session accepts the jar), on or off.
            rejected: Counts rows that exceed `max_speed`, and messages that are not valid.
        """
        from transom.runtime.dataframe import replay
        from transom.runtime.options import RunOptions

        options = RunOptions(*self._ticks(start, until), index, kernel=kernel)
        job = self.job(spark, options, tuple(sources or ()), live=False)
        job.kernel.warn()
        return replay(job, spark, sources, rejected=rejected)

    def start(
        self,
        spark: SparkSession,
        sink: str,
        checkpoint: str | os.PathLike[str],
        *,
        sources: Mapping[str, DataFrame] | None = None,
        start: TimeLike = 0,
        until: TimeLike | None = None,
        index: bool = False,
        approximate_sums: bool = False,
        once: bool = False,
        allow_unbounded: bool = False,
        kernel: KernelMode = "auto",
        on_data_loss: OnDataLoss = "refuse",
        since: TimeLike | None = None,
        after: str | os.PathLike[str] | None = None,
        on_change: OnQueryChange = "refuse",
    ) -> Running:
        """Run the query, and write its answers to a `sink`.

        A run resumes from its checkpoint. If the query has changed, it raises CheckpointError. A new run can begin in
        recorded history with `since`, or continue after another query with `after`.

        Args:
            spark: The session.
            sink: console, parquet:DIR, jsonl:DIR, postgresql://..., kafka://..., mqtt://... (mqtts:// with TLS) or
                webhook:URL.
            checkpoint: The folder from which the run resumes.
            sources: Streaming DataFrames with a time column, by extent; other extents are read as the catalog says.
            start: The first tick of the answer.
            until: The last tick of the answer; by default the run has no end.
            index: Whether the answer has a column with the index of each tuple.
            approximate_sums: Whether sums of floats may depend on the order of rows, which is faster.
            once: Whether the run ends when it has processed the available input.
            allow_unbounded: Whether to run a query whose state has no bound.
            kernel: Whether stateful operators run in Java: auto (if the session accepts the jar), on or off.
            on_data_loss: What to do if Kafka has deleted messages before they were read: refuse or continue.
            since: The first tick of the answer in recorded history; the run also reads the earlier rows that it needs.
            after: The checkpoint of another query; the answer begins after the last closed tick of that query.
            on_change: What to do if the query has changed: refuse, or rebuild, which continues after the old query.
        """
        from transom.runtime.beginning import Beginning, start_at
        from transom.runtime.options import RunOptions

        first, last = self._ticks(start, until)
        options = RunOptions(
            start=first,
            until=last,
            index=index,
            approximate_sums=approximate_sums,
            kernel=kernel,
            sink=sink,
            checkpoint=Path(checkpoint).absolute(),
            once=once,
            allow_unbounded=allow_unbounded,
            on_data_loss=on_data_loss,
        )
        tick = None if since is None else self._tick(since, "since")
        beginning = Beginning(tick, None if after is None else Path(after).absolute(), on_change)
        return start_at(self, spark, options, beginning, sources, before_start=lambda job: job.kernel.warn())

    def format(self) -> str:
        """Return the text of the query in canonical form, with its comments.

        Examples:
            >>> print(query.format(), end="")
            SELECT AVG(x)
            FROM a [FROM NOW-9 TO NOW SLIDE 10 SEC]
        """
        return LANGUAGES[self.language].format_text(self.text, self.syntax)

    def simulate(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: TimeLike | None = None,
        *,
        start: TimeLike = 0,
        watch: Callable[[str], None] | None = None,
        now: datetime | None = None,
    ) -> AnswerType:
        """Evaluate the query in plain Python, over `inputs` or over the rows that the catalog's sources contain.

        Rows that exceed `max_speed`, and RDF messages that cannot be read, cause a `RejectedWarning`. The attribute
        `rejected` of the answer also contains these messages.

        Args:
            inputs: Rows by extent. A row of a stream is a mapping with a `tick`, or a sequence that begins with the
                tick. A table is a list of rows, or a mapping from ticks to such lists. Rows may also be a data frame of
                pandas, polars or pyarrow, or any object with the Arrow C stream interface. For other extents, the
                query reads the sources in the catalog.
            until: The last tick; by default the last tick of the inputs. Over RDF, the default is no end.
            start: The first tick; earlier rows are ignored.
            watch: Called with a short description before each step.
            now: The value of NOW() over stored graphs; by default the current time.

        Examples:
            >>> import pandas
            >>> rows = pandas.DataFrame({"tick": [1, 4, 12], "x": [20, 22, 30]})
            >>> [(window.tick, window.rows) for window in query.simulate({"a": rows}, until="20 s")]
            [(0, ((None,),)), (10, ((21.0,),)), (20, ((30.0,),))]
        """
        first, last = self._ticks(start, until)
        run_inputs = self.semantics.inputs(inputs, last, start=first, watch=watch, now=now)
        for remark in self.semantics.input_remarks(run_inputs):
            warnings.warn(remark.line(self.text, self.name), QueryWarning, stacklevel=2)
        answer = self.semantics.evaluate(run_inputs)
        self._warn_of_rejected(run_inputs)
        return cast(AnswerType, answer.clipped(first, last))

    def evaluate(self, inputs: Any) -> AnswerType:
        """Evaluate the query with the reference engine over the result of the method `inputs`.

        Args:
            inputs: What the method `inputs` returns.

        Examples:
            >>> query.evaluate(query.inputs({"a": [(0, 20)]}, until=20))
            <Answer: 3 windows (AVG(x))>
        """
        answer = self.semantics.evaluate(inputs)
        self._warn_of_rejected(inputs)
        return cast(AnswerType, answer)

    def inputs(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: TimeLike | None = None,
        *,
        start: TimeLike = 0,
        watch: Callable[[str], None] | None = None,
        now: datetime | None = None,
    ) -> Any:
        """Return the rows of all sources in the form that the reference engine reads.

        Args:
            inputs: Rows by extent. A row of a stream is a mapping with a `tick`, or a sequence that begins with the
                tick. A table is a list of rows, or a mapping from ticks to such lists. Rows may also be a data frame of
                pandas, polars or pyarrow, or any object with the Arrow C stream interface. For other extents, the
                query reads the sources in the catalog.
            until: The last tick; by default the last tick of the inputs. Over RDF, the default is no end.
            start: The first tick; earlier rows are ignored.
            watch: Called with a short description before each step.
            now: The value of NOW() over stored graphs; by default the current time.

        Examples:
            >>> query.inputs({"a": [(0, 20), (7, 22)]}).until
            7
        """
        first, last = self._ticks(start, until)
        return self.semantics.inputs(inputs, last, start=first, watch=watch, now=now)

    def picture(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: TimeLike | None = None,
        *,
        start: TimeLike = 0,
        watch: Callable[[str], None] | None = None,
    ) -> Picture:
        """Draw the windows of the query over time or, for SPARQL, when each solution is valid.

        Args:
            inputs: Rows by extent. A row of a stream is a mapping with a `tick`, or a sequence that begins with the
                tick. A table is a list of rows, or a mapping from ticks to such lists. Rows may also be a data frame of
                pandas, polars or pyarrow, or any object with the Arrow C stream interface. For other extents, the
                query reads the sources in the catalog.
            until: The last tick; by default the last tick of the inputs. Over RDF, the default is no end.
            start: The first tick; earlier rows are ignored.
            watch: Called with a short description before each step.

        Examples:
            >>> query.picture({"a": [(0, 20), (7, 22)]}, until="20 s").svg[:4]
            '<svg'
        """
        first, last = self._ticks(start, until)
        run_inputs = self.inputs(inputs, last, start=first, watch=watch)
        drawing = Picture(self.semantics.picture(run_inputs, first, last))
        self._warn_of_rejected(run_inputs)
        return drawing

    def map(
        self,
        inputs: Mapping[str, Any] | None = None,
        until: TimeLike | None = None,
        *,
        start: TimeLike = 0,
        at: TimeLike | None = None,
        colour: Literal["object", "speed"] = "object",
        watch: Callable[[str], None] | None = None,
    ) -> Map:
        """Draw a map of the moving objects, the regions, and the window that is current at one tick.

        Args:
            inputs: Rows by extent. A row of a stream is a mapping with a `tick`, or a sequence that begins with the
                tick. A table is a list of rows, or a mapping from ticks to such lists. Rows may also be a data frame of
                pandas, polars or pyarrow, or any object with the Arrow C stream interface. For other extents, the
                query reads the sources in the catalog.
            until: The last tick; by default the last tick of the inputs. Over RDF, the default is no end.
            start: The first tick; earlier rows are ignored.
            watch: Called with a short description before each step.
            at: The tick at which to show the window; by default the tick of the last window.
            colour: What the colour of a track shows: the object or its speed.
        """
        shown = None if at is None else self._tick(at, "at")
        run_inputs = self.inputs(inputs, until, start=start, watch=watch)
        drawing = self.semantics.map(run_inputs, shown, colour)
        self._warn_of_rejected(run_inputs)
        return drawing

    def _warn_of_rejected(self, run_inputs: Any) -> None:
        """Warn of the rows and messages that an evaluation of these inputs rejected."""
        for line in self.semantics.rejections(run_inputs):
            warnings.warn(line, RejectedWarning, stacklevel=3)

    def _repr_html_(self) -> str:
        """Return the query in canonical form with its warnings and state bound, as notebooks display it."""
        from html import escape

        remarks = "".join(f"<p>warning: {escape(remark.message)}</p>" for remark in self.warnings)
        return (
            f"<pre>{escape(self.format())}</pre>{remarks}"
            f"<p>gives {self.result_kind} ({escape(', '.join(self.columns))}); "
            f"remembers {escape(str(self.state))} {self.semantics.unit}</p>"
        )
