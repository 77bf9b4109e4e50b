"""What the compiler made of a query's text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from transom.catalog.catalog import Catalog
from transom.model.answer import AnswerKind, RdfAnswerKind

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.optimizer.pipeline import Step

ResultKind: TypeAlias = AnswerKind | RdfAnswerKind


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
