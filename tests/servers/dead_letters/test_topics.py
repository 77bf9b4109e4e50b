"""Dead letters of a topic return to a real broker as they were, each once, also after kills, and with TLS."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from confluent_kafka import Producer

import transom
from tests.cli.test_app import transom as command
from tests.connectors.dead_letters.written import letter, write_file
from tests.servers.start import make_topic
from tests.servers.tls.secure import USER, WORD
from transom.connectors.dead_letters.record import RECORD
from transom.connectors.kafka.read import messages

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (line:string, watts:integer)
    lateness: 1 min
    source:
      kafka:
        servers: 127.0.0.1:{port}
        topic: {topic}
        dead: dead
        time: at
        {more}
"""
STAMP = 1_717_225_200_000
SENT = [
    (0, b"m1", b"{", [("trace", b"t1"), ("trace", None), ("x", b"\xff")]),
    (1, None, b'{"at": 5, "line": "a", "watts": "many"}', []),
    (1, b"\xff", b'{"at": 5, "line": "a", "watts": 3}', [("trace", b"t2")]),
    (0, b"m1", None, []),
    (0, b"m2", b'{"at": 6, "line": "b"}', []),
]


def write_catalog(folder, port, topic, more="options: {}"):
    (folder / "catalog.yaml").write_text(CATALOG.format(port=port, topic=topic, more=more))
    return transom.Catalog.load(folder / "catalog.yaml")


def content(catalog):
    """The messages of the topic, by partition and offset: all but their positions."""
    return [(m.partition, m.key, m.value, list(m.headers), m.stamp) for m in messages(catalog.extents["power"].source)]


@pytest.mark.spark
def test_from_a_run_back_to_the_topic(kafka, spark, tmp_path):
    """A run rejects four of five messages; they return to their partitions with key, headers, value and time."""
    place = f"127.0.0.1:{kafka}"
    make_topic(place, "resend-run", 2)
    catalog = write_catalog(tmp_path, kafka, "resend-run")
    sender = Producer({"bootstrap.servers": place})
    for number, (partition, key, value, headers) in enumerate(SENT):
        sender.produce("resend-run", value, key, partition, headers=headers, timestamp=STAMP + number)
    sender.flush(20)
    transom.compile("SELECT watts FROM power", catalog).start(
        spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "state", once=True
    ).wait()
    shown = command("dead-letters", cwd=tmp_path)
    counts = {" ".join(line.split()[:-4]) for line in shown.stdout.splitlines()[2:]}
    assert counts == {"power not JSON 2 0", "power wrong type 1 0", "power missing field 1 0"}, (
        shown.stdout + shown.stderr
    )
    before = content(catalog)
    broken = [one for one in before if one[2] != SENT[2][2]]

    dry = command("resend", "power", "--dry-run", cwd=tmp_path)
    assert dry.stdout == "power: 4 would be sent to resend-run (1 missing field, 2 not JSON, 1 wrong type)\n"
    assert content(catalog) == before
    some = command("resend", "power", "--reason", "wrong type", cwd=tmp_path)
    assert some.stdout == "power: 1 sent to resend-run (1 wrong type)\n"
    rest = command("resend", "power", cwd=tmp_path)
    assert rest.stdout == "power: 3 sent to resend-run (1 missing field, 2 not JSON); 1 were sent before\n"
    assert (some.returncode, rest.returncode, rest.stderr) == (0, 0, "")
    assert Counter(map(repr, content(catalog))) == Counter(map(repr, before + broken))

    make_topic(place, "resend-elsewhere", 1)
    other = command("resend", "power", "--to", "resend-elsewhere", cwd=tmp_path)
    assert other.stdout.startswith("power: 4 sent to resend-elsewhere")
    elsewhere = content(write_catalog(tmp_path, kafka, "resend-elsewhere"))
    assert sorted(map(repr, [one[1:] for one in elsewhere])) == sorted(map(repr, [one[1:] for one in broken]))

    kept = {path.name for path in (tmp_path / "dead").glob("*.parquet")}
    assert len(kept) == 2
    (tmp_path / "state").rename(tmp_path / "moved")  # without its checkpoint, nobody knows whether it is committed
    unknown = command("clean", "dead", "--older-than", "1 us", cwd=tmp_path)
    assert "0 dead letters in 0 files deleted" in unknown.stdout
    done = command("clean", "dead", "--older-than", "1 us", "--checkpoint", "moved", cwd=tmp_path)
    assert "4 dead letters in 2 files deleted" in done.stdout, done.stderr


def test_killed_between_the_broker_and_the_record(kafka, tmp_path):
    """Every message arrives; at most one portion arrives twice for each kill."""
    make_topic(f"127.0.0.1:{kafka}", "resend-kill", 1)
    catalog = write_catalog(tmp_path, kafka, "resend-kill")
    count, kills = 6_000, 0
    write_file(tmp_path / "dead", [letter(number, topic="resend-kill") for number in range(count)])
    record = tmp_path / "dead" / RECORD
    while True:
        lines = record.read_bytes().count(b"\n") if record.exists() else 0
        child = subprocess.Popen(
            [sys.executable, "-m", "transom", "resend", "power"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        while kills < 2 and child.poll() is None and record_lines(record) < lines + 500:
            time.sleep(0.001)
        if kills < 2:
            child.send_signal(signal.SIGKILL)
        said, _ = child.communicate()
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
        kills += 1
    assert kills == 2
    assert f"; {lines:,} were sent before" in said
    arrived = Counter(one[2] for one in content(catalog))
    assert set(arrived) == {b"v%d" % number for number in range(count)}
    assert sum(arrived.values()) - count <= kills * 500
    assert record_lines(record) == count


def record_lines(record):
    return record.read_bytes().count(b"\n") if record.exists() else 0


def test_with_tls_and_a_login_of_the_catalog(kafka, secure_kafka, certificates, tmp_path, monkeypatch):
    make_topic(f"127.0.0.1:{kafka}", "resend-tls", 1)
    write_file(tmp_path / "dead", [letter(1, topic="resend-tls")])
    monkeypatch.setenv("RIGHT", WORD)
    monkeypatch.setenv("NO", "wrong")
    for word, ca, code, words in (
        ("NO", certificates.ca, 1, "uthentication failed"),
        ("RIGHT", certificates.other_ca, 1, "unable to get local issuer certificate"),
        ("RIGHT", certificates.ca, 0, "power: 1 sent to resend-tls (1 wrong type)"),
    ):
        login = f"{{user: {USER}, password: '${{{word}}}', tls: {{ca: '{ca}'}}}}"
        write_catalog(tmp_path, secure_kafka["right"], "resend-tls", "\n        ".join(login[1:-1].split(", ")))
        result = command("resend", "power", cwd=tmp_path)
        assert result.returncode == code, result.stderr
        assert words in result.stdout + result.stderr
        assert WORD not in result.stdout + result.stderr


def test_a_topic_that_is_not_there_is_not_created(kafka, tmp_path):
    write_catalog(tmp_path, kafka, "resend-missing")
    write_file(tmp_path / "dead", [letter(1)])
    for _ in range(2):
        result = command("resend", "power", cwd=tmp_path)
        assert result.returncode == 1
        assert "no topic resend-missing at" in result.stderr
        assert "create it first" in result.stderr


def test_what_is_too_large_for_the_topic_is_named_and_the_rest_is_sent(kafka, tmp_path):
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{kafka}"})
    topic = NewTopic("resend-small", 1, 1, config={"max.message.bytes": "20000"})
    admin.create_topics([topic])["resend-small"].result(20)
    catalog = write_catalog(tmp_path, kafka, "resend-small")
    values = [b"x" * 1000] * 50 + [b"y" * 30_000] + [b"z"]  # fifty messages of 1 kB are more than one of 20 kB
    letters = [letter(number, topic="resend-small", value=value) for number, value in enumerate(values)]
    write_file(tmp_path / "dead", letters)
    result = command("resend", "power", cwd=tmp_path)
    assert result.returncode == 1
    assert "power: 51 sent to resend-small" in result.stdout
    assert "1 not sent: Broker: Message size too large" in result.stderr
    assert Counter(one[2][:1] for one in content(catalog)) == {b"x": 50, b"z": 1}
