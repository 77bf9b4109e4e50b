"""Hostile clients against a real server: nothing but 4xx, or 200 where that is right, and no secret in any output."""

from __future__ import annotations

import logging
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

from tests.serving.http.collected import collected
from tests.serving.recorded import Served, write_answers, write_project
from transom.serving.http.app import ProjectServer
from transom.serving.http.collector_app import CollectorServer
from transom.serving.http.server import AppServer, Listening

TOKEN = "0123456789abcdef-a-secret"
OPEN = ("/healthz", "/readyz")
ROUTES = (*OPEN, "/metrics", "/events", "/queries", "/queries/road", "/queries/road/answers")
STREAM = "/queries/road/answers?format=events"
Answer = tuple[int, bytes]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProjectServer]:
    folder = tmp_path_factory.mktemp("project")
    served = Served(
        write_project(folder, {"road": "RSTREAM(SELECT site FROM road [NOW])"}, "requests_per_second = 1e5")
    )
    served.steps()
    write_answers(folder / "answers/road", 0, [(0, 1)])
    with ProjectServer(served.supervisor, Listening(token=TOKEN)) as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_is_told(
    server: ProjectServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Iterator[None]:
    """After each test the server still answers, and no log and no output contains the token or an error of its own."""
    caplog.set_level(logging.DEBUG)
    yield
    assert ask(server, b"GET /queries HTTP/1.1\r\n" + head())[0] == 200
    records = [record for phase in ("setup", "call", "teardown") for record in caplog.get_records(phase)]
    told = "\n".join([*(record.getMessage() for record in records), *capfd.readouterr()])
    assert TOKEN not in told
    assert "Traceback" not in told


def head(token: str | None = TOKEN, *lines: bytes) -> bytes:
    """The head of a request after its first line."""
    authorization = [] if token is None else [b"Authorization: Bearer " + token.encode()]
    return b"\r\n".join([b"Host: localhost", b"Connection: close", *authorization, *lines, b"", b""])


def ask(server: AppServer, request: bytes) -> Answer:
    """The status of a response, 0 if the connection is closed without one, and its first bytes."""
    port = int(server.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as opened:
        answer = b""
        try:
            opened.sendall(request)
            while b"\r\n\r\n" not in answer and (part := opened.recv(65536)):
                answer += part
        except (BrokenPipeError, ConnectionResetError):  # the server closes before it has read everything
            pass
    return (int(answer.split(b" ", 2)[1]) if answer else 0), answer


def get(server: AppServer, target: str | bytes, token: str | None = TOKEN, *lines: bytes) -> int:
    raw = target if isinstance(target, bytes) else target.encode()
    status, answer = ask(server, b"GET " + raw + b" HTTP/1.1\r\n" + head(token, *lines))
    assert TOKEN.encode() not in answer
    return status


@pytest.mark.parametrize("route", [*ROUTES, STREAM])
def test_each_route_with_and_without_a_token(server: ProjectServer, route: str) -> None:
    refused = 200 if route in OPEN else 401
    assert get(server, route) == 200
    for token in (None, "", "wrong", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), f"{TOKEN},{TOKEN}", "\u00e9" * 16):
        assert get(server, route, token) == refused, token
    assert get(server, route, TOKEN, f"Authorization: Bearer {TOKEN}".encode()) == refused, "two tokens"
    assert get(server, f"{route}{'&' if '?' in route else '?'}token={TOKEN}", None) == refused


PARTS = [
    "%2e%2e",
    "..",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "..%5c..%5cboot.ini",
    "%00",
    "road%00",
    "%ff%fe",
    "%c0%ae%c0%ae",
    "%u002e",
    "%",
    "%zz",
    "%0d%0aSet-Cookie:%20a=b",
    quote("road\u2028\u202e\u0000\U0001f6a7"),
    quote("\u0440\u043ead"),
    "ROAD",
    "road.",
    "road;x",
    "a" * 1900,
    "__class__",
    "${jndi:ldap://x}",
    "'%20OR%20'1'='1",
    "{name}",
]


def test_hostile_names(server: ProjectServer) -> None:
    for part in PARTS:
        for target in (f"/{part}", f"/queries/{part}", f"/queries/{part}/answers", f"/queries/road/{part}"):
            assert get(server, target) == 404, target
            assert get(server, target, None) == 401, target


@pytest.mark.parametrize(
    "target",
    [
        *(
            "//queries",
            "/queries/",
            "/queries//road",
            "/queries/road/answers/",
            "/queries/./road",
            "/metrics/../queries",
        ),
        *(
            "/queries/road/answers/../answers",
            "/%2fqueries",
            "/healthz/",
            "//healthz",
            "/healthz%00",
        ),
        *("*", "queries", "?", "/", "/.git/config", "/favicon.ico", "/docs", "/openapi.json"),
    ],
)
def test_hostile_paths(server: ProjectServer, target: str) -> None:
    assert 400 <= get(server, target) < 500
    assert 400 <= get(server, target, None) < 500


def test_an_encoded_address_is_the_same_address(server: ProjectServer) -> None:
    for target, status in (("/%71ueries/r%6fad", 401), ("/queries%2froad", 401), ("/%68ealthz", 200)):
        assert (get(server, target), get(server, target, None)) == (200, status)


def test_absolute_addresses_are_those_of_the_server(server: ProjectServer) -> None:
    assert get(server, "http://evil.example/queries") in (200, 400, 404)
    assert 400 <= get(server, "http://evil.example/etc/passwd") < 500
    assert 400 <= get(server, "file:///etc/passwd") < 500


@pytest.mark.parametrize(
    "target", [b"/queries/\xff\xfe", b"/queries/\x00", b"/queries/a b", b"/queries/\t", b"\x00", b""]
)
def test_bytes_that_no_address_has(server: ProjectServer, target: bytes) -> None:
    assert 400 <= get(server, target) < 500


@pytest.mark.parametrize("length", [2049, 8000, 20_000, 200_000])
def test_long_addresses(server: ProjectServer, length: int) -> None:
    for target in ("/" + "a" * length, "/queries?" + "x" * length, "/healthz?" + "x" * length):
        assert get(server, target) in (400, 414, 431)


@pytest.mark.parametrize("route", ROUTES)
def test_other_methods(server: ProjectServer, route: str) -> None:
    for method in ("HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "X" * 500):
        line = f"{method} {route} HTTP/1.1\r\n".encode()
        assert ask(server, line + head())[0] == 405, method
        assert ask(server, line + head(None))[0] in (401, 405), method
    assert ask(server, f"CONNECT {route}:80 HTTP/1.1\r\n".encode() + head())[0] in (400, 405)


BODIES = [
    (b"Content-Length: 99999999999999999999", b""),
    (b"Content-Length: 10485760", b"x" * 1_000_000),
    (b"Content-Length: -1", b""),
    (b"Content-Length: 1, 2", b"xx"),
    (b"Content-Length: 1\r\nContent-Length: 2", b"xx"),
    (b"Transfer-Encoding: chunked", b"ffffffff\r\n" + b"x" * 1_000_000),
    (b"Transfer-Encoding: chunked\r\nContent-Length: 5", b"0\r\n\r\n"),
    (b"Transfer-Encoding: gzip, chunked", b"0\r\n\r\n"),
    (b"Expect: 100-continue\r\nContent-Length: 5", b"hello"),
    (b"Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nContent-Length: 1", b"x"),
]


@pytest.mark.parametrize(("line", "body"), BODIES, ids=range(len(BODIES)))
def test_bodies(server: ProjectServer, line: bytes, body: bytes) -> None:
    for method, route in ((b"GET", b"/queries"), (b"POST", b"/queries/road/answers"), (b"GET", b"/healthz")):
        status, _ = ask(server, method + b" " + route + b" HTTP/1.1\r\n" + head(TOKEN, line) + body)
        assert status == 0 or 400 <= status < 500, status


@pytest.mark.parametrize(
    "lines",
    [
        [b"X: " + b"a" * 9000],
        [b"X: " + b"a" * 1_000_000],
        [b"X-%d: a" % number for number in range(3000)],
        [b"X" * 9000 + b": a"],
        [b"X: a\x00b"],
        [b"X : a"],
        [b" folded: a"],
        [b"no colon"],
        [b"Host: other"],
        [b"X\xff: a"],
    ],
    ids=range(10),
)
def test_headers(server: ProjectServer, lines: list[bytes]) -> None:
    status = get(server, "/queries", TOKEN, *lines)
    assert status == 0 or 400 <= status < 500, status


VALUES = {
    "format": ["exe", "JSON", "", "json,csv", "../json", "%00", "json%00", "event"],
    "limit": [
        "0",
        "-1",
        "1.5",
        "1e3",
        "",
        "%20",
        "%2b1",
        "0x10",
        "99999999999999999999",
        "%D9%A1",
        "1_000",
        "10001",
        "NaN",
    ],
    "since": ["never", "-1", "", "9" * 300, "1e9", "%00", "2026-13-01", "9999-12-31T23:59:59Z", "0001-01-01"],
    "newest": ["", "none", "site,none", "%00", "site%0a", "%22site", ",", "*", "a" * 1900, "site%3B"],
    "other": ["1", ""],
}


def test_values_of_parameters(server: ProjectServer) -> None:
    for name, values in VALUES.items():
        for value in values:
            for target in (f"/queries/road/answers?{name}={value}", f"/queries/none/answers?{name}={value}"):
                assert 400 <= get(server, target) < 500, target
        twice = f"/queries/road/answers?{name}=1&{name}=1"
        assert get(server, twice) == 400
    for target in ("/events?query=none", "/events?query=", "/events?x=1", "/queries?x=1", "/queries/road?format=csv"):
        assert 400 <= get(server, target) < 500, target


@pytest.mark.parametrize("text", ["-1", "1.5", "x", "", "9" * 19, "1 ", "0x1", "\u0661"])
def test_values_of_last_event_id(server: ProjectServer, text: str) -> None:
    status = get(server, "/events", TOKEN, b"Last-Event-ID: " + text.encode())
    assert status == (200 if text == "1 " else 400), "blanks around a value do not count"


@pytest.mark.parametrize("text", ["", "*/*", "text/html", ",,,;;;", "a" * 5000, "\u00e9", "application/x-evil;q=\x07"])
def test_an_unknown_accept_gives_json(server: ProjectServer, text: str) -> None:
    status, answer = ask(
        server, b"GET /queries/road/answers HTTP/1.1\r\n" + head(TOKEN, b"Accept: " + text.encode("latin-1", "replace"))
    )
    assert (status, b"content-type: application/json" in answer) == (200, True)


def test_no_response_has_a_header_of_the_client(server: ProjectServer) -> None:
    _, answer = ask(server, b"GET /queries/x%0d%0aSet-Cookie:%20a HTTP/1.1\r\n" + head(TOKEN, b"Origin: http://evil"))
    names = {name.lower() for name in re.findall(rb"(?m)^([\w-]+):", answer.partition(b"\r\n\r\n")[0])}
    assert names == {
        b"content-length",
        b"content-type",
        b"cache-control",
        b"x-content-type-options",
        b"date",
        b"connection",
    }


def test_a_collector_has_the_same_rules(tmp_path: Path) -> None:
    with CollectorServer(collected(tmp_path).status, Listening(token=TOKEN)) as server:
        assert [get(server, route) for route in ("/healthz", "/readyz", "/metrics")] == [200, 503, 200]
        for target in ("/metrics", "/queries", "/%2e%2e", "/%00", "//metrics", "/" + "a" * 1900):
            assert get(server, target, None) == 401, target
        for target in ("/queries", "/%2e%2e", "/%00", "//metrics", "/metrics/", "/" + "a" * 1900):
            assert get(server, target) == 404, target
        for method in (b"POST", b"HEAD", b"DELETE"):
            assert ask(server, method + b" /metrics HTTP/1.1\r\n" + head())[0] == 405
