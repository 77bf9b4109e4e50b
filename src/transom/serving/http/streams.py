"""Server-sent events: what happens in a project, and new answers. A slow reader is told how much it missed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from starlette.concurrency import run_in_threadpool

from transom.errors import TransomError
from transom.serving.answers import AnswerFolder, Cursor
from transom.serving.events import Events
from transom.serving.http.formats import to_json

POLL_SECONDS = 0.5
"""Seconds between two looks for something new."""
IDLE_SECONDS = 15.0
"""Seconds after which a comment is sent, so that a closed connection is noticed."""


def frame(kind: str, data: Any, number: int | None = None) -> bytes:
    """Return one server-sent event; JSON has no line breaks, so it is one line."""
    lines = [b"event: " + kind.encode(), b"data: " + to_json(data)]
    if number is not None:
        lines.insert(0, b"id: " + str(number).encode())
    return b"\n".join(lines) + b"\n\n"


async def follow_events(events: Events, last: int, query: str | None) -> AsyncIterator[bytes]:
    """Yield the events after number `last`, of one query or of all, and before them how many were missed."""
    idle = 0.0
    yield b": transom\n\n"
    while True:
        missed, new = events.since(last)
        if missed:
            yield frame("missed", {"events": missed})
        if new:
            last = new[-1].number
        shown = [event for event in new if query is None or event.query == query]
        for event in shown:
            yield frame(event.kind, {"query": event.query, **event.fields}, event.number)
        idle = 0.0 if shown or missed else idle + POLL_SECONDS
        if idle >= IDLE_SECONDS:
            idle = 0.0
            yield b": idle\n\n"
        await asyncio.sleep(POLL_SECONDS)


async def follow_answers(folder: AnswerFolder, most: int) -> AsyncIterator[bytes]:
    """Yield the answers that are added to a folder from now on: at most `most` rows at once, the newest ones.

    A reader that is slower than the query misses the rows before these, and is told how many.
    """
    idle = 0.0
    cursor = Cursor().after(await run_in_threadpool(folder.files))
    yield b": transom\n\n"
    while True:
        try:
            read = await run_in_threadpool(_read_new, folder, cursor, most)
        except (TransomError, OSError) as error:
            yield frame("error", {"message": str(error)})
            return
        if read is not None:
            cursor, rows, missed = read
            if missed:
                yield frame("missed", {"rows": missed})
            yield frame("answers", {"rows": rows})
            idle = 0.0
        elif (idle := idle + POLL_SECONDS) >= IDLE_SECONDS:
            idle = 0.0
            yield b": idle\n\n"
        await asyncio.sleep(POLL_SECONDS)


def _read_new(folder: AnswerFolder, cursor: Cursor, most: int) -> tuple[Cursor, list[Any], int] | None:
    """Return the new position of a reader, the newest rows after the old one, and how many more there were."""
    new = [file for file in folder.files() if cursor.is_before(file)]
    if not new:
        return None
    answers = folder.rows(new, most)
    missed = folder.count(new) - len(answers.rows) if answers.more else 0
    return cursor.after(new), answers.rows, missed
