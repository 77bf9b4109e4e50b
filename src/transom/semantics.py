"""The part of a query's semantics that all languages share; `row_semantics` and `rdf_semantics` add the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from transom.algebra import bounds
from transom.algebra.composed import composed_in
from transom.algebra.state import Formula
from transom.catalog.extents import Extent
from transom.compiled import Compiled, extents_of
from transom.errors import Unsupported
from transom.shown import Engine

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.physical.node import Physical
    from transom.reference.sources import Inputs


@dataclass(frozen=True)
class Semantics:
    """How queries are planned, evaluated and shown.

    Planner, reference engine and connectors are imported by the methods that use them. `unit` names what a query holds
    in state. `flow` names the input and the output of a run. `folder_formats` are the formats of a replay that no sink
    has. `refused` are the options that a run does not take, with the reason.
    """

    query: Compiled
    unit: ClassVar[str] = "rows"
    flow: ClassVar[tuple[str, str]] = ("rows", "out")
    folder_formats: ClassVar[tuple[str, ...]] = ()
    refused: ClassVar[Mapping[str, str]] = {}

    @property
    def size(self) -> int:
        """The number of steps that an evaluation reports as progress."""
        return 0

    @property
    def columns(self) -> tuple[str, ...]:
        """The labels of the plan's attributes: of SPARQL variables, the terms of a statement, or `ask`."""
        return tuple(attribute.label for attribute in self.query.plan.schema)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that shorten IRIs in an answer."""
        return {}

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The extents at the leaves of the plan."""
        return extents_of(self.query)

    @property
    def title(self) -> str:
        """What a picture is called."""
        return Path(self.query.name or "").name

    @property
    def state(self) -> Formula:
        """What all operators together hold (E8)."""
        return bounds.total(self.query.plan)

    def open_ticks(self, slack: int | None) -> int:
        """How many ticks may be open at once: by default one beyond the lateness of the sources."""
        return max((extent.lateness for extent in self.sources), default=0) + 1 if slack is None else slack

    def arrange(self, *, start: int, index: bool, slack: int | None, kernel: bool, growing: Sequence[str]) -> Physical:
        """The plan for Spark; by default one tick may be open beyond the lateness of the sources."""
        from transom.physical.arrange import arrange

        return arrange(
            self.query.plan,
            start=start,
            index=index,
            slack=self.open_ticks(slack),
            kernel=kernel,
            keys={extent.name: extent.keys for extent in self.sources if extent.keys is not None},
            growing=growing,
            local=[extent.name for extent in self.sources if extent.local],
        )

    def remark(self, op: Any) -> tuple[Mapping[str, Any], Formula | None]:
        """What the tree of a plan says of an operator, and the rows that it holds."""
        return {}, None

    def refusals(self) -> Mapping[Engine, Unsupported]:
        """Which engines do not run the query, beside what planning finds."""
        return {}

    def remarks(self) -> tuple[Remark, ...]:
        """Warnings beside those of the translator."""
        return ()

    def inputs(
        self, given: Any, until: int | None, *, start: int, watch: Callable[[str], None] | None, now: Any
    ) -> Inputs:
        """Rows and statements by extent, from start on."""
        plan, catalog = self.query.plan, self.query.catalog
        if composed_in(plan):
            from transom.connectors.composed import gather_composed

            return gather_composed(plan, catalog, given, until, start=start, watch=watch, now=now)
        from transom.connectors.gather import gather

        return gather(self.sources, catalog, given, until, start=start, watch=watch, now=now)

    def unmatched(self, inputs: Any) -> tuple[Remark, ...]:
        """Warnings that inputs give cause for."""
        return ()

    def check_format(self, form: str) -> None:
        """Refuse a format that answers do not have."""
        list(self.lines(self.nothing(), form, 0, None, guard=False))

    def nothing(self) -> Any:
        """An answer without content."""
        raise NotImplementedError

    def lines(self, answer: Any, form: str, start: int, until: int | None, *, guard: bool) -> Iterator[str]:
        """An answer in a format."""
        raise NotImplementedError

    def rejected(self, answer: Any) -> Mapping[str, tuple[Mapping[str, int], str]]:
        """The messages that are rejected in an answer, by stream: how many by reason, and the first in words."""
        return {}
