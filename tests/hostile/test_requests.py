"""Requests that somebody sent to do harm, to the real receiver with a real log behind it."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from transom.catalog import Catalog
from transom.catalog.servers import HttpPush, Payload
from transom.collector.feed import Feed
from transom.collector.sources.http_push import HttpReceiver
from transom.connectors.log.segments import SegmentLog
from transom.connectors.payloads import MessageReader

from .case import soon
from .requests import CASES, Wire, post

CATALOG = """
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    source: {http: {listen: '127.0.0.1:9', path: /cars, token: '${HOSTILE_DOOR}'}}
"""
STATUS = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d) ")


async def exchange(case: Wire, feed: Feed, source: HttpPush) -> tuple[int, ...]:
    """The statuses of all answers on one connection, followed by a right request if the connection must be closed."""
    receiver = HttpReceiver(source, feed)
    await receiver.start()
    flushing = asyncio.create_task(_flush(feed))
    reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
    answers = b""
    try:
        writer.write(case.sent + (b"" if {200, 422} & set(case.statuses) else post()))
        while not flushing.done():
            missing = len(STATUS.findall(answers)) < len(case.statuses)
            piece = await asyncio.wait_for(reader.read(1 << 16), 20 if missing else 0.1)
            if not piece:
                break
            answers += piece
    except (TimeoutError, ConnectionError):
        pass  # closed, or nothing more to say
    finally:
        writer.close()
        flushing.cancel()
        await receiver.stop()
    assert receiver.problem is None
    if flushing.done() and not flushing.cancelled():
        flushing.result()
    feed.flush()
    return tuple(int(status) for status in STATUS.findall(answers))


async def _flush(feed: Feed) -> None:
    while True:
        await asyncio.sleep(0.01)
        feed.flush()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_request(case: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTILE_DOOR", "let-me-in")
    catalog = Catalog.read(CATALOG, folder=tmp_path)
    car = catalog.extents["car"]
    assert isinstance(car.source, HttpPush)
    log = SegmentLog(tmp_path / "log", car, segment_interval_seconds=0)
    feed = Feed(car, log, catalog.calendar, MessageReader(car, catalog.calendar, car.source.fields, None, Payload.JSON))
    try:
        with soon():
            statuses = asyncio.run(exchange(case, feed, replace(car.source, port=0)))
    finally:
        log.close()
    assert statuses == case.statuses
    assert feed.counts["rows"] == case.rows
