"""What the compiler made of a query's text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from transom.algebra.composed import sources_of
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.model.answer import AnswerKind, RdfAnswerKind

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.optimizer.pipeline import Step

ResultKind: TypeAlias = AnswerKind | RdfAnswerKind


def extents_of(query: Compiled, given: Collection[str] = ()) -> tuple[Extent, ...]:
    """The extents at the bottom of a query, each once; composed ones whose rows are given are among them."""
    known = query.catalog.sources
    return tuple(known[name] for name in sources_of(query.plan, given))


@dataclass(frozen=True)
class Compiled:
    """The text of a query with every intermediate: syntax, algebra, and the steps of the optimizer."""

    text: str = field(repr=False)
    language: str
    catalog: Catalog = field(repr=False)
    syntax: Any = field(repr=False)
    algebra: Any = field(repr=False)
    steps: tuple[Step, ...] = field(default=(), repr=False)
    warnings: tuple[Remark, ...] = ()
    name: str | None = None

    @property
    def plan(self) -> Any:
        """The optimised algebra."""
        return self.steps[-1].plan if self.steps else self.algebra
