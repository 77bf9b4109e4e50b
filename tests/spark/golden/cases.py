"""Which golden cases run on Spark in which way.

By default each case runs in one way with the kernel: row by row those cases whose plans have all kinds of physical
nodes between them (`tests/covering.py`), and the others in pieces or at once, by turns. Without the kernel every
micro-batch starts processes of Python: row by row run those cases that have all nodes in Python. A third of the others
runs in another way, and a third of all as a replay.

CI runs the cases row by row with the kernel, those of SNEEql also without it, and those with the split of `CHOSEN`. The
others are nightly tests. `TRANSOM_GOLDEN=whole` runs all cases in all ways on both paths.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.cases import Case
from tests.covering import Language, covering
from tests.spark.trying import SPLITS
from transom.physical.nodes.windows import KernelMode

WHOLE = os.environ.get("TRANSOM_GOLDEN") == "whole"
NIGHTLY: Any = () if WHOLE else pytest.mark.nightly
KERNEL: tuple[KernelMode, ...] = ("on", "off")
REPLAYS = ["on", pytest.param("off", marks=NIGHTLY)]
"""The paths of the replays."""
CHOSEN = "uneven-3"
"""The split into pieces that CI runs."""
OTHERWISE = tuple(name for name in SPLITS if name != "one-row")


def splits_of(language: Language, cases: Sequence[Case], kernel: KernelMode) -> Mapping[str, list[Case]]:
    """The cases that run with each split."""
    if WHOLE:
        return {name: list(cases) for name in SPLITS}
    by_row = covering(language, kernel=kernel == "on")
    others = [case for case in cases if case.name not in by_row][:: 1 if kernel == "on" else 3]
    found = {"one-row": [case for case in cases if case.name in by_row]}
    return found | {name: others[turn :: len(OTHERWISE)] for turn, name in enumerate(OTHERWISE)}


def replayed(cases: Sequence[Case], kernel: KernelMode) -> list[Case]:
    """The cases that run as a replay: every second one, or a third without the kernel."""
    return [case for number, case in enumerate(cases) if WHOLE or number % (2 if kernel == "on" else 3) == 0]


def streams(language: Language, cases: Sequence[Case]) -> list[Any]:
    """The parameters of a test: the path and the name of the split."""
    ways = [(kernel, split) for kernel in KERNEL for split, some in splits_of(language, cases, kernel).items() if some]
    return [pytest.param(*way, marks=() if _is_chosen(language, *way) else NIGHTLY) for way in ways]


def _is_chosen(language: Language, kernel: KernelMode, split: str) -> bool:
    """Whether CI runs the cases of a language in a way."""
    if kernel == "on":
        return split in ("one-row", CHOSEN)
    return split == "one-row" and language == "sneeql"
