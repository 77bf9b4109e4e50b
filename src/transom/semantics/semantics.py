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
        """The number of operators that an evaluation reports as progress steps; 0 if it reports none."""
        return 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The column labels of the answer; for SPARQL the variables, the terms of a triple, or `ask`."""
        return tuple(attribute.label for attribute in self.query.optimized.schema)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that shorten IRIs in an answer; empty for answers without IRIs."""
        return {}

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The extents that the query reads, at the leaves of its plan."""
        return source_extents(self.query)

    @property
    def title(self) -> str:
        """The title of a picture: the file name of the query, empty if the query has none."""
        return Path(self.query.name or "").name

    @property
    def state(self) -> Formula:
        """The formula that bounds the state of all operators of the query together."""
        return bounds.plan_state(self.query.optimized)

    def open_ticks(self, slack: int | None) -> int:
        """The most ticks open at once, for state bounds: `slack`, or if None the largest source lateness plus one."""
        return max((extent.lateness for extent in self.sources), default=0) + 1 if slack is None else slack

    def physical_plan(
        self, *, start: int, index: bool, slack: int | None, kernel: bool, growing: Sequence[str]
    ) -> PhysicalNode:
        """Plan from `start`; `index` numbers rows, `slack`: open ticks, `kernel`: Java, `growing`: followed tables.

        The run begins at tick `start`. `slack`, for the state bounds, is how many ticks may be open at once, by default
        the largest lateness plus one. `growing` are the stored tables whose logs the run follows.
        """
        from transom.physical.planner.planner import plan_query

        return plan_query(
            self.query.optimized,
            start=start,
            index=index,
            slack=self.open_ticks(slack),
            kernel=kernel,
            keys={extent.name: extent.keys for extent in self.sources if extent.keys is not None},
            growing=growing,
            local=[extent.name for extent in self.sources if extent.local],
        )

    def operator_remarks(self, op: Any) -> tuple[Mapping[str, Any], Formula | None]:
        """For `explain`: details of an operator, and the formula of its state; ({}, None) if there are none."""
        return {}, None

    def refusals(self) -> Mapping[Engine, Unsupported]:
        """Engines that refuse the query, with a reason that planning does not find; empty if there are none."""
        return {}

    def remarks(self) -> tuple[Remark, ...]:
        """Warnings about the query and its catalog that the translator does not give; none by default."""
        return ()

    def inputs(
        self, rows: Any, until: int | None, *, start: int, watch: Callable[[str], None] | None, now: Any
    ) -> Inputs:
        """Gather inputs in `start` to `until`: the caller's `rows` or catalog's; `watch`: progress; `now`: NOW()."""
        plan, catalog = self.query.optimized, self.query.catalog
        if composed_sources(plan):
            from transom.connectors.composed import gather_composed_inputs

            return gather_composed_inputs(plan, catalog, rows, until, start=start, watch=watch, now=now)
        from transom.connectors.gather import gather_inputs

        return gather_inputs(self.sources, catalog, rows, until, start=start, watch=watch, now=now)

    def input_remarks(self, inputs: Any) -> tuple[Remark, ...]:
        """Warnings about the query that depend on the rows of its inputs; none by default."""
        return ()

    def check_format(self, form: str) -> None:
        """Raise UsageError if answers of the query cannot be written in the format `form`, such as `csv`."""
        list(self.lines(self.empty_answer(), form, 0, None, escape_formulas=False))

    def empty_answer(self) -> Any:
        """An answer without rows, for checks of output formats."""
        raise NotImplementedError

    def lines(self, answer: Any, form: str, start: int, until: int | None, *, escape_formulas: bool) -> Iterator[str]:
        """The answer from `start` to `until` as lines of a format; in CSV `escape_formulas` disarms formulas."""
        raise NotImplementedError

    def rejected(self, answer: Any) -> Mapping[str, tuple[Mapping[str, int], str]]:
        """The rejected messages of an answer by stream: counts by reason, and the text of the first message."""
        return {}
