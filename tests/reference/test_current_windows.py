"""The windows that are current at a tick (S8): an index finds the same ones as the definition."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from transom.model.bag import Bag, row_identity
from transom.reference.relations import current_windows


def by_definition(tick: int, windows: Sequence[Bag]) -> list[Bag]:
    last = {row_identity(w.key): w.tick for w in windows if w.tick <= tick}
    candidates = [w for w in windows if not w.is_final or w.tick == tick]
    return [w for w in candidates if w.tick == last.get(row_identity(w.key))]


@pytest.mark.parametrize("keys", [[()], [(1,), (2,), (True,), (None,)]], ids=["one key", "several keys"])
def test_current_windows(keys: list[tuple[int | None, ...]]) -> None:
    """Several windows of a tick, keys that end, ticks before the first window and after the last one."""
    rng = Random(7)
    for _ in range(200):
        windows = [
            Bag(rng.randrange(3, 12), ((number,),), rng.choice(keys), is_final=rng.random() < 0.2)
            for number in range(rng.randrange(9))
        ]
        windows.sort(key=lambda w: w.tick)
        current = current_windows(windows)
        for tick in range(15):
            assert current(tick) == by_definition(tick, windows)
