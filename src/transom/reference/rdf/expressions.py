"""The evaluation context of expressions over terms: a solution, and EXISTS at the same instant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from transom.algebra.expressions.expression import Exists
from transom.algebra.operator import Windows
from transom.algebra.tree import pattern_of_exists
from transom.errors import UsageError
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import BlankNode, Literal, Term
from transom.model.schema import Attribute
from transom.model.types import Value
from transom.reference.expressions import EvaluationContext
from transom.reference.rdf.forms import solution_blank_node
from transom.reference.rdf.functions import TERM_IMPLEMENTATIONS
from transom.reference.rdf.strings import simple_string


def _no_match(pattern: Windows, outer: Mapping[str, Term]) -> bool:
    """Return False, the answer of EXISTS in a context without data, where no pattern has a solution."""
    return False


@dataclass(frozen=True, slots=True)
class SolutionContext(EvaluationContext):
    """A solution, the bindings around its pattern, and a function that evaluates EXISTS at the same instant.

    The variables of `owner`, by default all, and `copy` identify this solution, so that it gets its own new blank
    nodes.
    """

    solution: Mapping[str, Value]
    outer: Mapping[str, Term] = field(default_factory=dict)
    match_exists: Callable[[Windows, Mapping[str, Term]], bool] = _no_match
    time: Literal | None = None
    owner: Collection[str] | None = None
    copy: int = 0
    call_site: str = ""
    calls: count[int] = field(default_factory=count)

    def cell(self, attribute: Attribute) -> Value:
        """Return the term of a variable in this solution, or else in the bindings around an EXISTS; None if unbound."""
        term = self.solution.get(attribute.name)
        return term if term is not None else self.outer.get(attribute.name)

    def exists(self, exists: Exists) -> bool:
        """Whether the pattern of an EXISTS has a solution that agrees with this solution and with outer bindings."""
        bound = {name: term for name, term in self.solution.items() if isinstance(term, Term)}
        return self.match_exists(pattern_of_exists(exists), {**self.outer, **bound})

    def term_function(self, name: str) -> Callable[..., Any]:
        """Return the Python function that implements a SPARQL function; NOW and BNODE are methods of this context."""
        implementation = TERM_IMPLEMENTATIONS.get(name)
        if implementation is not None:
            return implementation
        return self._now if name == "NOW" else self._new_node

    def _now(self) -> Literal:
        """SPARQL NOW(): the time of the query as a literal; raises UsageError if the run has none."""
        if self.time is None:
            raise UsageError("the query asks what time it is", hint="say it with `now`")
        return self.time

    def _new_node(self, label: Term | None = None) -> BlankNode | None:
        """SPARQL BNODE(): a blank node of this solution, the same for equal string labels; None for other labels."""
        if label is None:
            return self._node(f"{self.call_site}{next(self.calls)}")
        characters = simple_string(label)
        return None if characters is None else self._node(f"={characters}")

    def _node(self, label: str) -> BlankNode:
        """Return the blank node that belongs to a label in this solution; other solutions have other nodes."""
        owner = self.solution if self.owner is None else self.owner
        return solution_blank_node(
            Solution.from_row(owner, [self.solution.get(name) for name in owner]), self.copy, label
        )
