"""The HTTP receiver with TLS: handshakes have a deadline and count as connections; wrong files are refused at once."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.collector.test_http_push import FeedStub, one_answer, post, source_of
from tests.servers.tls.secure import Certificates, certificates
from transom.catalog.tls import Tls
from transom.collector.sources import http_server
from transom.collector.sources.http_push import HttpReceiver
from transom.errors import UsageError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PUSH_TOKEN", "let-me-in")


@pytest.fixture
def serving(made: Certificates) -> Callable[..., Any]:
    """Runs a coroutine that gets a receiver that listens, and what its clients trust."""
    trust = ssl.create_default_context(cafile=made.ca)

    def run(work: Callable[[HttpReceiver, ssl.SSLContext], Any], ca: Path | None = None) -> Any:
        async def served() -> Any:
            source = source_of(port=0, tls=Tls(None if ca is None else str(ca), str(made.right)))
            receiver = HttpReceiver(source, FeedStub())  # type: ignore[arg-type]
            await receiver.start()
            try:
                return await work(receiver, trust)
            finally:
                await receiver.stop()

        return asyncio.run(served())

    return run


async def answered(receiver: HttpReceiver, trust: ssl.SSLContext, *requests: bytes) -> list[int]:
    """The status of each request, all on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port, ssl=trust)
    try:
        found = []
        for request in requests:
            writer.write(request)
            found.append((await one_answer(reader))[0])
        return found
    finally:
        writer.close()


def test_requests_share_a_connection(serving: Any) -> None:
    assert serving(lambda receiver, trust: answered(receiver, trust, post(), post(), post())) == [200, 200, 200]


def test_with_a_ca_clients_must_show_a_certificate(serving: Any, made: Certificates) -> None:
    async def ask(receiver: HttpReceiver, trust: ssl.SSLContext) -> list[int]:
        with pytest.raises((OSError, EOFError)):
            await answered(receiver, trust, post())
        own = ssl.create_default_context(cafile=made.ca)
        own.load_cert_chain(made.client)
        return await answered(receiver, own, post())

    assert serving(ask, made.ca) == [200]


def test_connections_without_a_handshake_make_room(serving: Any) -> None:
    async def crowd(receiver: HttpReceiver, trust: ssl.SSLContext) -> tuple[list[int], int, int]:
        idle = [await asyncio.open_connection("127.0.0.1", receiver.port) for _ in range(2 * receiver.connections)]
        found = await answered(receiver, trust, post())
        closed = 0
        for reader, writer in idle:
            try:
                closed += await asyncio.wait_for(reader.read(1), 0.01) == b""
            except TimeoutError:
                pass
            except ConnectionError:
                closed += 1
            writer.close()
        return found, closed, receiver.connections

    found, closed, limit = serving(crowd)
    assert found == [200]
    assert closed >= limit


HALF = b"\x16\x03\x01\x02\x00"


@pytest.mark.parametrize("sent", [b"", HALF, b"POST / HTTP/1.1\r\n\r\n"], ids=["none", "half", "plain"])
def test_handshake_that_does_not_come_is_cut_off(monkeypatch: pytest.MonkeyPatch, serving: Any, sent: bytes) -> None:
    monkeypatch.setattr(http_server, "DEADLINE", 0.4)

    async def wait(receiver: HttpReceiver, trust: ssl.SSLContext) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", receiver.port)
        writer.write(sent)
        try:
            return await asyncio.wait_for(reader.read(), 10)
        except ConnectionError:
            return b""
        finally:
            writer.close()

    assert b"HTTP" not in serving(wait)


def test_files_are_looked_at_before_it_listens(made: Certificates, tmp_path: Path) -> None:
    """At the start, in words, and never by a question for a passphrase."""
    nothing, text, locked = tmp_path / "nothing", tmp_path / "text", tmp_path / "locked.pem"
    text.write_text("no certificate")
    locked.write_bytes(_locked(made.right))
    for tls, words in (
        (Tls(certificate=str(nothing)), "cannot read"),
        (Tls(certificate=str(text)), "cannot use"),
        (Tls(certificate=str(made.ca)), "cannot use"),  # no key
        (Tls(certificate=str(locked)), "without a passphrase"),
        (Tls(certificate=str(made.right), ca=str(text)), "cannot use"),
    ):
        with pytest.raises(UsageError, match=words):
            HttpReceiver(source_of(tls=tls), FeedStub())  # type: ignore[arg-type]


def _locked(path: Path) -> bytes:
    from cryptography.hazmat.primitives import serialization as form

    key = form.load_pem_private_key(path.with_suffix(".key").read_bytes(), None)
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"word"))
    return secret + path.with_suffix(".crt").read_bytes()


def test_operator_is_told_whether_others_can_read_the_token(made: Certificates) -> None:
    for host, tls, words in (
        ("127.0.0.1", None, "127.0.0.1:9/cars"),
        ("0.0.0.0", None, "0.0.0.0:9/cars without TLS"),  # noqa: S104 - nobody listens
        ("0.0.0.0", Tls(certificate=str(made.right)), "0.0.0.0:9/cars with TLS"),  # noqa: S104 - nobody listens
    ):
        assert HttpReceiver(source_of(host=host, tls=tls), FeedStub()).address == words  # type: ignore[arg-type]
