"""Solutions, and the validity intervals of solutions and statements (002 Defs. 1, 2, 10)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from transom.model.rdf.terms import Term, term_order_key
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class Solution:
    """A partial function from variable names to terms; an unbound variable is absent (R22).

    A name that begins with `_:` belongs to a blank node of a pattern and is dropped above its basic graph pattern
    (R11).
    """

    bindings: tuple[tuple[str, Term], ...] = ()

    @classmethod
    def of(cls, bindings: Mapping[str, Term]) -> Solution:
        """Create the solution with these bindings, which it sorts by variable name."""
        return cls(tuple(sorted(bindings.items())))

    @classmethod
    def from_row(cls, names: Iterable[str], cells: Iterable[Value]) -> Solution:
        """Create a solution from a row of terms; `names` are the variables of its columns, and NULL means unbound."""
        return cls.of({name: term for name, term in zip(names, cells) if isinstance(term, Term)})

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the bound variables."""
        return (name for name, _ in self.bindings)

    def __len__(self) -> int:
        """The number of bound variables."""
        return len(self.bindings)

    def __str__(self) -> str:
        """The bindings as text, such as `{?x = <http://ex/a>}`."""
        return "{" + ", ".join(f"?{name} = {term}" for name, term in self.bindings) + "}"

    def get(self, name: str) -> Term | None:
        """The term that a variable is bound to, or None if it is unbound."""
        return next((term for variable, term in self.bindings if variable == name), None)

    def compatible(self, other: Solution) -> bool:
        """Whether two solutions can be joined: they agree on every variable that both bind."""
        other_bindings = dict(other.bindings)
        return all(other_bindings.get(name, term) == term for name, term in self.bindings)

    def merge(self, other: Solution) -> Solution:
        """Merge two compatible solutions into the one that has the bindings of both."""
        return Solution.of({**dict(self.bindings), **dict(other.bindings)})

    def sort_key(self, names: Iterable[str]) -> tuple[tuple[int, str, str, str], ...]:
        """Return the sort key of a solution: the terms of the variables `names`, in this order; unbound comes first."""
        return tuple(term_order_key(self.get(name)) for name in names)


Payload = TypeVar("Payload", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Valid(Generic[Payload]):
    """A statement or a solution that is valid n times at every t with start <= t < end; no end is forever."""

    payload: Payload
    start: int
    end: int | None
    n: int = 1

    def at(self, t: int) -> bool:
        """Whether the statement or solution is valid at tick `t`."""
        return self.start <= t and (self.end is None or t < self.end)
