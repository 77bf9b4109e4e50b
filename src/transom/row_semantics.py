"""Queries over rows: streams of tuples and windows, in SNEEql and CQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from transom.algebra import bounds
from transom.algebra.composed import composed_in
from transom.algebra.operator import Operator
from transom.algebra.state import Formula
from transom.algebra.tree import OPERATORS, is_stream, walk
from transom.catalog.extents import Extent
from transom.compiled import Compiled, ResultKind, extents_of
from transom.errors import Span, Unsupported
from transom.languages.known import LANGUAGES
from transom.model.answer import Answer
from transom.shown import Engine, Map

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.physical.node import Physical
    from transom.reference.sources import Inputs
    from transom.runtime.answers import RowResults


@dataclass(frozen=True)
class RowSemantics:
    """A query over rows: how it is planned, evaluated and shown. `RdfSemantics` has the same members.

    Planner, reference engine and connectors are imported by the methods that use them. `unit` is what a query holds in
    state, `flow` what goes into a run and comes out of it, `folder_formats` what a replay writes beside the formats of
    sinks, `refused` the options of a run that mean nothing, with the reason.
    """

    query: Compiled
    unit: ClassVar[str] = "rows"
    operators: ClassVar[tuple[type, ...]] = (Operator,)
    flow: ClassVar[tuple[str, str]] = ("rows", "out")
    folder_formats: ClassVar[tuple[str, ...]] = ()
    refused: ClassVar[Mapping[str, str]] = {}
    prefixes: ClassVar[Mapping[str, str]] = {}

    @property
    def size(self) -> int:
        """The operators of the plan."""
        return sum(1 for _ in walk(self.query.plan))

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels of the plan's attributes."""
        return tuple(attribute.label for attribute in self.query.plan.schema)

    @property
    def result_kind(self) -> ResultKind:
        """A stream as the language calls it, or windows."""
        stream = LANGUAGES[self.query.language].stream
        return stream if stream is not None and is_stream(self.query.plan) else "windows"

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The extents at the leaves of the plan."""
        return extents_of(self.query)

    @property
    def state(self) -> Formula:
        """The rows of all operators together (E8)."""
        return bounds.total(self.query.plan)

    def remark(self, op: Any) -> tuple[Mapping[str, Any], Formula | None]:
        """The columns of an operator, and the rows that it holds."""
        if not isinstance(op, OPERATORS):
            return {}, None
        return {"columns": [str(attribute) for attribute in op.schema]}, bounds.remembered(op)

    def place_of(self, operator: str, extents: Collection[str]) -> Span | None:
        """Where the text has an operator, or one of some extents."""
        from transom.languages.places import place_of

        return place_of(self.query.syntax, operator, extents)

    def refusals(self) -> Mapping[Engine, Unsupported]:
        """Planning finds what Spark does not run."""
        return {}

    def arrange(self, *, start: int, index: bool, slack: int | None, kernel: bool, growing: Sequence[str]) -> Physical:
        """The plan for Spark; by default one tick may be open beyond the lateness of the sources."""
        from transom.physical.arrange import arrange

        late = max((extent.lateness for extent in self.sources), default=0)
        slack = late + 1 if slack is None else slack
        keys = {extent.name: extent.keys for extent in self.sources if extent.keys is not None}
        return arrange(
            self.query.plan, start=start, index=index, slack=slack, kernel=kernel, keys=keys, growing=growing
        )

    def results(self, plan: Physical) -> RowResults:
        """How the runtime reports the results of a plan."""
        from transom.runtime.answers import RowResults

        return RowResults(plan, self.columns, self.result_kind, self.query.catalog.calendar)  # type: ignore[arg-type]

    def remarks(self) -> tuple[Remark, ...]:
        """The translator gives all warnings."""
        return ()

    def inputs(
        self, given: Any, until: int | None, *, start: int, watch: Callable[[str], None] | None, now: Any
    ) -> Inputs:
        """Rows by extent, from start to until."""
        if composed_in(self.query.plan):
            from transom.connectors.composed import gather_composed

            return gather_composed(self.query.plan, self.query.catalog, given, until, start=start, watch=watch)
        from transom.connectors.gather import gather

        return gather(self.sources, self.query.catalog, given, until, start=start, watch=watch)

    def unmatched(self, inputs: Any) -> tuple[Remark, ...]:
        """The schema says which columns there are: inputs show nothing more."""
        return ()

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

    def check_format(self, form: str) -> None:
        """Rows have no formats of RDF."""
        self.lines(Answer(self.columns, "stream"), form, 0, None, guard=False)

    def table(self, answer: Any, start: int, until: int | None) -> Iterator[tuple[str, ...]]:
        """Tuples or windows with their tags."""
        rows: Iterator[tuple[str, ...]] = answer.table()
        return rows

    def lines(self, answer: Any, form: str, start: int, until: int | None, *, guard: bool) -> Iterator[str]:
        """CSV, with a guard against formulas, or JSON lines."""
        found: Iterator[str] = answer.lines(form, guard=guard)
        return found

    def rejected(self, answer: Any) -> Mapping[str, tuple[Mapping[str, int], str]]:
        """A message that is no row stops the reference engine."""
        return {}

    def during(self, answer: Any, start: int, until: int | None) -> Any:
        """The inputs say between which ticks an answer is."""
        return answer

    def picture(self, inputs: Any, start: int, until: int | None) -> str:
        """The windows over time."""
        from transom.picture import picture

        query = self.query
        return picture(
            query.algebra, inputs, query.catalog.calendar, title=Path(query.name or "").name, text=query.text
        )

    def map(self, inputs: Any, at: int | None, colour: Any) -> Map:
        """Where objects went, with the window in force at a tick, and the regions of the catalog."""
        from transom.picture.map import draw

        title = Path(self.query.name or "").name
        drawn = draw(self.query.algebra, inputs, self.sources, self.query.catalog, at=at, colour=colour, title=title)
        return Map(*drawn)
