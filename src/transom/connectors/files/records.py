"""What the readers of all file formats yield."""

from __future__ import annotations

from typing import NamedTuple


class Record(NamedTuple):
    """One row of a file: its line or row number, and its values in the order of the columns.

    The first record of a file holds the names of the columns instead.
    """

    number: int
    values: list[object]


class Missing:
    """Stands for a value that a JSON line does not have."""


MISSING = Missing()
