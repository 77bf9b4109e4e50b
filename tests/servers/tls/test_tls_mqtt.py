"""MQTT with TLS against Mosquitto, as a source and as a sink: refused in words, or messages flow."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import paho.mqtt.client as mqtt
import pytest

from tests.servers.start import wait_for
from tests.servers.tls.secure import USER, WORD
from tests.servers.tls.secure_cases import CASES, cases, check
from transom.catalog import Catalog
from transom.errors import UsageError
from transom.runtime.sinks import delivery
from transom.runtime.sinks.dead_letters import SinkDeadLetters
from transom.runtime.sinks.mqtt import Broker

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""paho leaves the socket of a failed handshake to the garbage collector."""
METER = """
  {case}:
    declare: pushed (number:integer)
    source:
      mqtt:
        broker: mqtts://127.0.0.1:{port}
        topic: tls/numbers
        user: eng
        password: ${{{word}}}
        client: tls-{case}
        tls: {{ca: '{ca}'}}
"""


@contextmanager
def connected(port: int, ca: Any, certificate: Any = None) -> Iterator[mqtt.Client]:
    """A client of our own at a listener."""
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    context = ssl.create_default_context(cafile=ca)
    if certificate is None:
        client.username_pw_set(USER, WORD)
    else:
        context.load_cert_chain(certificate)
    client.tls_set_context(context)
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        yield client
    finally:
        client.disconnect()
        client.loop_stop()


@contextmanager
def sending(port: int, ca: Any) -> Iterator[None]:
    """Somebody who sends the same message again and again."""
    done = threading.Event()

    def send(client: mqtt.Client) -> None:
        while not done.wait(0.1):
            client.publish("tls/numbers", b'{"number": 7}', qos=1)

    with connected(port, ca) as client:
        sender = threading.Thread(target=send, args=(client,))
        sender.start()
        try:
            yield
        finally:
            done.set()
            sender.join()


@pytest.mark.covers("tls:mqtt")
def test_broker_is_verified(secure_broker, certificates, tmp_path, monkeypatch):
    with sending(secure_broker["right"], certificates.ca):
        text = cases(METER, secure_broker, certificates)
        check(text, tmp_path, monkeypatch, (7,), "the broker refuses: (Not authorized|Bad user name)")


ROWS = [("id-1", '{"n":1}'), ("id-2", '{"n":2}')]


def test_sink_verifies_the_broker(secure_broker, certificates, tmp_path, monkeypatch):
    """What is delivered goes over TLS; an attempt that cannot succeed is not repeated."""
    monkeypatch.setenv("RIGHT", WORD)
    monkeypatch.setenv("NO", "wrong")
    heard: list[str] = []
    letters = SinkDeadLetters(tmp_path, "mqtt")

    def send(address: str) -> None:
        delivery._to_mqtt(Broker(address), ROWS, 0, letters)

    def sink(case: str) -> str:
        word, port = "NO" if case == "stranger" else "RIGHT", secure_broker.get(case, secure_broker["right"])
        ca = certificates.other_ca if case == "other" else certificates.ca
        return f"mqtts://{USER}:${{{word}}}@127.0.0.1:{port}/tls/answers?ca={ca}"

    with connected(secure_broker["right"], certificates.ca) as client:
        client.on_message = lambda _, __, message: heard.append(json.loads(message.payload)["_id"])
        ready = threading.Event()
        client.on_subscribe = lambda *_: ready.set()
        client.subscribe("tls/answers", qos=1)
        assert ready.wait(20)
        started = time.monotonic()
        for case, words in CASES.items():
            if case == "right":
                send(sink(case))
                continue
            with pytest.raises(UsageError) as refused:
                send(sink(case))
            said = str(refused.value)
            assert (words or "the broker 127.0.0.1 refuses") in said
            assert WORD not in said
        assert time.monotonic() - started < 30
        mutual = f"mqtts://127.0.0.1:{secure_broker['mutual']}/tls/answers?ca={certificates.ca}"
        files = f"certificate={certificates.client.with_suffix('.crt')}&key={certificates.client.with_suffix('.key')}"
        send(f"{mutual}&{files}")
        end = time.monotonic() + 20
        while len(heard) < 4 and time.monotonic() < end:
            time.sleep(0.05)
    assert sorted(heard) == ["id-1", "id-1", "id-2", "id-2"]
    assert not letters.folder.exists()


def test_collector_shows_a_certificate(secure_broker, certificates, collector):
    """A broker that wants a certificate instead of a password."""
    catalog = METER.format(case="mutual", port=secure_broker["mutual"], ca=certificates.ca, word="NOBODY")
    catalog = catalog.replace("        user: eng\n        password: ${NOBODY}\n", "")
    catalog = catalog.replace("}\n", f", certificate: '{certificates.client}'}}\n")
    collector.catalog("extents:" + catalog)
    assert Catalog.load(collector.folder / "catalog.yaml").extents["mutual"].source.tls.certificate
    with sending(secure_broker["right"], certificates.ca):
        collector.start("--segment", "100 ms")
        log = collector.folder / "log/mutual"
        wait_for(lambda: log.is_dir() and collector.kinds("mutual")["row"] > 0, 60, "rows")
    collector.stop()
