"""What a rule is: a name, a pure function on one node, and what it may know of the surroundings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from transom.algebra.expressions import Expression
from transom.algebra.operator import Operator
from transom.algebra.relations import TrackAggregation, WindowAggregation
from transom.algebra.streams import DStream, IStream, RStream
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class Context:
    """The operators above a node, the nearest last, and how to compute an expression that reads nothing."""

    above: tuple[Operator, ...]
    constant: Callable[[Expression], Value]

    @property
    def order_is_seen(self) -> bool:
        """Whether the order of tuples inside a window decides something above.

        That is the running index of a converter, and a track through tuples of one tick.
        """
        for operator in reversed(self.above):
            if isinstance(operator, WindowAggregation):
                return False
            if isinstance(operator, RStream | IStream | DStream | TrackAggregation):
                return True
        return False


Rewrite = Callable[[Operator, Context], Operator | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rewrite with the name it is switched off by; the function gives None where it does not apply."""

    name: str
    rewrite: Rewrite

    @property
    def meaning(self) -> str:
        """The first line of the function's own description."""
        return (self.rewrite.__doc__ or "").strip().splitlines()[0]
