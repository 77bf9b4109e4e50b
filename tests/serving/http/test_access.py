"""Who may ask, and how much: every refusal is a 4xx, and nothing that a client does stops the project."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

import httpx

from tests.serving.http.certificate import make_certificate
from tests.serving.recorded import Served, write_answers, write_project
from transom.errors import Unavailable, UsageError
from transom.serving.address import is_loopback_name
from transom.serving.http import server as servers
from transom.serving.http.access import Rates
from transom.serving.http.app import ProjectServer
from transom.serving.http.server import Listening

ROAD = "RSTREAM(SELECT site FROM road [NOW])"
TOKEN = "0123456789abcdef"
FAST = "requests_per_second = 100000"


@contextmanager
def project_server(folder: Path, limits: str = FAST, listening: Listening | None = None) -> Iterator[ProjectServer]:
    served = Served(write_project(folder, {"road": ROAD}, limits))
    served.steps()
    write_answers(folder / "answers/road", 0, [(0, 1)])
    with ProjectServer(served.supervisor, listening or Listening()) as server:
        yield server


def get(server: ProjectServer, path: str, **options: object) -> httpx.Response:
    return httpx.request(str(options.pop("method", "GET")), f"{server.address}{path}", trust_env=False, **options)  # type: ignore[arg-type]


def raw(server: ProjectServer, request: bytes) -> bytes:
    """What the server sends back to some bytes, until it closes the connection."""
    port = int(server.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        opened.sendall(request)
        opened.shutdown(socket.SHUT_WR)
        answer = b""
        while part := opened.recv(65536):
            answer += part
    return answer


HOSTILE_TARGETS = [
    "/queries/..%2f..%2fetc%2fpasswd",
    "/queries/../../etc/passwd",
    "/queries//road",
    "/queries/road/",
    "/queries/road/answers/..",
    "/queries/%00",
    "/queries/%ff%fe",
    "/queries/road%0d%0aSet-Cookie:x",
    "/queries/" + "a" * 3000,
    "/queries/road?" + "x=1&" * 600,
    "/queries/'; DROP TABLE answers; --".replace(" ", "%20"),
    "/queries/${jndi:ldap://x}",
    "/queries/road/answers?limit=0",
    "/queries/road/answers?limit=-1",
    "/queries/road/answers?limit=1e9",
    "/queries/road/answers?limit=99999999999999999999",
    "/queries/road/answers?limit=١",
    "/queries/road/answers?limit=1&limit=2",
    "/queries/road/answers?since=never",
    "/queries/road/answers?since=9999999999999999",
    "/queries/road/answers?since=-1",
    "/queries/road/answers?format=exe",
    "/queries/road/answers?format=events&limit=1",
    "/queries/road/answers?other=1",
    "/queries/road?format=csv",
    "/queries/__class__",
    "/events?query=none",
    "/",
    "/metrics/x",
    "/favicon.ico",
]


def test_hostile_targets_give_only_4xx(tmp_path: Path) -> None:
    with project_server(tmp_path) as server:
        for target in HOSTILE_TARGETS:
            line = f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
            answer = raw(server, line)
            status = int(answer.split(b" ", 2)[1])
            assert 400 <= status < 500, (target, answer[:200])
            assert b"Set-Cookie" not in answer.partition(b"\r\n\r\n")[0]
        assert get(server, "/queries/road").status_code == 200


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /queries HTTP/1.1\r\n\r\n",
        b"GET /queries HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
        b"GET /queries HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"GET /queries HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: x\r\nContent-Length: -1\r\n\r\n",
        b"GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: abc\r\nConnection: close\r\n\r\n",
        b"POST /queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        b"DELETE /queries/road HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"HEAD /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"CONNECT host:443 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_hostile_requests_give_only_4xx(tmp_path: Path, request_bytes: bytes) -> None:
    with project_server(tmp_path) as server:
        answer = raw(server, request_bytes)
        assert not answer or 400 <= int(answer.split(b" ", 2)[1]) < 500, answer[:200]
        assert get(server, "/queries").status_code == 200


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("localhost", True),
        ("LOCALHOST:8470", True),
        ("127.0.0.1:8470", True),
        ("127.8.8.8", True),
        ("[::1]:8470", True),
        ("::1", True),
        ("", False),
        ("example.org", False),
        ("localhost.example.org:8470", False),
        ("127.0.0.1.example.org", False),
        ("10.0.0.1", False),
        ("[::2]", False),
        ("[", False),
    ],
)
def test_names_of_this_computer(host: str, is_loopback: bool) -> None:
    assert is_loopback_name(host) is is_loopback


def test_pages_of_other_names_are_not_answered(tmp_path: Path) -> None:
    """A page in a browser may ask its own name, which its owner lets point to 127.0.0.1."""
    with project_server(tmp_path) as server:
        assert get(server, "/queries", headers={"host": "evil.example"}).status_code == 421


def test_a_token(tmp_path: Path) -> None:
    with project_server(tmp_path, listening=Listening(token=TOKEN)) as server:
        for headers in (
            {},
            {"authorization": TOKEN},
            {"authorization": f"Basic {TOKEN}"},
            {"authorization": f"Bearer {TOKEN}x"},
            {"authorization": "Bearer"},
            {"authorization": "Bearer é".encode()},
        ):
            for path in ("/queries", "/queries/road/answers", "/metrics", "/events", "/none"):
                refused = get(server, path, headers=headers)
                assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        right = {"authorization": f"Bearer {TOKEN}"}
        assert get(server, "/queries", headers=right).status_code == 200
        assert get(server, "/queries", headers={**right, "host": "plant.example"}).status_code == 200
        assert [get(server, path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_rates() -> None:
    now = [0.0]
    rates = Rates(2.0, clock=lambda: now[0])
    assert [rates.allows("a") for _ in range(5)] == [True] * 4 + [False]
    assert rates.allows("b")
    now[0] = 0.5
    assert [rates.allows("a") for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert sum(rates.allows("a") for _ in range(9)) == 4


def test_a_client_that_asks_too_often(tmp_path: Path) -> None:
    with project_server(tmp_path, limits="requests_per_second = 2") as server:
        statuses = [get(server, "/queries").status_code for _ in range(8)]
        assert (statuses[:4], 429 in statuses[4:]) == ([200] * 4, True)


def test_many_slow_readers_stop_nobody(tmp_path: Path) -> None:
    """300 readers that open a stream and read nothing: some are refused, and others still get answers."""
    with project_server(tmp_path, limits=f"readers = 20\n{FAST}") as server:
        port = int(server.address.rpartition(":")[2])
        request = b"GET /queries/road/answers?format=events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        opened = []
        for _ in range(300):
            opened.append(socket.create_connection(("127.0.0.1", port), timeout=10))
            try:
                opened[-1].sendall(request)
            except OSError:  # closed at once: more connections than the server takes
                opened.pop().close()
        refused = sum(b" 429 " in first_bytes(reader) for reader in opened[20:60])
        assert refused > 0
        assert first_bytes(opened[0]).startswith(b"HTTP/1.1 200")
        for reader in opened[5:]:
            reader.close()
        end = time.monotonic() + 10
        while (status := status_or_none(server)) != HTTPStatus.OK and time.monotonic() < end:
            time.sleep(0.1)
        assert status == HTTPStatus.OK
        for reader in opened[:5]:
            reader.close()


def status_or_none(server: ProjectServer) -> int | None:
    try:
        return get(server, "/queries").status_code
    except httpx.HTTPError:
        return None


def first_bytes(reader: socket.socket) -> bytes:
    try:
        return reader.recv(64)
    except OSError:
        return b""


def test_a_head_that_does_not_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "HEAD_SECONDS", 0.3)
    with project_server(tmp_path) as server:
        port = int(server.address.rpartition(":")[2])
        for begin in (b"", b"GET /queries HTTP/1.1\r\nHost: local"):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as opened:
                opened.sendall(begin)
                assert first_bytes(opened) == b""


def test_a_reader_that_takes_nothing_is_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "STALL_SECONDS", 0.3)
    with project_server(tmp_path, limits=f"readers = 1\nanswer_rows = 1000000\n{FAST}") as server:
        rows = [(0, "x" * 1000) for _ in range(20_000)]
        write_answers(tmp_path / "answers/road", 1, rows)
        port = int(server.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
            opened.sendall(b"GET /queries/road/answers?limit=20000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            end = time.monotonic() + 10
            seen = set()
            while time.monotonic() < end and seen != {429, 200}:
                status = get(server, "/queries").status_code
                if status == 429 or 429 in seen:
                    seen.add(status)
                time.sleep(0.02)
            assert seen == {429, 200}


@pytest.mark.parametrize(
    ("listening", "message"),
    [
        (Listening(host="0.0.0.0"), "a token is needed"),  # noqa: S104
        (Listening(host="::"), "a token is needed"),
        (Listening(host="10.0.0.1", token=TOKEN), "must be encrypted"),
        (Listening(token=TOKEN[:9]), "the token is not 16"),
        (Listening(token="é" * 20), "the token is not 16"),
        (Listening(certificate=Path("x")), "belong together"),
        (Listening(certificate=Path("no.pem"), key=Path("no.key")), "cannot read no.pem"),
        (Listening(proxy="proxy.example"), "no IP address"),
        (Listening(host="example.org"), "no IP address"),
    ],
)
def test_addresses_that_are_refused(listening: Listening, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        listening.check()


def test_an_address_behind_a_proxy() -> None:
    Listening(host="10.0.0.1", token=TOKEN, proxy="10.0.0.2").check()


def test_only_the_proxy_may_connect(tmp_path: Path) -> None:
    for proxy, status in (("127.0.0.1", 200), ("127.0.0.2", 403)):
        with project_server(tmp_path, listening=Listening(proxy=proxy, token=TOKEN)) as server:
            headers = {"authorization": f"Bearer {TOKEN}", "x-forwarded-for": "1.2.3.4, 5.6.7.8"}
            assert get(server, "/queries", headers=headers).status_code == status


def test_an_address_in_use(tmp_path: Path) -> None:
    with project_server(tmp_path) as server:
        port = int(server.address.rpartition(":")[2])
        served = Served(write_project(tmp_path, {"road": ROAD}))
        with pytest.raises(Unavailable, match="cannot listen"):
            ProjectServer(served.supervisor, Listening(port=port))


def test_tls(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    listening = Listening(token=TOKEN, certificate=certificate, key=key)
    with project_server(tmp_path, listening=listening) as server:
        assert server.address.startswith("https://")
        headers = {"authorization": f"Bearer {TOKEN}"}
        context = ssl.create_default_context(cafile=str(certificate))
        assert get(server, "/queries", headers=headers, verify=context).status_code == 200
        with pytest.raises(httpx.ConnectError):
            get(server, "/queries", headers=headers)
