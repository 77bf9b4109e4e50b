"""One hostile input, and what must become of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TypeAlias

from transom.model.reject_reason import RejectReason

SLOWEST = 1.0
"""Seconds of the processor that one input may take on a machine that is not busy."""
AGAIN = 4
"""How often a slow input is read again."""
STEPS = 2_000_000
"""Steps of a loop that takes about a tenth of SLOWEST on a machine that is not busy."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It is refused with an error of this class, whose text holds a phrase; a dead letter has a reason, too."""

    error: type[Exception]
    phrase: str
    reason: RejectReason | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """It is read, and means exactly this."""

    value: object


Outcome: TypeAlias = Refused | Accepted


@dataclass(frozen=True, slots=True)
class Case:
    """A hostile input; `why` says how it could do harm."""

    why: str
    given: object
    outcome: Outcome


def longest() -> float:
    """Seconds of the processor that one input may take now: on a busy machine, as a loop beside it takes longer."""
    began = time.process_time()
    total = 0
    for number in range(STEPS):
        total += number
    assert total
    return max(SLOWEST, 12 * (time.process_time() - began))


@contextmanager
def soon() -> Iterator[None]:
    """Fail if what is done takes too long."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < SLOWEST or took < longest(), f"took {took:.2f} s"


def check(case: Case, read: object) -> None:
    """Read the input of a case and compare what came of it."""
    assert callable(read)
    began = time.process_time()
    try:
        value = read(case.given)
    except Exception as error:
        _check_error(case, error)
        _check_time(case, read, began)
        return
    _check_time(case, read, began)
    assert isinstance(case.outcome, Accepted), f"accepted as {value!r}"
    assert value == case.outcome.value


def _check_time(case: Case, read: Callable[[object], object], began: float) -> None:
    """Check the seconds since `began`; read a slow input again, as a neighbour may slow one read."""
    took = [time.process_time() - began]
    for _ in range(AGAIN):
        if took[-1] < SLOWEST or took[-1] < longest():
            return
        began = time.process_time()
        with suppress(Exception):
            read(case.given)
        took.append(time.process_time() - began)
    assert took[-1] < longest(), f"took {took} s"


def _check_error(case: Case, error: Exception) -> None:
    if isinstance(case.outcome, Accepted):
        raise error
    assert type(error) is case.outcome.error, f"{type(error).__name__}: {error}"
    assert getattr(error, "reason", None) is case.outcome.reason
    words = str(error)
    assert case.outcome.phrase in words, words
    assert not [sign for sign in words if not sign.isprintable() and sign != "\n"], "control characters in a message"
