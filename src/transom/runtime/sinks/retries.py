"""Repeat what a server does not take, and count the repetitions for the run whose micro-batch it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from transom.errors import Unavailable

MAX_ATTEMPTS = 8

_on_retry: ContextVar[Callable[[], None]] = ContextVar("on_retry", default=lambda: None)
"""Called before each repetition in this thread, which delivers one micro-batch of one run."""


@contextmanager
def retries_counted(on_retry: Callable[[], None]) -> Iterator[None]:
    """Open a context in which `on_retry` is called before each repetition of a delivery."""
    token = _on_retry.set(on_retry)
    try:
        yield
    finally:
        _on_retry.reset(token)


def with_retries(receiver: str, action: Callable[[], None], attempts: int = MAX_ATTEMPTS) -> None:
    """Run an action, and repeat it after errors with growing pauses; after the last, Unavailable names `receiver`.

    The pauses are 1/2, 1, 2, ... up to 30 seconds. The error names `receiver` and stops the query, which can be resumed
    later.
    """
    for attempt in range(attempts):
        try:
            action()
            return
        except (OSError, RuntimeError, ValueError) as error:
            if attempt == attempts - 1:
                raise Unavailable(
                    f"{receiver} does not take the answers", detail=f"{type(error).__name__}: {error}"
                ) from error
            _on_retry.get()()
            time.sleep(min(0.5 * 2**attempt, 30.0))
