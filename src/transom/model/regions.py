"""Regions of the plane or of the globe, and which places lie in them, border included (C9)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Region:
    """A named region: rings of corners on the plane; a place is inside if it is inside of an odd number of rings."""

    name: str
    rings: tuple[tuple[tuple[float, float], ...], ...]
    geodesic: bool = False

    def covers(self, x: float, y: float) -> bool:
        """Whether a place lies in the region or on its border."""
        odd = False
        for ring in self.rings:
            for (ax, ay), (bx, by) in zip(ring, (*ring[1:], ring[0]), strict=True):
                turn = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
                if turn == 0 and min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by):
                    return True
                if (ay > y) != (by > y) and (turn > 0) == (by > ay):
                    odd = not odd
        return odd

    def __str__(self) -> str:
        return self.name
