"""How many rows Spark makes of one: a live run without an end that would make too many is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transom.errors import UsageError
from transom.languages.places import place_of
from transom.physical.node import Physical
from transom.physical.stays import copies

if TYPE_CHECKING:
    from transom.query import Query

MOST_COPIES = 1_000_000
"""How many windows of one row a live run makes at once."""


def check_copies(query: Query, plan: Physical, *, live: bool, until: int | None) -> None:
    """Refuse a live run without an end that makes too many rows of one: one for each window that it is in."""
    count = copies(plan)
    if live and until is None and count > MOST_COPIES:
        raise UsageError(
            f"a row is in {count:,} windows, and a live run on Spark makes a row for each, at most {MOST_COPIES:,}",
            hint="shorten the range, slide by more, give `until`, or use ISTREAM, DSTREAM or the kernel",
            span=place_of(query.syntax, "Stay", [extent.name for extent in query.reads]),
            text=query.text,
            source=query.name,
        )
