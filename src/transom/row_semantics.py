"""Queries over rows: streams of tuples and windows, in SNEEql and CQL."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transom.algebra import bounds
from transom.algebra.state import Formula
from transom.algebra.tree import OPERATORS, is_stream, walk
from transom.compiled import ResultKind
from transom.errors import Span
from transom.languages.known import LANGUAGES
from transom.model.answer import Answer
from transom.semantics import Semantics
from transom.shown import Map

if TYPE_CHECKING:
    from transom.physical.node import Physical
    from transom.runtime.answers import RowResults


@dataclass(frozen=True)
class RowSemantics(Semantics):
    """A query over rows: its answers are tuples or windows between two ticks."""

    @property
    def size(self) -> int:
        """The operators of the plan."""
        return sum(1 for _ in walk(self.query.plan))

    @property
    def result_kind(self) -> ResultKind:
        """A stream as the language calls it, or windows."""
        stream = LANGUAGES[self.query.language].stream
        return stream if stream is not None and is_stream(self.query.plan) else "windows"

    def remark(self, op: Any) -> tuple[Mapping[str, Any], Formula | None]:
        """The columns of an operator, and the rows that it holds."""
        if not isinstance(op, OPERATORS):
            return {}, None
        return {"columns": [str(attribute) for attribute in op.schema]}, bounds.remembered(op)

    def place_of(self, operator: str, extents: Collection[str]) -> Span | None:
        """Where the text has an operator, or one of some extents."""
        from transom.languages.places import place_of

        return place_of(self.query.syntax, operator, extents)

    def results(self, plan: Physical) -> RowResults:
        """How the runtime reports the results of a plan."""
        from transom.runtime.answers import RowResults

        return RowResults(plan, self.columns, self.result_kind, self.query.catalog.calendar)

    def evaluate(self, inputs: Any) -> Any:
        """Tuples or windows of every tick from start to until."""
        from transom.reference.evaluate import evaluate_stream, evaluate_window
        from transom.reference.limits import check_windows

        plan, kind = self.query.plan, self.result_kind
        check_windows(plan, inputs.start, inputs.until)
        if is_stream(plan):
            return Answer(self.columns, kind, elements=tuple(evaluate_stream(plan, inputs)))  # type: ignore[arg-type]
        windows = evaluate_window(plan, inputs)
        return Answer(self.columns, "windows", windows=tuple(w for w in windows if not w.over))

    def nothing(self) -> Answer:
        """No tuples."""
        return Answer(self.columns, "stream")

    def table(self, answer: Any, start: int, until: int | None) -> Iterator[tuple[str, ...]]:
        """Tuples or windows with their tags."""
        rows: Iterator[tuple[str, ...]] = answer.table()
        return rows

    def lines(self, answer: Any, form: str, start: int, until: int | None, *, guard: bool) -> Iterator[str]:
        """CSV, with a guard against formulas, or JSON lines."""
        found: Iterator[str] = answer.lines(form, guard=guard)
        return found

    def picture(self, inputs: Any, start: int, until: int | None) -> str:
        """The windows over time."""
        from transom.picture import picture

        query = self.query
        return picture(query.algebra, inputs, query.catalog.calendar, title=self.title, text=query.text)

    def map(self, inputs: Any, at: int | None, colour: Any) -> Map:
        """Where objects went, with the window in force at a tick, and the regions of the catalog."""
        from transom.picture.map import draw

        query = self.query
        drawn = draw(query.algebra, inputs, self.sources, query.catalog, at=at, colour=colour, title=self.title)
        return Map(*drawn)
