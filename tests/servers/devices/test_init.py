"""First catalogs of real servers: each loads, and a query over it runs."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import paho.mqtt.client as mqtt
import psycopg
import pytest
from confluent_kafka import Producer
from typer.testing import CliRunner

import transom
from tests.servers.start import make_topic
from tests.servers.tls.secure import WORD
from tests.servers.tls.test_tls_mqtt import sending
from transom.catalog import Catalog
from transom.catalog.tls import Tls
from transom.cli.app import app

START = datetime(2024, 6, 1, 6, tzinfo=UTC)


def init(folder, *words):
    """What `transom init` says, with the error that it ends with, and the catalog that it wrote."""
    file = folder / "catalog.yaml"
    done = CliRunner().invoke(app, ["init", *words, "--output", str(file)])
    said = f"{done.output}{done.exception or ''}"
    assert (done.exit_code == 0) is file.exists(), said
    return said, file.read_text() if file.exists() else ""


def written(folder, *words):
    said, text = init(folder, *words)
    assert text, said
    return text


def simulated(folder, query, **more):
    return transom.compile(query, Catalog.load(folder / "catalog.yaml")).simulate(**more)


def test_kafka(kafka, tmp_path):
    place = f"127.0.0.1:{kafka}"
    make_topic(place, "plant.power")
    producer = Producer({"bootstrap.servers": place, "enable.idempotence": True})  # keeps the order of retries
    # 1,400 rows over two days: the sample is the end of them, and the first ones must fit as well
    for n in range(1400):
        at = START + timedelta(seconds=n if n < 200 else 2 * 86400 + n)
        content = {"at": at.isoformat(), "machine-no": f"m{n % 4}", "body": {"watts": n / 2}, "on": n % 2 == 0}
        content |= {"note": "rarely"} if n % 7 == 0 else {}
        producer.produce("plant.power", json.dumps(content).encode(), key=f"m{n % 4}")
    producer.produce("plant.power", b"{broken", key="m1")
    producer.flush(20)
    text = written(tmp_path, f"kafka://{place}/plant.power")
    [extent] = Catalog.read(text).extents.values()
    assert extent.declaration == "plant_power: pushed (machine_no:string, body_watts:float, on:boolean)"
    assert dict(extent.source.fields) == {"machine_no": "machine-no", "body_watts": "body.watts", "on": "on"}
    assert extent.source.time == "at"
    assert extent.keys == 4
    assert extent.rate.rows in range(115, 135)  # two per second, told as twice one
    assert "epoch: 2024-06-01T00:00:00Z  # a guess" in text
    assert "note, which" in text
    assert "1 of" in text
    found = simulated(tmp_path, "SELECT machine_no, body_watts FROM plant_power").elements
    assert len(found) == 1400
    assert found[0].tick == 6 * 3600
    assert found[0].row == ("m0", 0.0)


def test_kafka_that_is_away(kafka, tmp_path):
    said, text = init(tmp_path, f"kafka://127.0.0.1:{kafka}/nowhere")
    assert text == ""
    assert "no topic nowhere" in said
    make_topic(f"127.0.0.1:{kafka}", "silent")
    said, _ = init(tmp_path, f"kafka://127.0.0.1:{kafka}/silent")
    assert "the topic silent is empty" in said


@contextmanager
def publishing(broker, *messages):
    """Somebody who sends messages again and again: topic, and what a number makes of it."""
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.username_pw_set("eng", "s3cret")
    client.connect("127.0.0.1", broker)
    client.loop_start()
    done = threading.Event()

    def send():
        number = 0
        while not done.wait(0.05):
            for topic, make in messages:
                client.publish(topic, make(number), qos=1)
            number += 1

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        done.set()
        sender.join()
        client.disconnect()
        client.loop_stop()


def collected(folder, collector, query, count):
    """The rows that a query gives over what the collector took."""
    collector.start("--segment", "200 ms", MQTT_WORD="s3cret")
    end = time.monotonic() + 20
    while time.monotonic() < end:
        time.sleep(0.5)
        try:
            found = simulated(folder, query).elements
        except transom.errors.TransomError:
            continue
        if len(found) >= count:
            break
    said = collector.stop()
    return found, said


def test_mqtt(broker, tmp_path, monkeypatch, collector):
    monkeypatch.setenv("MQTT_WORD", "s3cret")

    def reading(n):
        return json.dumps({"ts": (START + timedelta(seconds=n)).isoformat(), "watts": n / 4})

    sent = [(f"plant/{line}/m{machine}/power", reading) for line in (1, 2) for machine in (1, 2)]
    address = f"mqtt://eng:${{MQTT_WORD}}@127.0.0.1:{broker}/plant/{{line}}/+/power"
    with publishing(broker, *sent):
        text = written(tmp_path, address, "--for", "2 s")
        [extent] = Catalog.read(text).extents.values()
        assert extent.declaration == "plant_power: pushed (line:integer, level3:string, watts:float)"
        assert extent.source.topic == "plant/{line}/{level3}/power"
        assert extent.source.time == "ts"
        assert extent.source.password == "${MQTT_WORD}"
        assert "s3cret" not in text
        assert "names of levels are guesses" in text
        found, _ = collected(tmp_path, collector, "SELECT line, level3, watts FROM plant_power", 8)
    assert {e.row[:2] for e in found} == {(line, f"m{machine}") for line in (1, 2) for machine in (1, 2)}
    assert all(e.row[2] == (e.tick - 6 * 3600) / 4 for e in found)


@pytest.mark.parametrize(
    ("payload", "make", "declared", "right"),
    [
        ("value", lambda n: str(20 + n / 8), "temp:float", lambda row: row[1] >= 20),
        (
            "senml",
            lambda n: json.dumps([{"bn": "urn:dev:", "n": "t", "v": 20 + n}, {"n": "hum", "v": 0.5}]),
            "t:integer, hum:float",
            lambda row: row[1] >= 20 and row[2] == 0.5,
        ),
    ],
)
def test_mqtt_of_other_payloads(broker, tmp_path, monkeypatch, collector, payload, make, declared, right):
    monkeypatch.setenv("MQTT_WORD", "s3cret")
    address = f"mqtt://eng:${{MQTT_WORD}}@127.0.0.1:{broker}/{payload}/{{room}}/temp"
    with publishing(broker, (f"{payload}/hall/temp", make)):
        text = written(tmp_path, address, "--for", "1 s")
        [extent] = Catalog.read(text).extents.values()
        assert extent.declaration == f"{payload}_temp: pushed (room:string, {declared})"
        assert f"payload: {payload}  # a guess" in text
        names = ", ".join(extent.names)
        found, said = collected(tmp_path, collector, f"SELECT {names} FROM {payload}_temp", 3)
    assert len(found) >= 3
    assert all(e.row[0] == "hall" and right(e.row) for e in found)
    assert "wrong" not in said


def test_mqtt_that_refuses(broker, tmp_path, monkeypatch):
    monkeypatch.setenv("MQTT_WORD", "wrong")
    said, text = init(tmp_path, f"mqtt://eng:${{MQTT_WORD}}@127.0.0.1:{broker}/a/b", "--for", "2 s")
    assert "refuses: Not authorized" in said
    assert text == ""
    assert "wrong" not in said
    said, _ = init(tmp_path, "mqtt://127.0.0.1:1/a/b", "--for", "1 s")
    assert "no broker at 127.0.0.1" in said


@pytest.fixture
def table(database):
    with psycopg.connect(f"postgresql://test@127.0.0.1:{database}/postgres", autocommit=True) as one:
        one.execute("DROP SCHEMA IF EXISTS plant CASCADE")
        one.execute("CREATE SCHEMA plant")
        one.execute(
            'CREATE TABLE plant.tariff (zone text, "valid-from" timestamptz, price numeric(10, 2), grid int, '
            "factor real, fixed boolean, since date, code uuid, PRIMARY KEY (zone, grid))"
        )
        one.execute(
            "INSERT INTO plant.tariff SELECT 'z' || n, '2024-06-01T06:00:00Z', n / 100.0, n, NULL, n % 2 = 0, "
            "'2024-06-01', gen_random_uuid() FROM generate_series(1, 700) n"
        )
        yield one


def test_postgresql(table, database, tmp_path, monkeypatch, collector):
    monkeypatch.setenv("PG_WORD", "trusted anyway")
    address = f"postgresql://test:${{PG_WORD}}@127.0.0.1:{database}/postgres/plant.tariff"
    text = written(tmp_path, address)
    [extent] = Catalog.read(text).extents.values()
    kinds = "price:decimal, grid:integer, factor:float, fixed:boolean, since:timestamp, code:string"
    assert extent.declaration == f"tariff: stored (zone:string, valid_from:timestamp, {kinds})"
    assert extent.rows == 1400
    assert "# its primary key: zone, grid" in text
    assert "password: ${PG_WORD}" in text
    assert "trusted" not in text
    assert "every: 1 min  # a guess" in text
    collector.start(PG_WORD="trusted anyway")
    end = time.monotonic() + 20
    while time.monotonic() < end and not any((tmp_path / "log").rglob("*.parquet")):
        time.sleep(0.2)
    collector.stop()
    last = Catalog.read(text).calendar.tick_of(datetime.now(UTC)) + 60
    found = simulated(tmp_path, "RSTREAM(SELECT zone, price, since FROM tariff [SCAN 1 MIN])", until=last).elements
    assert len({e.row for e in found}) == 700


def test_postgresql_that_refuses(database, tmp_path):
    said, _ = init(tmp_path, f"postgresql://test@127.0.0.1:{database}/postgres/nothing")
    assert "cannot read nothing" in said
    assert "does not exist" in said
    said, _ = init(tmp_path, f"postgresql://test:sesame@127.0.0.1:{database}/postgres/nothing")
    assert "secrets must not be written in an address" in said
    assert "sesame" not in said


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # paho leaves a socket to the collector
def test_mqtt_of_a_private_authority(secure_broker, certificates, tmp_path, monkeypatch):
    """The look verifies the broker, and the catalog names the same authority."""
    monkeypatch.setenv("TLS_WORD", WORD)
    address = f"mqtts://eng:${{TLS_WORD}}@127.0.0.1:{secure_broker['right']}/tls/numbers"
    with sending(secure_broker["right"], certificates.ca):
        said, text = init(tmp_path, f"{address}?ca={certificates.other_ca}", "--for", "1 s")
        assert text == ""
        assert "unable to get local issuer certificate" in said
        text = written(tmp_path, f"{address}?ca={certificates.ca}", "--for", "1 s")
    [extent] = Catalog.read(text).extents.values()
    assert extent.source.tls == Tls(str(certificates.ca))
    assert WORD not in text + said
