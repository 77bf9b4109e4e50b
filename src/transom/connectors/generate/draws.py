"""Random draws that are identical on every version of Python.

They use only `random.Random.random`, whose sequence Python guarantees for a seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

Draw = Callable[[], float]
"""A function that returns a random number in [0, 1)."""


def make_draw(seed: int, extent: str, site: object, name: str) -> Draw:
    """Create reproducible random numbers in [0, 1) for `name`, such as an attribute, at a site (sensor place).

    They are independent of those of any other name, site or extent.
    """
    return random.Random(f"{seed}/{extent}/{site}/{name}").random  # noqa: S311 - made-up data, no secrets


def normal(draw: Draw) -> float:
    """Draw a random number from the normal distribution with mean 0 and standard deviation 1 (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - draw()))
    return radius * math.cos(2.0 * math.pi * draw())


def exponential(draw: Draw, mean: float) -> float:
    """Draw a random number from the exponential distribution with this mean: the time until the next arrival."""
    return -mean * math.log(1.0 - draw())


def weighted_index(draw: Draw, weights: Sequence[float]) -> int:
    """Return a random index into `weights`, each with a probability proportional to its weight."""
    remaining = draw() * math.fsum(weights)
    last = 0
    for index, weight in enumerate(weights):
        if weight > 0:
            if remaining < weight:
                return index
            remaining -= weight
            last = index
    return last
