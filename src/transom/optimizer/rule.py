"""Rules of the optimizer: a name, a pure function on one node, and the context that the function sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from transom.algebra.expressions.expression import Expression
from transom.algebra.operator import Operator
from transom.algebra.relations import TrackAggregation, WindowAggregation
from transom.algebra.streams import DStream, IStream, RStream
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The operators above a node, the nearest last, and a function that evaluates expressions without columns."""

    ancestors: tuple[Operator, ...]
    evaluate_constant: Callable[[Expression], Value]

    @property
    def order_matters(self) -> bool:
        """Whether an operator above depends on the order of the tuples inside a window.

        Such are the running index of a converter, and a track through tuples of one tick.
        """
        for operator in reversed(self.ancestors):
            if isinstance(operator, WindowAggregation):
                return False
            if isinstance(operator, RStream | IStream | DStream | TrackAggregation):
                return True
        return False


Rewrite = Callable[[Operator, RuleContext], Operator | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewrite, and the name that switches it off; the function returns None where it does not apply."""

    name: str
    rewrite: Rewrite

    @property
    def meaning(self) -> str:
        """The first line of the docstring of the rewrite: the rule's meaning in the documentation."""
        return (self.rewrite.__doc__ or "").strip().splitlines()[0]
