"""What operators are to each other: the class of every operator, and the classes of what they produce.

An operator takes any stream, or any stream of windows. Which ones there are, `tree` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.model.schema import Schema


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of a query."""

    @property
    def schema(self) -> Schema:
        """The attributes of what it produces."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Stream(Operator):
    """An operator that produces tagged tuples."""


@dataclass(frozen=True, slots=True)
class Windows(Operator):
    """An operator that produces windows."""


Plan: TypeAlias = Stream | Windows
"""What a query is: either kind of stream."""
