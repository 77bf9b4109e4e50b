"""Random draws that come out the same on every version of Python.

Only `random.Random.random` is used, whose values Python promises to keep for a seed; everything else is made of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

Draw = Callable[[], float]
"""A number from 0 up to, but not, 1."""


def draws(seed: int, extent: str, site: object, name: str) -> Draw:
    """The draws of one attribute at one site: no other attribute, site or extent can disturb them."""
    return random.Random(f"{seed}/{extent}/{site}/{name}").random  # noqa: S311 - made-up data, no secrets


def normal(draw: Draw) -> float:
    """A draw from the normal distribution with mean 0 and standard deviation 1 (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - draw()))
    return radius * math.cos(2.0 * math.pi * draw())


def waiting(draw: Draw, mean: float) -> float:
    """A draw from the exponential distribution: how long until the next of some random arrivals."""
    return -mean * math.log(1.0 - draw())


def pick(draw: Draw, weights: Sequence[float]) -> int:
    """A position drawn with these weights."""
    left = draw() * math.fsum(weights)
    last = 0
    for position, weight in enumerate(weights):
        if weight > 0:
            if left < weight:
                return position
            left -= weight
            last = position
    return last
