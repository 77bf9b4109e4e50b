"""Semantics of queries over rows (SNEEql and CQL): tuples and windows."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.algebra.relations import TrackAggregation
from transom.algebra.state import bounds
from transom.algebra.state.formula import Formula
from transom.algebra.tree import OPERATORS, is_stream, walk
from transom.compiled import ResultKind
from transom.errors import AnswerWarning, Span
from transom.languages.registry import LANGUAGES
from transom.languages.sql.select import Remark
from transom.model.schema import column_types
from transom.model.view import PRINT_ALL, PrintOptions
from transom.reports import Map
from transom.semantics.semantics import Semantics
from transom.semantics.unreached_regions import unreached_regions

if TYPE_CHECKING:
    from transom.model.answer import Answer
    from transom.physical.nodes.node import PhysicalNode
    from transom.runtime.results.rows import RowResults


@dataclass(frozen=True)
class RowSemantics(Semantics):
    """A query over rows; its answers are tuples or windows between two ticks."""

    @property
    def size(self) -> int:
        """The number of the plan's operators, which is the total in progress reports of an evaluation."""
        return sum(1 for _ in walk(self.query.optimized))

    @property
    def result_kind(self) -> ResultKind:
        """The kind of answer: `windows` or, for a stream, the language's kind, such as `tagged-tuples`."""
        stream = LANGUAGES[self.query.language].stream
        return stream if stream is not None and is_stream(self.query.optimized) else "windows"

    def operator_remarks(self, op: Any) -> tuple[Mapping[str, Any], Formula | None]:
        """Return an operator's columns, for `explain`, and its state bound; {} and None for other plan nodes.

        For other nodes of a plan, these are {} and None.
        """
        if not isinstance(op, OPERATORS):
            return {}, None
        return {"columns": [str(attribute) for attribute in op.schema]}, bounds.operator_state(op)

    def locate(self, operator: str, extents: Collection[str]) -> Span | None:
        """Return the span of the query text that first yields this plan operator or reads an extent, or None."""
        from transom.languages.locations import operator_span

        return operator_span(self.query.syntax, operator, extents)

    def results(self, plan: PhysicalNode) -> RowResults:
        """Return the converter that turns the rows that Spark computes for `plan` into results."""
        from transom.runtime.results.rows import RowResults

        return RowResults(plan, self.columns, self.result_kind, self.query.catalog.calendar)

    def input_hints(self, inputs: Any) -> tuple[str, ...]:
        """Return a hint to slide less often for each time window that mostly equals the window before it."""
        from transom.reference.limits import unchanged_windows

        hints = (
            f"{windows:,} windows for {rows:,} rows: at least {same:,} windows equal the one before; "
            "a longer SLIDE makes fewer windows, and so do --start and --until"
            for windows, rows, same in unchanged_windows(self.query.optimized, inputs)
        )
        return tuple(dict.fromkeys(hints))

    def evaluate(self, inputs: Any) -> Any:
        """Evaluate the query with the reference engine on `inputs`; the answer covers the same ticks as these."""
        from transom.model.answer import Answer
        from transom.reference.evaluate import evaluate_stream, evaluate_window
        from transom.reference.limits import check_windows

        plan, kind, calendar = self.query.optimized, self.result_kind, self.query.catalog.calendar
        check_windows(plan, inputs.start, inputs.until)
        empty = Answer(self.columns, kind, types=column_types(plan.schema), calendar=calendar)  # type: ignore[arg-type]
        if is_stream(plan):
            answer = replace(empty, elements=tuple(evaluate_stream(plan, inputs)))
        else:
            windows = evaluate_window(plan, inputs)
            answer = replace(empty, windows=tuple(window for window in windows if not window.is_final))
        if not (answer.elements or any(window.rows for window in answer.windows)):
            for remark in self._speed_remarks(inputs):
                warnings.warn(remark.line(self.query.text, self.query.name), AnswerWarning, stacklevel=3)
        for line in unreached_regions(plan, self.query.catalog.sources, inputs.streams):
            warnings.warn(line, AnswerWarning, stacklevel=3)
        return answer

    def _speed_remarks(self, inputs: Any) -> Iterator[Remark]:
        """Yield a warning if every speed in an empty answer is NULL because each window has only one tick."""
        from transom.reference.evaluate import evaluate_window

        for op in walk(self.query.optimized):
            if not isinstance(op, TrackAggregation):
                continue
            speeds = [
                op.schema.position(a.attribute)
                for a in op.aggregates
                if isinstance(a, TrackAggregate) and a.function is TrackFunction.AVGSPD and a.span is None
            ]
            rows = [row for window in evaluate_window(op, inputs) for row in window.rows] if speeds else []
            rows_of_windows = (
                [row for window in evaluate_window(op.input, inputs) for row in window.rows] if rows else []
            )
            span = self.locate("TrackAggregation", ())
            if rows_of_windows and span is not None and all(row[index] is None for row in rows for index in speeds):
                yield Remark(
                    "every window has rows of one tick only, and a speed needs two: write a longer range", span
                )

    def empty_answer(self) -> Answer:
        """Build an answer without tuples, by which output formats are checked."""
        from transom.model.answer import Answer

        return Answer(self.columns, "stream")

    def table(
        self, answer: Any, start: int, until: int | None, view: PrintOptions = PRINT_ALL
    ) -> Iterator[tuple[str, ...]]:
        """Yield the answer as table rows, header first; `view`: time style, first tick; other arguments are ignored."""
        rows: Iterator[tuple[str, ...]] = answer.table(view)
        return rows

    def lines(
        self,
        answer: Any,
        form: str,
        start: int,
        until: int | None,
        view: PrintOptions = PRINT_ALL,
        *,
        escape_formulas: bool,
    ) -> Iterator[str]:
        """Yield the answer as JSON or CSV (`form`) lines; `escape_formulas`: for spreadsheets; `start`, `until` unused.

        With `escape_formulas`, CSV cells that a spreadsheet would take for a formula begin with an apostrophe.
        """
        lines: Iterator[str] = answer.lines(form, guard=escape_formulas, view=view)
        return lines

    def picture(self, inputs: Any, start: int, until: int | None) -> str:
        """Draw the query's windows over time as SVG, for the ticks of `inputs`; `start` and `until` are ignored."""
        from transom.picture import draw_picture

        query = self.query
        has_positions = any(extent.position is not None for extent in self.sources)
        return draw_picture(
            query.algebra,
            inputs,
            query.catalog.calendar,
            title=self.title,
            query_text=query.text,
            has_positions=has_positions,
        )

    def map(self, inputs: Any, at: int | None, colour: Any) -> Map:
        """Draw a map of tracks, regions and the window at tick `at` (None: the last); `colour` is `object` or `speed`.

        `colour` is by object or by speed.
        """
        from transom.picture.map.render import render_map

        query = self.query
        renderings = render_map(
            query.algebra,
            inputs,
            self.sources,
            query.catalog,
            answer=self.evaluate(inputs),
            optimized_plan=query.optimized,
            at=at,
            colour=colour,
            title=self.title,
        )
        return Map(*renderings)
