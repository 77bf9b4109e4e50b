"""The part of a query's semantics that all languages share; `rows` and `rdf` add the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from transom.algebra.composition.composed_source import composed_sources
from transom.algebra.state import bounds
from transom.algebra.state.formula import Formula
from transom.catalog.extent import Extent
from transom.compiled import Compiled, source_extents
from transom.errors import Unsupported
from transom.model.view import PRINT_ALL, PrintOptions
from transom.reports import Engine

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.physical.nodes.node import PhysicalNode
    from transom.reference.sources import Inputs


@dataclass(frozen=True)
class Semantics:
    """How queries are planned, evaluated and shown.

    Planner, reference engine and connectors are imported by the methods that use them. `unit` names what a query holds
    in state. `flow` names the input and the output of a run. `folder_formats` are formats of a replay that are not
    sinks. `refused` maps options that a run does not accept to the reason.
    """

    query: Compiled
    unit: ClassVar[str] = "rows"
    flow: ClassVar[tuple[str, str]] = ("rows", "out")
    folder_formats: ClassVar[tuple[str, ...]] = ()
    refused: ClassVar[Mapping[str, str]] = {}

    @property
    def size(self) -> int:
        """The number of operators whose evaluation is reported as a progress step; 0 without such reports."""
        return 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The column labels of the answer; for SPARQL the variables, the terms of a triple, or `ask`."""
        return tuple(attribute.label for attribute in self.query.optimized.schema)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that shorten the IRIs of an answer; none by default."""
        return {}

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The sources and tables that the query reads, at the leaves of its plan."""
        return source_extents(self.query)

    @property
    def title(self) -> str:
        """The title of a picture: the file name of the query, or the empty string."""
        return Path(self.query.name or "").name

    @property
    def state(self) -> Formula:
        """The formula that bounds the rows that all operators of the query together keep in state."""
        return bounds.plan_state(self.query.optimized)

    def open_ticks(self, declared: int | None) -> int:
        """Return how many ticks await the watermark at once: `declared` or, if None, the largest lateness + 1."""
        return max((extent.lateness for extent in self.sources), default=0) + 1 if declared is None else declared

    def physical_plan(
        self, *, start: int, index: bool, open_ticks: int | None, kernel: bool, followed_tables: Sequence[str]
    ) -> PhysicalNode:
        """Plan a Spark run from tick `start`: `index` numbers rows, `kernel` uses Java, `open_ticks`: not yet closed.

        With `index`, the rows of the answer are numbered; with `kernel`, stateful operators run in the Java kernel.
        `open_ticks`, for the state bounds, is how many ticks may be open at once, by default the largest lateness plus
        one. `followed_tables` are the stored tables whose logs the run follows.
        """
        from transom.physical.planner.planner import plan_query

        return plan_query(
            self.query.optimized,
            start=start,
            index=index,
            open_ticks=self.open_ticks(open_ticks),
            kernel=kernel,
            keys_per_source={extent.name: extent.keys for extent in self.sources if extent.keys is not None},
            followed_tables=followed_tables,
            subject_local_streams=[extent.name for extent in self.sources if extent.local],
        )

    def operator_remarks(self, op: Any) -> tuple[Mapping[str, Any], Formula | None]:
        """Return `explain`'s extra fields of an operator by name, and its state formula; ({}, None) by default."""
        return {}, None

    def refusals(self) -> Mapping[Engine, Unsupported]:
        """Return the engines that refuse the query for a reason that planning does not notice; none by default."""
        return {}

    def remarks(self) -> tuple[Remark, ...]:
        """Return warnings about the query and its catalog other than those found in compilation; none by default."""
        return ()

    def inputs(
        self, rows: Any, until: int | None, *, start: int, watch: Callable[[str], None] | None, now: Any
    ) -> Inputs:
        """Gather the inputs of a run from `rows` or the catalog; `watch` gets each step's name, `now` is NOW().

        `watch` gets progress lines, and `now` is the result of NOW().
        """
        plan, catalog = self.query.optimized, self.query.catalog
        if composed_sources(plan):
            from transom.connectors.composed import gather_composed_inputs

            return gather_composed_inputs(
                plan, catalog, rows, until, start=start, report_progress=watch, result_of_now=now
            )
        from transom.connectors.gather import gather_inputs

        return gather_inputs(self.sources, catalog, rows, until, start=start, report_progress=watch, result_of_now=now)

    def input_remarks(self, inputs: Any) -> tuple[Remark, ...]:
        """Return warnings about the query that depend on the rows of its inputs; none by default."""
        return ()

    def input_hints(self, inputs: Any) -> tuple[str, ...]:
        """Return hints why evaluation on these inputs takes long and how to shorten it; none by default."""
        return ()

    def check_format(self, form: str) -> None:
        """Raise UsageError if answers of the query cannot be written in the format `form`, such as `csv`."""
        list(self.lines(self.empty_answer(), form, 0, None, escape_formulas=False))

    def empty_answer(self) -> Any:
        """Build an answer without rows, used to check an output format before the query runs."""
        raise NotImplementedError

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
        """Yield the answer from `start` to `until` (None: no end) as `form` lines; `escape_formulas`: for spreadsheets.

        With `escape_formulas`, CSV cells that a spreadsheet would take for a formula begin with an apostrophe.
        """
        raise NotImplementedError

    def rejections(self, inputs: Any) -> Iterator[str]:
        """Yield a text about each extent with rejected rows or messages, after the query was evaluated on `inputs`."""
        from collections import Counter

        from transom.connectors.rejections import rejection_hint
        from transom.model.reject_reason import most_frequent, rejected_line

        yield from inputs.rejections.lines()
        catalog = self.query.catalog
        for stream, messages in inputs.rejected.items():
            counts = Counter(message.reason.value for message in messages)
            first: dict[str, str] = {}
            for message in messages:
                first.setdefault(message.reason.value, f"{message.origin}: {message.detail}")
            reason, used = most_frequent(counts), len(inputs.streams.get(stream, ()))
            example = next(message.detail for message in messages if message.reason.value == reason)
            hint = rejection_hint(catalog.sources[stream], catalog.calendar, counts, used, example)
            yield rejected_line(stream, counts, first, messages[0].unit, hint)
