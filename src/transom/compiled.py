"""Compiled: the output of the compiler, with every intermediate stage."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from transom.algebra.composition.composed_source import sources_of
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.model.answer_kind import AnswerKind, RdfAnswerKind

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.optimizer.pipeline import RewriteStep

ResultKind: TypeAlias = AnswerKind | RdfAnswerKind


def source_extents(query: Compiled, given_extents: Collection[str] = ()) -> tuple[Extent, ...]:
    """Return the extents (sources, tables) that a query reads; inner queries of `given_extents` are not entered."""
    extents = query.catalog.sources
    return tuple(extents[name] for name in sources_of(query.optimized, given_extents))


@dataclass(frozen=True)
class Compiled:
    """The text of a query with every intermediate stage: syntax, algebra, and the optimizer's steps."""

    text: str = field(repr=False)
    language: str
    catalog: Catalog = field(repr=False)
    syntax: Any = field(repr=False)
    algebra: Any = field(repr=False)
    steps: tuple[RewriteStep, ...] = field(default=(), repr=False)
    warnings: tuple[Remark, ...] = ()
    name: str | None = None

    @property
    def optimized(self) -> Any:
        """The query's algebra after the last optimizer step or, if there was none, as translated from the text."""
        return self.steps[-1].plan if self.steps else self.algebra
