"""Server-sent events: what happens in a project, and new answers. A slow reader is told how much it missed."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool

from transom.errors import TransomError
from transom.serving.answers import AnswerFile, AnswerFolder, Cursor
from transom.serving.events import Events
from transom.serving.json_text import frame

POLL_SECONDS = 0.5
"""Seconds between two looks for something new."""
IDLE_SECONDS = 15.0
"""Seconds after which a comment is sent, so that a closed connection is noticed."""
PORTION = 250
"""Events that one reader gets at once, at most."""
PORTION_BYTES = 1 << 16
"""Bytes after which a portion of events ends. A reader that takes nothing keeps one portion in memory."""
PORTION_SECONDS = 0.1
"""Seconds between two portions for a reader that is behind, in which others get theirs."""
SHARED_READS = 4
"""Portions of new answers that are kept for other readers at the same position."""


async def follow_events(events: Events, last: int, query: str | None) -> AsyncIterator[bytes]:
    """Yield the events after number `last`, of one query or of all, and before them how many were missed."""
    idle = 0.0
    yield b": transom\n\n"
    while True:
        missed, new = events.since(last, PORTION)
        is_behind = len(new) == PORTION
        portion = bytearray(frame("missed", {"events": missed}) if missed else b"")
        for event in new:
            if len(portion) >= PORTION_BYTES:
                is_behind = True
                break
            last = event.number
            if query is None or event.query == query:
                portion += event.frame
        new.clear()
        if portion:
            idle = 0.0
            yield bytes(portion)
        elif (idle := idle + POLL_SECONDS) >= IDLE_SECONDS:
            idle = 0.0
            yield b": idle\n\n"
        await asyncio.sleep(PORTION_SECONDS if is_behind else POLL_SECONDS)


class FollowedFolder:
    """The folder of a sink as all its readers see it: listed once per look, and new rows read once per position.

    One reader at a time reads files, so that many readers leave the threads to other requests.
    """

    def __init__(self, folder: AnswerFolder, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Follow a folder, of which readers get at most `most` rows at once."""
        self._folder = folder
        self._most = most
        self._clock = clock
        self._lock = asyncio.Lock()
        self._listed_at: float | None = None
        self._files: list[AnswerFile] = []
        self._end = Cursor()
        self._reads: OrderedDict[tuple[Cursor, Cursor], tuple[Cursor, bytes]] = OrderedDict()

    async def end(self) -> Cursor:
        """Return the position of a reader that has read everything."""
        async with self._lock:
            await self._list()
            return self._end

    async def read(self, cursor: Cursor) -> tuple[Cursor, bytes] | None:
        """Return the new position of a reader, and the frames of what is new after the old one; None without news."""
        async with self._lock:
            await self._list()
            if cursor == self._end:
                return None
            key = (cursor, self._end)
            if key not in self._reads:
                read = await run_in_threadpool(_read_new, self._folder, self._files, cursor, self._most)
                if read is None:
                    return None
                self._reads[key] = read
                if len(self._reads) > SHARED_READS:
                    self._reads.popitem(last=False)
            return self._reads[key]

    async def _list(self) -> None:
        """List the files anew, if the last list is older than half the pause between two looks of a reader."""
        now = self._clock()
        if self._listed_at is None or now - self._listed_at >= POLL_SECONDS / 2:
            self._files = await run_in_threadpool(self._folder.files)
            self._end = Cursor().after(self._files)
            self._listed_at = now


async def follow_answers(folder: FollowedFolder) -> AsyncIterator[bytes]:
    """Yield the answers that are added to a folder from now on, at most so many rows at once as the folder says.

    A reader that is slower than the query misses the rows before these, and is told how many.
    """
    idle = 0.0
    cursor = await folder.end()
    yield b": transom\n\n"
    while True:
        try:
            read = await folder.read(cursor)
        except (TransomError, OSError) as error:
            yield frame("error", {"message": str(error)})
            return
        if read is not None:
            cursor, frames = read
            yield frames
            idle = 0.0
        elif (idle := idle + POLL_SECONDS) >= IDLE_SECONDS:
            idle = 0.0
            yield b": idle\n\n"
        await asyncio.sleep(POLL_SECONDS)


def _read_new(folder: AnswerFolder, files: list[AnswerFile], cursor: Cursor, most: int) -> tuple[Cursor, bytes] | None:
    """Return the new position of a reader, and the frames of the newest rows and of how many more it missed."""
    new = [file for file in files if cursor.is_before(file)]
    if not new:
        return None
    answers = folder.rows(new, most)
    missed = folder.count(new) - len(answers.rows) if answers.more else 0
    missed_frame = frame("missed", {"rows": missed}) if missed else b""
    document: Any = {"rows": answers.rows}
    return cursor.after(new), missed_frame + frame("answers", document)
