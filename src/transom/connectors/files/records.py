"""The records that the readers of all file formats yield."""

from __future__ import annotations

from typing import NamedTuple

from transom.model.reject_reason import RejectReason


class FileRecord(NamedTuple):
    """One row of a file: its line or row number, and its values in column order.

    The first record of a file contains the column names instead.
    """

    number: int
    values: list[object]


class InvalidLine(NamedTuple):
    """A line of a file that cannot be split into values: its number and text, and why."""

    number: int
    text: str
    reason: RejectReason
    detail: str


class Missing:
    """The type of MISSING, the value of a key that a JSON line lacks."""


MISSING = Missing()
