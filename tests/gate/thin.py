"""Parameters of which only some belong to the chosen set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def thinned(values: Iterable[Any], every: int, first: int = 0) -> list[Any]:
    """All parameters, of which CI takes every n-th and leaves the others to the nightly run."""
    return [
        value
        if number % every == first
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.nightly)
        for number, value in enumerate(values)
    ]
