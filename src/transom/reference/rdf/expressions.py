"""What an expression over terms sees: a solution, and what is valid at the same instant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from transom.algebra.expressions import Exists
from transom.algebra.operator import Windows
from transom.algebra.tree import pattern_of
from transom.errors import UsageError
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import BlankNode, Literal, Term
from transom.model.schema import Attribute
from transom.reference.expressions import Scope
from transom.reference.rdf.forms import new_node
from transom.reference.rdf.functions import TERM_IMPLEMENTATIONS
from transom.reference.rdf.strings import simple


def _nothing(pattern: Windows, solution: Solution) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class SolutionScope(Scope):
    """A solution, the one around its pattern, and patterns to be asked at the same instant.

    `origin` and `copy` tell this solution from all others, so that new blank nodes are its own.
    """

    solution: Solution
    outer: Solution = field(default_factory=Solution)
    asked: Callable[[Windows, Solution], bool] = _nothing
    time: Literal | None = None
    origin: Solution = field(default_factory=Solution)
    copy: int = 0
    site: str = ""
    calls: count[int] = field(default_factory=count)

    def cell(self, attribute: Attribute) -> Term | None:
        """The term of a variable: of the solution, or of the one around its pattern."""
        found = self.solution.get(attribute.name)
        return found if found is not None else self.outer.get(attribute.name)

    def exists(self, exists: Exists) -> bool:
        """Whether the pattern of an EXISTS has a solution."""
        return self.asked(pattern_of(exists), self.outer.merge(self.solution))

    def term_function(self, name: str) -> Callable[..., Any]:
        """What a function of terms computes; NOW and BNODE depend on the solution."""
        found = TERM_IMPLEMENTATIONS.get(name)
        if found is not None:
            return found
        return self._now if name == "NOW" else self._new_node

    def _now(self) -> Literal:
        if self.time is None:
            raise UsageError("the query asks what time it is", hint="say it with `now`")
        return self.time

    def _new_node(self, label: Term | None = None) -> BlankNode | None:
        """A blank node of this solution: the same one for the same string."""
        if label is None:
            return new_node(self.origin, self.copy, f"{self.site}{next(self.calls)}")
        characters = simple(label)
        return None if characters is None else new_node(self.origin, self.copy, f"={characters}")
