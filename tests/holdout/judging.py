"""How a judge goes through its questions, whatever their language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import Protocol, TypeVar


class Asked(Protocol):
    """A question that belongs to a family of questions."""

    @property
    def family(self) -> str: ...


Q = TypeVar("Q", bound=Asked)


def judge_each(language: str, asked: Collection[Q], families: Collection[str], judge: Callable[[Q], bool]) -> None:
    """Judge some questions: every family is met, and at least half of the answers hold something."""
    answered = Counter(one.family for one in asked if judge(one))
    print(f"{language}: {len(asked)} pairs, {answered.total()} with an answer", dict(answered))
    assert {one.family for one in asked} == set(families)
    assert answered.total() * 2 >= len(asked)
