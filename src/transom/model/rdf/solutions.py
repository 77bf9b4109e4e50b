"""Solutions, and the intervals in which they and statements are valid (002 Defs. 1, 2, 10)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from transom.model.rdf.terms import Term, in_order
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class Solution:
    """A partial function from names of variables to terms; what is unbound is absent (R22).

    A name that begins with `_:` belongs to a blank node of a pattern and is gone above its basic graph pattern (R11).
    """

    bindings: tuple[tuple[str, Term], ...] = ()

    @classmethod
    def of(cls, bindings: Mapping[str, Term]) -> Solution:
        """The solution with these bindings."""
        return cls(tuple(sorted(bindings.items())))

    @classmethod
    def row(cls, names: Iterable[str], cells: Iterable[Value]) -> Solution:
        """The solution of a row of terms; NULL is unbound."""
        return cls.of({name: term for name, term in zip(names, cells) if isinstance(term, Term)})

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.bindings)

    def __len__(self) -> int:
        return len(self.bindings)

    def __str__(self) -> str:
        return "{" + ", ".join(f"?{name} = {term}" for name, term in self.bindings) + "}"

    def get(self, name: str) -> Term | None:
        """The term of a variable, or None where it is unbound."""
        return next((term for own, term in self.bindings if own == name), None)

    def compatible(self, other: Solution) -> bool:
        """Whether no variable is bound to one term here and to another there."""
        theirs = dict(other.bindings)
        return all(theirs.get(name, term) == term for name, term in self.bindings)

    def merge(self, other: Solution) -> Solution:
        """The bindings of both."""
        return Solution.of({**dict(self.bindings), **dict(other.bindings)})

    def only(self, names: Iterable[str]) -> Solution:
        """The bindings of some variables."""
        kept = set(names)
        return Solution(tuple((name, term) for name, term in self.bindings if name in kept))

    def without_hidden(self) -> Solution:
        """The solution without what blank nodes of the pattern stood for."""
        return Solution(tuple((name, term) for name, term in self.bindings if not name.startswith("_:")))

    def in_order(self, names: Iterable[str]) -> tuple[tuple[int, str, str, str], ...]:
        """A key that puts solutions in one fixed order, variable by variable."""
        return tuple(in_order(self.get(name)) for name in names)


Payload = TypeVar("Payload", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Valid(Generic[Payload]):
    """A statement or a solution that is valid at every t with start <= t < end, n times; no end is for ever."""

    payload: Payload
    start: int
    end: int | None
    n: int = 1

    def at(self, t: int) -> bool:
        """Whether it is valid at an instant."""
        return self.start <= t and (self.end is None or t < self.end)
