"""What an expression over terms sees: a solution, and what is valid at the same instant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
from transom.model.types import Value
from transom.reference.expressions import Scope
from transom.reference.rdf.forms import new_node
from transom.reference.rdf.functions import TERM_IMPLEMENTATIONS
from transom.reference.rdf.strings import simple


def _nothing(pattern: Windows, outer: Mapping[str, Term]) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class SolutionScope(Scope):
    """A solution, the bindings around its pattern, and patterns to be asked at the same instant.

    The variables of `owner`, by default all, and `copy` tell this solution from all others, so that new blank nodes are
    its own.
    """

    solution: Mapping[str, Value]
    outer: Mapping[str, Term] = field(default_factory=dict)
    asked: Callable[[Windows, Mapping[str, Term]], bool] = _nothing
    time: Literal | None = None
    owner: Collection[str] | None = None
    copy: int = 0
    site: str = ""
    calls: count[int] = field(default_factory=count)

    def cell(self, attribute: Attribute) -> Value:
        """The term of a variable: of the solution, or of the one around its pattern."""
        found = self.solution.get(attribute.name)
        return found if found is not None else self.outer.get(attribute.name)

    def exists(self, exists: Exists) -> bool:
        """Whether the pattern of an EXISTS has a solution."""
        own = {name: term for name, term in self.solution.items() if isinstance(term, Term)}
        return self.asked(pattern_of(exists), {**self.outer, **own})

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
            return self._node(f"{self.site}{next(self.calls)}")
        characters = simple(label)
        return None if characters is None else self._node(f"={characters}")

    def _node(self, label: str) -> BlankNode:
        owner = self.solution if self.owner is None else self.owner
        return new_node(Solution.row(owner, [self.solution.get(name) for name in owner]), self.copy, label)
