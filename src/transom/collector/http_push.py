"""Messages that others send by POST: answered when the log has them.

A sender that gets no answer sends again; with the header Idempotency-Key the message is then in the log once.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from http import HTTPStatus

from transom.catalog.references import resolved
from transom.catalog.servers import HttpPush
from transom.collector.feed import Feed
from transom.connectors.payloads import LARGEST, Dead

KEYS = 100_000
"""How many keys are remembered."""
_HEADERS = 64
_PATIENCE = 30.0


class Door:
    """The server of one extent."""

    def __init__(self, source: HttpPush, feed: Feed) -> None:
        self.source = source
        self.feed = feed
        self.problem: str | None = None
        self._token = None if source.token is None else resolved(source.token)
        self._keys = dict.fromkeys(feed.log.tokens(KEYS))
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, self.source.host.strip("[]"), self.source.port)

    async def stop(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (OSError, EOFError, ValueError, TimeoutError, asyncio.LimitOverrunError):
            pass  # the sender left, or does not speak HTTP
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request; whether another may follow."""
        line = (await asyncio.wait_for(reader.readline(), _PATIENCE)).decode("latin-1").split()
        if len(line) != 3:
            return False
        headers: dict[str, str] = {}
        while (text := (await asyncio.wait_for(reader.readline(), _PATIENCE)).decode("latin-1").strip()) != "":
            name, _, value = text.partition(":")
            headers[name.strip().lower()] = value.strip()
            if len(headers) > _HEADERS:
                return False
        size = headers.get("content-length", "")
        refused = self._refused(line[0], line[1], headers, size)
        if refused is not None:
            await _answer(writer, refused, {"error": refused.phrase}, last=True)
            return False
        body = await asyncio.wait_for(reader.readexactly(int(size)), _PATIENCE)
        status, words = await self._take(body, headers.get("idempotency-key"))
        await _answer(writer, status, words)
        return headers.get("connection", "").lower() != "close"

    def _refused(self, method: str, path: str, headers: dict[str, str], size: str) -> HTTPStatus | None:
        if path.partition("?")[0] != self.source.path:
            return HTTPStatus.NOT_FOUND
        if method != "POST":
            return HTTPStatus.METHOD_NOT_ALLOWED
        given = headers.get("authorization", "").removeprefix("Bearer ").encode()
        if self._token is not None and not hmac.compare_digest(given, self._token.encode()):
            return HTTPStatus.UNAUTHORIZED
        if not size.isdecimal():
            return HTTPStatus.LENGTH_REQUIRED
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE if int(size) > 4 * LARGEST else None

    async def _take(self, body: bytes, key: str | None) -> tuple[HTTPStatus, dict[str, object]]:
        loop = asyncio.get_running_loop()
        written = loop.create_future()

        def done() -> None:
            loop.call_soon_threadsafe(lambda: None if written.done() else written.set_result(None))

        dead: Dead | None = None
        again = key is not None and key in self._keys
        if again:
            self.feed.again(done)
        else:
            if key is not None:
                self._keys[key] = None
                if len(self._keys) > KEYS:
                    del self._keys[next(iter(self._keys))]
            dead = self.feed.take(body, {}, "POST", key, done)
        await written
        if dead is not None:
            return HTTPStatus.UNPROCESSABLE_ENTITY, {"reason": dead.reason.value, "words": dead.words}
        return HTTPStatus.OK, {"taken": not again}


async def _answer(
    writer: asyncio.StreamWriter, status: HTTPStatus, words: dict[str, object], *, last: bool = False
) -> None:
    body = json.dumps(words).encode()
    close = "Connection: close\r\n" if last else ""
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n{close}"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
