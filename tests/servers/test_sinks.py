"""Sinks that are servers: every answer once in PostgreSQL, at least once and with an id everywhere else."""

from __future__ import annotations

import http.server
import json
import shutil
import threading
import time
from contextlib import contextmanager

import paho.mqtt.client as mqtt
import psycopg
import pytest
from confluent_kafka import Consumer

import transom
from tests.servers.start import make_topic, wait_for
from transom.errors import CheckpointError, UsageError
from transom.runtime.sinks import delivery
from transom.runtime.sinks.postgresql import copy_rows

pytestmark = pytest.mark.spark

CATALOG = """
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    source: {files: 'cars-*.csv'}
"""
QUERY = "RSTREAM(SELECT plate, COUNT(*) AS n FROM car [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY plate)"


@pytest.fixture
def query(tmp_path):
    for number in range(6):
        rows = "".join(f"{10 * number + second},p{second % 3},{second}\n" for second in range(10))
        (tmp_path / f"cars-{number}.csv").write_text("tick,plate,speed\n" + rows)
    return transom.compile(QUERY, transom.Catalog.read(CATALOG, folder=tmp_path))


def expected(query):
    return sorted((e.tick, *e.row) for e in query.simulate(until=55).elements)


def run(query, spark, sink, folder, until=55):
    running = query.start(spark, sink, folder / "state", until=until, once=True)
    running.wait()
    return running


@contextmanager
def failing_after(monkeypatch, name):
    """Deliver, and then fail before Spark knows of it: the micro-batch comes again."""
    was = getattr(delivery, name)

    def broken(*arguments):
        was(*arguments)
        raise UsageWarning

    with monkeypatch.context() as patched:
        patched.setattr(delivery, name, broken)
        yield


class UsageWarning(Exception):
    """What the test makes happen."""


def crash(query, spark, sink, folder, monkeypatch, name):
    from pyspark.errors import StreamingQueryException

    with failing_after(monkeypatch, name), pytest.raises(StreamingQueryException, match="UsageWarning"):
        run(query, spark, sink, folder)


@pytest.mark.covers("sink:postgresql")
def test_postgresql_exactly_once(query, spark, database, tmp_path, monkeypatch):
    place = f"127.0.0.1:{database}"
    sink = f"postgresql://test@{place}/postgres/public.answers"
    crash(query, spark, sink, tmp_path, monkeypatch, "_to_postgresql")
    crash(query, spark, sink, tmp_path, monkeypatch, "_to_postgresql")
    run(query, spark, sink, tmp_path)
    with psycopg.connect(f"postgresql://test@{place}/postgres") as one:
        rows = one.execute("SELECT extract(epoch FROM tick)::bigint - 1, plate, n FROM answers").fetchall()
        batches = one.execute("SELECT count(*), count(DISTINCT batch) FROM transom_batches").fetchone()
    assert sorted(rows) == expected(query)
    assert batches is not None
    assert batches[0] == batches[1] > 0


def test_a_table_with_other_columns_is_refused_before_the_start(query, spark, database, tmp_path):
    with psycopg.connect(f"postgresql://test@127.0.0.1:{database}/postgres") as connection:
        connection.execute('CREATE TABLE others (tick timestamptz, plate text, "how many" bigint)')
    sink = f"postgresql://test@127.0.0.1:{database}/postgres/public.others"
    with pytest.raises(UsageError, match=r"the table public\.others has no column n") as caught:
        run(query, spark, sink, tmp_path)
    assert caught.value.detail == "its columns are tick, plate, how many"
    assert not (tmp_path / "state").exists()


def test_a_database_ahead_of_its_checkpoint_is_refused(spark, database, tmp_path):
    """An older copy of the checkpoint is put back: its next micro-batch has a number that the table knows."""
    catalog = transom.Catalog.read(CATALOG, folder=tmp_path)
    query = transom.compile("SELECT plate, speed FROM car", catalog)
    place = f"127.0.0.1:{database}"
    sink, state = f"postgresql://test@{place}/postgres/public.plates", tmp_path / "state"

    def add(number):
        (tmp_path / f"cars-{number}.csv").write_text(f"tick,plate,speed\n{number},p{number},{number}\n")

    def found():
        with psycopg.connect(f"postgresql://test@{place}/postgres") as one:
            return sorted(row[0] for row in one.execute("SELECT plate FROM plates").fetchall())

    for number in range(2):
        add(number)
        if number:
            shutil.copytree(state, tmp_path / "copy")
        run(query, spark, sink, tmp_path, until=None)
    shutil.move(state, tmp_path / "newer")
    shutil.move(tmp_path / "copy", state)
    add(2)
    with pytest.raises(CheckpointError, match=r"the database is ahead of its checkpoint: .* has micro-batch 1"):
        run(query, spark, sink, tmp_path, until=None)
    shutil.rmtree(state)
    shutil.move(tmp_path / "newer", state)
    run(query, spark, sink, tmp_path, until=None)
    assert found() == ["p0", "p1", "p2"]


def letters_of(checkpoint):
    """The dead letters of a run's sink, and that nobody else can read them."""
    files = sorted((checkpoint / "dead_letters").iterdir())
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (checkpoint / "dead_letters").stat().st_mode & 0o777 == 0o700
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_postgresql_dead_letters(query, spark, database, tmp_path, monkeypatch):
    with psycopg.connect(f"host=127.0.0.1 port={database} user=test dbname=postgres", autocommit=True) as connection:
        connection.execute("CREATE TABLE narrow (tick timestamptz, plate varchar(9) CHECK (plate <> 'p1'), n smallint)")
        sink = f"postgresql://test@127.0.0.1:{database}/postgres/narrow"
        crash(query, spark, sink, tmp_path, monkeypatch, "_to_postgresql")
        run(query, spark, sink, tmp_path)
        written = connection.execute("SELECT plate, n FROM narrow ORDER BY tick, plate").fetchall()
    wanted = [row[1:] for row in expected(query)]
    assert written == [row for row in wanted if row[0] != "p1"]
    letters = letters_of(tmp_path / "state")
    assert [(one["row"]["plate"], one["row"]["n"]) for one in letters] == [row for row in wanted if row[0] == "p1"]
    assert "violates check constraint" in letters[0]["reason"]


def test_rows_that_table_refuses(database):
    values = [(1, "a"), (2, "b\0"), (3, "c"), (40_000, "d"), (5, "too long"), (None, "f"), (7, "\ud800"), (8, "h")]
    with psycopg.connect(f"host=127.0.0.1 port={database} user=test dbname=postgres") as connection:
        connection.execute("CREATE TEMPORARY TABLE t (n smallint NOT NULL, s varchar(3))")
        refused = copy_rows(psycopg, connection, psycopg.sql.SQL("COPY t (n, s) FROM STDIN"), ("n", "s"), values)
        assert connection.execute("SELECT n, s FROM t ORDER BY n").fetchall() == [(1, "a"), (3, "c"), (8, "h")]
    assert [one.row["s"] for one in refused] == ["b\0", "d", "too long", "f", "\ud800"]
    reasons = " | ".join(one.reason for one in refused)
    assert all(word in reasons for word in ("NUL", "out of range", "too long for type", "not-null", "surrogates"))


@pytest.mark.covers("sink:kafka")
def test_kafka_with_ids(query, spark, kafka, tmp_path, monkeypatch):
    place = f"127.0.0.1:{kafka}"
    make_topic(place, "answers")
    sink = f"kafka://{place}/answers"
    crash(query, spark, sink, tmp_path, monkeypatch, "_to_kafka")
    run(query, spark, sink, tmp_path)
    reader = Consumer({"bootstrap.servers": place, "group.id": "test", "auto.offset.reset": "earliest"})
    reader.subscribe(["answers"])
    rows, count, end = {}, 0, time.monotonic() + 20
    while time.monotonic() < end:
        message = reader.poll(2.0)
        if message is None and rows:
            break
        if message is not None and message.error() is None:
            count += 1
            rows[message.key()] = json.loads(message.value())
    reader.close()
    found = sorted((row["tick"], row["plate"], row["n"]) for row in rows.values())
    assert [row[1:] for row in found] == [row[1:] for row in expected(query)]
    assert count >= len(rows)
    assert found[0][0].endswith("Z")


@pytest.mark.covers("sink:mqtt")
def test_mqtt_with_ids(query, spark, broker, tmp_path, monkeypatch):
    monkeypatch.setenv("ALARM_WORD", "s3cret")
    heard = []
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.username_pw_set("eng", "s3cret")
    client.on_message = lambda _, __, message: heard.append(json.loads(message.payload))
    ready = threading.Event()
    client.on_subscribe = lambda *_: ready.set()
    client.connect("127.0.0.1", broker)
    client.subscribe("alarms/plates", qos=1)
    client.loop_start()
    assert ready.wait(10)
    sink = f"mqtt://eng:${{ALARM_WORD}}@127.0.0.1:{broker}/alarms/plates"
    crash(query, spark, sink, tmp_path, monkeypatch, "_to_mqtt")
    run(query, spark, sink, tmp_path)
    wanted = expected(query)
    wait_for(lambda: len({one["_id"] for one in heard}) >= len(wanted), 10, "the alarms")
    client.disconnect()
    client.loop_stop()
    once = {one["_id"]: (one["plate"], one["n"]) for one in heard}
    assert sorted(once.values()) == sorted(row[1:] for row in wanted)


class Hook(http.server.BaseHTTPRequestHandler):
    """A webhook that is often too busy, and that does not take the plate p1."""

    calls: list[tuple[str, dict[str, object]]]
    asked = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked += 1
        busy = type(self).asked % 5 == 0
        refused = not busy and body["plate"] == "p1"
        if not busy and not refused:
            self.calls.append((self.headers["Idempotency-Key"], body))
        self.send_response(503 if busy else 422 if refused else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.mark.covers("sink:webhook")
def test_webhook_with_ids(query, spark, tmp_path, monkeypatch):
    Hook.calls = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        sink = f"webhook:http://127.0.0.1:{server.server_address[1]}/alarm"
        crash(query, spark, sink, tmp_path, monkeypatch, "_to_webhook")
        running = run(query, spark, sink, tmp_path)
    finally:
        server.shutdown()
        server.server_close()
    once = {key: (body["plate"], body["n"]) for key, body in Hook.calls}
    wanted = sorted(row[1:] for row in expected(query))
    assert sorted(once.values()) == [row for row in wanted if row[0] != "p1"]
    letters = letters_of(tmp_path / "state")
    assert sorted((one["row"]["plate"], one["row"]["n"]) for one in letters) == [
        row for row in wanted if row[0] == "p1"
    ]
    assert {one["reason"] for one in letters} == {"status 422"}
    assert running.progress().refused == {"webhook sink: refused": len(letters)}
