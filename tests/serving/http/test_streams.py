"""Streams of many readers: new rows are read once for all at the same position, and portions have a limit of bytes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

from tests.serving.recorded import write_answers
from transom.serving.answers import AnswerFile, AnswerFolder, AnswerRows
from transom.serving.events import Events
from transom.serving.http.streams import PORTION_BYTES, FollowedFolder, follow_events


class CountedFolder(AnswerFolder):
    """Counts how often it is listed and read."""

    def __init__(self, sink: str) -> None:
        super().__init__(sink)
        self.lists = self.reads = 0

    def files(self) -> list[AnswerFile]:
        self.lists += 1
        return super().files()

    def rows(self, files: list[AnswerFile], limit: int, first: Any = None) -> AnswerRows:
        self.reads += 1
        return super().rows(files, limit, first)


def test_new_rows_are_read_once_for_all_readers(tmp_path: Path) -> None:
    write_answers(tmp_path, 0, [(0, "old")])
    folder, now = CountedFolder(f"parquet:{tmp_path}"), [0.0]

    async def scenario() -> None:
        followed = FollowedFolder(folder, 10, lambda: now[0])
        cursors = [await followed.end() for _ in range(50)]
        assert [await followed.read(cursor) for cursor in cursors] == [None] * 50
        write_answers(tmp_path, 1, [(1, "new")])
        assert await followed.read(cursors[0]) is None, "the folder was listed just before"
        now[0] = 1.0
        read = await asyncio.gather(*map(followed.read, cursors))
        assert len({frames for _, frames in filter(None, read)}) == 1
        found = read[0]
        assert found is not None
        assert json.loads(found[1].split(b"data: ")[1])["rows"][0]["x"] == "new"
        assert await followed.read(found[0]) is None

    asyncio.run(scenario())
    assert (folder.lists, folder.reads) == (2, 1)


def test_a_portion_of_events_ends_after_some_bytes() -> None:
    events = Events()
    for number in range(20):
        events.add("batch", "road", text="x" * 20_000, batch=number)

    async def portions() -> list[bytes]:
        stream = follow_events(events, 0, None)
        assert await anext(stream) == b": transom\n\n"
        return [await anext(stream) for _ in range(5)]

    read = asyncio.run(portions())
    assert [portion.count(b"event: batch") for portion in read] == [4] * 5
    assert max(map(len, read)) < PORTION_BYTES + 25_000
