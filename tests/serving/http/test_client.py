"""Asking a served project: what is read, what is refused, and where the token goes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

from tests.serving.http.certificate import make_certificate
from tests.serving.recorded import Served, write_project
from transom.errors import TransomError, Unavailable, UsageError
from transom.serving.http import client as clients
from transom.serving.http.app import ProjectServer
from transom.serving.http.client import ProjectClient
from transom.serving.http.reading import read_served
from transom.serving.http.server import Listening

ROAD = "RSTREAM(SELECT site FROM road [NOW])"
TOKEN = "0123456789abcdef"


@contextmanager
def project_server(folder: Path, listening: Listening, limits: str = "") -> Iterator[str]:
    served = Served(write_project(folder, {"road": ROAD}, limits))
    served.steps()
    with ProjectServer(served.supervisor, listening) as server:
        yield server.address


@contextmanager
def other_server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[tuple[str, list[Any]]]:
    """A server that is not Transom's, and the headers that it got."""
    got: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            got.append(self.headers)
            answer(self)

        def log_message(self, *arguments: Any) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()
        thread.join()


def answering(status: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_a_served_project(tmp_path: Path) -> None:
    with project_server(tmp_path, Listening(token=TOKEN)) as url:
        served, document = read_served(ProjectClient(f"{url}/", TOKEN))
        assert (served.address, served.ready, served.error) == (url, True, None)
        assert [(query.name, query.status, query.restarts) for query in served.queries] == [("road", "running", 0)]
        assert document["queries"][0]["name"] == "road"
        with pytest.raises(UsageError, match="it needs a token"):
            read_served(ProjectClient(url))
        with pytest.raises(UsageError, match="the token is wrong"):
            read_served(ProjectClient(url, TOKEN[::-1]))


def test_tls(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    with project_server(tmp_path, Listening(token=TOKEN, certificate=certificate, key=key)) as url:
        served, _ = read_served(ProjectClient(url, TOKEN, certificate))
        assert [query.name for query in served.queries] == ["road"]
        with pytest.raises(UsageError, match="is not trusted") as raised:
            read_served(ProjectClient(url, TOKEN))
        assert "--tls-ca" in str(raised.value.hint)
        with pytest.raises(UsageError, match="is not trusted") as raised:  # the certificate has no such name
            read_served(ProjectClient(url.replace("127.0.0.1", "localhost"), TOKEN, certificate))
        assert "localhost" in str(raised.value.detail)
        with pytest.raises(Unavailable, match=r"no HTTP response|nothing answers"):
            read_served(ProjectClient(url.replace("https:", "http:"), TOKEN))


def test_no_tls(tmp_path: Path) -> None:
    with project_server(tmp_path, Listening()) as url, pytest.raises(UsageError, match="does not use TLS"):
        read_served(ProjectClient(url.replace("http:", "https:")))


@pytest.mark.parametrize(
    ("url", "token", "authority", "message"),
    [
        ("ftp://127.0.0.1", None, None, "is no address"),
        ("http://", None, None, "is no address"),
        ("http://[", None, None, "is no address"),
        ("http://127.0.0.1:99999", None, None, "is no address"),
        ("http://127.0.0.1:x", None, None, "is no address"),
        ("http://127.0.0.1/?x=1", None, None, "is no address"),
        ("http://eng:secret@127.0.0.1", None, None, "is no address"),
        ("http://127.0.0.1/a b", None, None, "is no address"),
        ("http://127.0.0.1/\r\nx", None, None, "is no address"),
        ("http://plant.example:8470", TOKEN, None, "would be sent to plant.example without encryption"),
        ("http://127.0.0.1.plant.example", TOKEN, None, "without encryption"),
        ("http://127.0.0.1", f"{TOKEN}\nX: y", None, "not printable ASCII"),
        ("http://127.0.0.1", "", None, "not printable ASCII"),
        ("http://127.0.0.1", None, Path("ca.pem"), "--tls-ca is for https"),
        ("https://127.0.0.1", None, Path("no.pem"), "cannot read certificates from no.pem"),
    ],
)
def test_addresses_that_are_refused(url: str, token: str | None, authority: Path | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ProjectClient(url, token, authority)


def test_a_name_that_no_computer_can_have() -> None:
    with pytest.raises(TransomError) as raised:
        ProjectClient(f"http://{'a' * 70}.example").get("/readyz")
    assert raised.value.exit_code in (2, 75)


def test_nothing_answers() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(Unavailable, match=f"nothing answers at {url}") as raised:
        ProjectClient(url).get("/readyz")
    assert (raised.value.detail, raised.value.exit_code) == ("Connection refused", 75)


def test_a_server_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(Unavailable, match="nothing answers"):
        ProjectClient(f"http://127.0.0.1:{silent.getsockname()[1]}").get("/readyz")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, b"<html>", "is no `transom serve`"),
        (200, b"[]", "is no `transom serve`"),
        (200, b"[" * 100_000, "is no `transom serve`"),
        (200, b"\xff", "is no `transom serve`"),
        (200, b"{}", "is no `transom serve`"),
        (404, b'{"error": "no such path"}', "refuses the request: no such path"),
        (503, b'{"error": "away"}', "refuses the request: away"),
        (200, b'{"ready": true}', "is no `transom serve` of this version"),
        (200, b'{"ready": true, "error": null, "queries": [{}]}', "is no `transom serve` of this version"),
        (200, b" " * 2000, "answers with more than 1,000 bytes"),
    ],
)
def test_another_server(status: int, body: bytes, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if len(body) < 3000:
        monkeypatch.setattr(clients, "LARGEST_RESPONSE", 1000)
    with other_server(answering(status, body)) as (url, _), pytest.raises(TransomError, match=message) as raised:
        read_served(ProjectClient(url))
    assert raised.value.exit_code == (75 if status == 503 else 2)


def test_the_token_goes_to_no_other_server() -> None:
    with other_server(answering(200, b"{}")) as (url, got):
        with pytest.raises(UsageError):
            read_served(ProjectClient(url, TOKEN))
        assert [headers["authorization"] for headers in got] == [None]
        redirect = answering(302, b"", location=f"{url}/queries")
        with other_server(redirect) as (first, _), pytest.raises(UsageError, match="is no `transom serve`"):
            ProjectClient(first, TOKEN).get("/queries")
        assert len(got) == 1


def test_no_proxy_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with project_server(tmp_path, Listening()) as url:
        assert read_served(ProjectClient(url))[0].ready


def test_a_path_of_a_proxy() -> None:
    with other_server(lambda handler: answering(200, f'{{"path": "{handler.path}"}}'.encode())(handler)) as (url, _):
        assert ProjectClient(f"{url}/plant/").get("/queries") == {"path": "/plant/queries"}


def test_refused_by_rates_and_by_the_proxy_rule(tmp_path: Path) -> None:
    with project_server(tmp_path, Listening(), "requests_per_second = 0.1") as url:
        client = ProjectClient(url)
        client.get("/queries")
        with pytest.raises(Unavailable, match="too many requests"):
            client.get("/queries")
    with project_server(tmp_path, Listening(token=TOKEN, proxy="127.0.0.2")) as url:
        with pytest.raises(UsageError, match="only the proxy may connect") as raised:
            ProjectClient(url, TOKEN).get("/queries")
        assert raised.value.hint == "give the URL of the proxy"
