"""TLS of what is polled and pushed: OPC UA, HTTPS devices, and the receiver; refused in words, or rows flow."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import http.server
import json
import ssl
import threading
from collections.abc import Iterator
from typing import ClassVar

import httpx
import pytest
from asyncua import Server, ua
from asyncua.crypto.permission_rules import User, UserRole
from asyncua.server.user_managers import UserManager

from tests.servers.start import free_port, listens, wait_for
from tests.servers.tls.secure import DOORS, USER, WORD
from tests.servers.tls.secure_cases import CASES, cases, check
from transom.errors import UsageError
from transom.runtime.sinks import delivery
from transom.runtime.sinks.dead_letters import SinkDeadLetters

TANK = """
  {case}:
    declare: sensed (site:string, level:float) RATE 2 S SITES ('a')
    source:
      opcua:
        server: opc.tcp://127.0.0.1:{port}/
        nodes: {{level: 'ns=2;s={{site}}.level'}}
        deadline: 1900 ms
        user: eng
        password: ${{{word}}}
        tls: {{ca: '{ca}', certificate: '{client}'}}
"""
ROOM = """
  {case}:
    declare: sensed (site:integer, temp:integer) RATE 1 S SITES (1)
    source:
      http:
        server: https://127.0.0.1:{port}/{{site}}
        headers: {{Authorization: 'Bearer ${{{word}}}'}}
        deadline: 900 ms
        tls: {{ca: '{ca}'}}
"""


class Known(UserManager):
    """Knows one user."""

    def get_user(self, iserver, username=None, password=None, certificate=None):
        right = username == USER and password in (WORD, WORD.encode())
        return User(role=UserRole.User) if right else None


async def tanks(port: int, shown) -> Server:
    """A server that takes signed and encrypted sessions only."""
    server = Server(user_manager=Known())
    await server.init()
    server.set_endpoint(f"opc.tcp://127.0.0.1:{port}/")
    server.set_security_policy([ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt])
    await server.set_application_uri(f"urn:transom:tests:{shown.stem}")
    await server.load_certificate(str(shown.with_suffix(".crt")), "pem")
    await server.load_private_key(str(shown.with_suffix(".key")), format="pem")
    await server.register_namespace("urn:tanks")
    await server.nodes.objects.add_variable(ua.NodeId("a.level", 2), "a.level", 0.25)
    await server.start()
    return server


@pytest.fixture(scope="module")
def secure_tanks(certificates) -> Iterator[dict[str, int]]:
    """The ports of OPC UA servers by the certificate that they show, in a thread of their own."""
    ports = {door: free_port() for door in DOORS}
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def begin() -> list[Server]:
        return [await tanks(port, getattr(certificates, door)) for door, port in ports.items()]

    async def end(servers: list[Server]) -> None:
        for one in servers:
            await one.stop()

    servers = asyncio.run_coroutine_threadsafe(begin(), loop).result(200)
    yield ports
    asyncio.run_coroutine_threadsafe(end(servers), loop).result(200)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.covers("tls:opcua")
def test_opcua_signs_and_encrypts(secure_tanks, certificates, tmp_path, monkeypatch):
    text = cases(TANK, secure_tanks, certificates)
    refused = "BadUserAccessDenied|BadIdentityTokenRejected"
    check(text, tmp_path, monkeypatch, ("a", 0.25), refused)


class Room(http.server.BaseHTTPRequestHandler):
    """A device that asks for a token."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        right = self.headers["Authorization"] == f"Bearer {WORD}"
        body = json.dumps({"temp": 21}).encode()
        self.send_response(200 if right else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def https(shown, handler=Room) -> Iterator[int]:
    """A server with a certificate; its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.handle_error = lambda *_: None  # clients that hang up in the handshake
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.covers("tls:http")
def test_https_device_is_verified(certificates, tmp_path, monkeypatch):
    with contextlib.ExitStack() as servers:
        ports = {door: servers.enter_context(https(getattr(certificates, door))) for door in DOORS}
        check(cases(ROOM, ports, certificates), tmp_path, monkeypatch, (1, 21), "status 401")


class Hook(http.server.BaseHTTPRequestHandler):
    """A webhook that asks for a user and a password."""

    paths: ClassVar[list[str]] = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        given = self.headers.get("Authorization", "").removeprefix("Basic ")
        right = base64.b64decode(given) == f"{USER}:{WORD}".encode()
        if right:
            self.paths.append(self.path)
        self.send_response(204 if right else 401)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_webhook_is_verified(certificates, monkeypatch, tmp_path):
    letters = SinkDeadLetters(tmp_path, "webhook")
    monkeypatch.setenv("RIGHT", WORD)
    monkeypatch.setenv("NO", "wrong")
    Hook.paths.clear()
    with contextlib.ExitStack() as servers:
        ports = {door: servers.enter_context(https(getattr(certificates, door), Hook)) for door in DOORS}
        for case, words in CASES.items():
            ca = certificates.other_ca if case == "other" else certificates.ca
            word = "NO" if case == "stranger" else "RIGHT"
            sink = f"https://{USER}:${{{word}}}@127.0.0.1:{ports.get(case, ports['right'])}/a?b=c#ca={ca}"
            if case == "right":
                delivery._to_webhook(sink, [("id-1", "{}")], 0, letters)
                continue
            with pytest.raises(UsageError) as refused:
                delivery._to_webhook(sink, [("id-1", "{}")], 0, letters)
            assert (words or "status 401") in str(refused.value)
            assert WORD not in str(refused.value)
    assert Hook.paths == ["/a?b=c"]


CAR = """
  {door}:
    declare: pushed (plate:string, speed:integer)
    source:
      http: {{listen: '127.0.0.1:{port}', token: '${{CARS_WORD}}', tls: {{{tls}}}}}
"""


ROW = {"plate": "a", "speed": 50}


def posted(url: str, context: ssl.SSLContext, word: str = WORD) -> int:
    headers = {"Authorization": f"Bearer {word}"}
    return httpx.post(url, json=ROW, headers=headers, verify=context, timeout=20).status_code


@pytest.mark.covers("tls:http push")
def test_receiver_shows_its_certificate(collector, certificates):
    """Whoever sends can verify the receiver, and is asked for the token; one receiver asks for a certificate."""
    files = {door: f"certificate: '{getattr(certificates, door)}'" for door in DOORS}
    right = certificates.right
    files["right"] = f"certificate: '{right.with_suffix('.crt')}', key: '{right.with_suffix('.key')}'"
    files["mutual"] = f"{files['right']}, ca: '{certificates.ca}'"
    ports = {door: free_port() for door in files}
    extents = [CAR.format(door=door, port=port, tls=files[door]) for door, port in ports.items()]
    collector.catalog("extents:" + "".join(extents))
    collector.start("--segment", "100 ms", CARS_WORD=WORD)
    wait_for(lambda: all(listens(port) for port in ports.values()), 90, "the collector")
    url = {door: f"https://127.0.0.1:{port}/" for door, port in ports.items()}
    known = ssl.create_default_context(cafile=certificates.ca)
    assert posted(url["right"], known) == 200
    assert posted(url["right"], known, "no") == 401
    for door, words in (("expired", "expired"), ("elsewhere", "mismatch")):
        with pytest.raises(httpx.ConnectError, match=words):
            posted(url[door], known)
    with pytest.raises(httpx.ConnectError, match="local issuer"):
        posted(url["right"], ssl.create_default_context(cafile=certificates.other_ca))
    with pytest.raises(httpx.HTTPError):
        httpx.post(url["right"].replace("https", "http"), json=ROW, timeout=20)
    with pytest.raises(httpx.HTTPError):
        posted(url["mutual"], known)
    known.load_cert_chain(certificates.client)
    assert posted(url["mutual"], known) == 200
    said = collector.stop()
    assert "right: listening on" in said
    assert "with TLS" in said
    assert WORD not in said
    expected = {"right": 1, "expired": 0, "elsewhere": 0, "mutual": 1}
    assert {door: collector.kinds(door)["row"] for door in ports} == expected
