"""Translation of FIRST, which keeps the first rows of a relation, over the windows of all its keys together."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.expressions.expression import Expression
from transom.algebra.operator import Windows
from transom.algebra.relations import WindowMerge, WindowTopK
from transom.algebra.tree import is_keyed
from transom.errors import LanguageRule, TypeProblem
from transom.languages.cql.syntax import FirstClause
from transom.languages.sql.translate import Scope
from transom.languages.sql.translate import translate as translate_expression
from transom.languages.sql.type_messages import with_article
from transom.model.types import Type


def merge_keys(plan: Windows) -> Windows:
    """Merge the windows of all PARTITION BY keys into one window per tick; a plan without such keys is unchanged."""
    return WindowMerge(plan) if is_keyed(plan) else plan


@dataclass(frozen=True, slots=True)
class _TopK:
    """A translated FIRST clause."""

    count: int
    by: Expression
    per: tuple[Expression, ...]

    def apply(self, plan: Windows) -> Windows:
        """Keep the first n rows of each window of a plan, after merging the windows of all partition keys."""
        return WindowTopK(merge_keys(plan), self.per, self.by, self.count)


def translate_first(first: FirstClause | None, scope: Scope) -> _TopK | None:
    """Translate top-k `FIRST n [PER ...] BY x`; None if `first` is None, TypeProblem if values of x have no order."""
    if first is None:
        return None
    if not first.count:
        raise LanguageRule("FIRST cannot be 0", span=first.span, hint="write FIRST 1 BY ..")
    by = translate_expression(first.by, scope)
    if by.type in (Type.NULL, Type.POINT, Type.LINE):
        raise TypeProblem(
            f"{with_article(by.type)} has no order",
            span=first.by.span,
            hint="rank by a number, such as DISTANCE(g, POINT(0, 0))",
        )
    return _TopK(first.count, by, tuple(translate_expression(node, scope) for node in first.per))
