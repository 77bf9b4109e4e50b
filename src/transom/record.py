"""The base of small dataclasses: one `__repr__` for all of them.

Generating a `__repr__` for each of 130 classes took 3 % of the start of the command line.
"""

from __future__ import annotations

from dataclasses import fields


class Record:
    """A dataclass declared with `repr=False`; it prints as every dataclass does."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The class name and all fields, in the format of a dataclass."""
        parts = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__qualname__}({', '.join(parts)})"
