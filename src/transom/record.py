"""The base of small dataclasses: one `__repr__`, `__eq__` and `__hash__` for all of them.

Generating these methods for each of 250 classes took a tenth of the start of the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any

_VALUES: dict[type, Callable[[Any], Any]] = {}
"""For each class that was compared or hashed: a function that returns the values of its fields."""


class Record:
    """A dataclass declared with `repr=False, eq=False`; it prints, compares and hashes like any frozen one."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The class name and all fields, in the format of a dataclass."""
        parts = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__qualname__}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Whether the other object has the same class and equal fields."""
        if self.__class__ is not other.__class__:
            return NotImplemented
        values = _VALUES.get(self.__class__) or _values_of(self.__class__)
        return bool(values(self) == values(other))

    def __hash__(self) -> int:
        """The hash of all fields."""
        values = _VALUES.get(self.__class__) or _values_of(self.__class__)
        return hash(values(self))


def _values_of(record: type) -> Callable[[Any], Any]:
    """Create and cache the function that returns, as a tuple, the fields of a record that equality compares."""
    names = [field.name for field in fields(record) if field.compare]
    if len(names) > 1:
        values: Callable[[Any], Any] = attrgetter(*names)
    else:
        values = lambda row: tuple(getattr(row, name) for name in names)  # noqa: E731 - one tuple for none or one field
    _VALUES[record] = values
    return values
