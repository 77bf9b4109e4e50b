"""Lengths with a unit as numbers of metres."""

from __future__ import annotations

from transom.model.geometry.space import MICROMETRES, read_distance


def metres_of(text: str) -> str | None:
    """Convert a distance such as `5 km` to metres, a number as text; returns None if the text is not a distance.

    >>> metres_of("5 km")
    '5000'
    """
    try:
        micrometres = read_distance(text)
    except ValueError:
        return None
    whole, fraction = divmod(micrometres, MICROMETRES["m"])
    return f"{whole}.{fraction:06}".rstrip("0").rstrip(".")
