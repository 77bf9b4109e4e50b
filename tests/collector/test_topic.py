"""A log in Kafka, without a Kafka: how entries are written, and what the clients are told."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transom.catalog import Catalog
from transom.catalog.servers import KafkaTopic
from transom.catalog.tls import Tls
from transom.connectors.kafka.settings import java_settings, python_settings
from transom.connectors.log.columns import LogRecord, LogRecordKind, log_schema
from transom.connectors.log.encoding import decode_record, encode_record
from transom.connectors.log.segments import SegmentLog, segments
from transom.connectors.log.topic import topic_records
from transom.connectors.log.topic_writer import LARGEST_ENTRY, TopicLog
from transom.connectors.payloads import MAX_MESSAGE_BYTES
from transom.errors import DataError, UsageError
from transom.model.reject_reason import RejectReason

CAR = Catalog.read(
    "car: pushed (plate:string, speed:integer, at:timestamp, price:decimal, fast:boolean, weight:float, seen:time)"
).extents["car"]
NOW = datetime(2024, 6, 1, 12, 30, 15, 123456, tzinfo=UTC)
ROW = ('ü"\n\x00_', -(2**63), NOW, Decimal("0.10"), True, 1e-300, 7)
ENTRIES = [
    LogRecord(LogRecordKind.ROW, 5, NOW, ROW, "cars", "7:ab"),
    LogRecord(LogRecordKind.ROW, 5, NOW, (None,) * 7),
    LogRecord(LogRecordKind.ROW, 5, NOW, ("", 0, NOW.replace(microsecond=0, year=1), Decimal("-1E+3"), False, -0.0, 0)),
    LogRecord(LogRecordKind.ROW, 5, NOW, ("x", 1, None, Decimal("1" * 20 + "." + "1" * 18), None, float("-inf"), None)),
    LogRecord(LogRecordKind.HEARTBEAT, 6, NOW),
    LogRecord(LogRecordKind.DEAD, None, NOW, None, "cars", "8:cd", bytes(range(256)), RejectReason.BYTES, "no text"),
    LogRecord(LogRecordKind.GAP, 7, NOW, None, "plant:502", reason=RejectReason.DEADLINE, detail="site 1"),
]


def test_entries_are_read_as_from_a_segment(tmp_path):
    """The same values, whether an entry lies in a file or in a topic."""
    with SegmentLog(tmp_path, CAR, segment_interval_seconds=0) as log:
        log.append(ENTRIES)
    (path,) = segments(tmp_path)
    columns = log_schema(CAR).names
    written = [encode_record(CAR, number, entry) for number, entry in enumerate(ENTRIES)]
    assert [decode_record(CAR, raw, columns) for raw in written] == pq.read_table(path).to_pylist()


def test_what_an_entry_looks_like():
    found = json.loads(encode_record(CAR, 41, ENTRIES[3]))
    assert list(found)[:4] == ["_seq", "_kind", "_tick", "_at"]
    assert found["_seq"] == 41
    assert found["price"] == "1" * 20 + "." + "1" * 18
    assert (found["at"], found["weight"]) == (None, "-Infinity")
    beat = encode_record(CAR, 42, ENTRIES[4])
    assert beat == b'{"_seq":42,"_kind":"beat","_tick":6,"_at":"2024-06-01T12:30:15.123456+00:00"}'


VALUES = st.tuples(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.integers(-(2**63), 2**63 - 1),
    st.datetimes(timezones=st.just(UTC)),
    st.decimals(-(10**19), 10**19, places=18),
    st.booleans(),
    st.floats(allow_nan=False),
    st.integers(0, 2**63 - 1),
)


@given(VALUES)
def test_every_value_comes_back(row):
    found = decode_record(CAR, encode_record(CAR, 0, LogRecord(LogRecordKind.ROW, 1, NOW, row)), CAR.names)
    assert tuple(found.values()) == row
    assert [type(value) for value in found.values()] == [type(value) for value in row]


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"{}", b'{"_seq": "1", "_kind": "row"}', b'{"_seq": 1}', b"\xff"])
def test_what_is_no_entry(raw):
    with pytest.raises(ValueError, match=r"."):
        decode_record(CAR, raw, ["_tick"])


def test_the_largest_dead_message_fits():
    dead = LogRecord(
        LogRecordKind.DEAD,
        None,
        NOW,
        None,
        "t" * 65_535,
        "t",
        b"\xff" * MAX_MESSAGE_BYTES,
        RejectReason.SIZE,
        "\x00" * 1000,
    )
    assert len(encode_record(CAR, 2**62, dead)) < LARGEST_ENTRY / 4
    row = ("\x00" * MAX_MESSAGE_BYTES, *ROW[1:])
    assert (
        len(encode_record(CAR, 2**62, LogRecord(LogRecordKind.ROW, 1, NOW, row, "t" * 65_535)))
        < LARGEST_ENTRY - 100_000
    )


def test_both_clients_are_told_the_same(monkeypatch):
    monkeypatch.setenv("KEY", 'pass"word\\')
    options = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "eng"}
    place = KafkaTopic("a:1", "car", (*options.items(), ("sasl.password", "${KEY}"), ("ssl.ca.location", "/ca.pem")))
    assert python_settings(place) == {
        "bootstrap.servers": "a:1",
        **options,
        "sasl.password": 'pass"word\\',
        "ssl.ca.location": "/ca.pem",
    }
    assert java_settings(place) == {
        "bootstrap.servers": "a:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="eng" password="pass\\"word\\\\";',
        "ssl.truststore.location": "/ca.pem",
        "ssl.truststore.type": "PEM",
    }
    monkeypatch.setenv("JAAS", 'a.b.PlainLoginModule required username="me" password="p=1 \\"2";')
    given = KafkaTopic("a:1", "car", (("sasl.jaas.config", "${JAAS}"),))
    assert python_settings(given) == {"bootstrap.servers": "a:1", "sasl.username": "me", "sasl.password": 'p=1 "2'}
    assert java_settings(given)["sasl.jaas.config"].endswith('password="p=1 \\"2";')


def test_login_and_tls_for_both_clients(monkeypatch, tmp_path):
    monkeypatch.setenv("KEY", "pw")
    ca, own = tmp_path / "ca.pem", tmp_path / "own.pem"
    for path in (ca, own):
        path.write_text("")
    place = KafkaTopic("a:1", "car", (), "eng", "${KEY}", Tls(str(ca), str(own)))
    both = {"bootstrap.servers": "a:1", "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"}
    files = {"ssl.ca.location": str(ca), "ssl.certificate.location": str(own), "ssl.key.location": str(own)}
    assert python_settings(place) == {**both, **files, "sasl.username": "eng", "sasl.password": "pw"}
    stores = {"ssl.truststore.location": str(ca), "ssl.keystore.location": str(own)}
    kinds = {"ssl.truststore.type": "PEM", "ssl.keystore.type": "PEM"}
    found = java_settings(place)
    assert found.pop("sasl.jaas.config").endswith('ScramLoginModule required username="eng" password="pw";')
    assert found == {**both, **stores, **kinds}
    assert python_settings(KafkaTopic("a:1", "t", tls=Tls()))["security.protocol"] == "SSL"
    with pytest.raises(UsageError, match=r"cannot read .*nothing.pem"):
        python_settings(KafkaTopic("a:1", "t", tls=Tls(str(tmp_path / "nothing.pem"))))


def test_options_of_one_client_only():
    """Java's client would ignore what it does not know."""
    java = KafkaTopic("a:1", "t", (("security.protocol", "SSL"), ("ssl.truststore.location", "x.jks")))
    assert java_settings(java)["ssl.truststore.location"] == "x.jks"
    with pytest.raises(UsageError, match=r"ssl.truststore.location of Kafka's client for Java"):
        python_settings(java)
    pem = KafkaTopic("a:1", "t", (*java.options, ("ssl.truststore.type", "PEM")))
    assert python_settings(pem)["ssl.ca.location"] == "x.jks"
    python = KafkaTopic(
        "a:1", "t", (("security.protocol", "SSL"), ("ssl.key.location", "k"), ("ssl.crl.location", "c"))
    )
    with pytest.raises(UsageError, match=r"ssl.key.location of Kafka's client for Python"):
        java_settings(python)


def test_options_that_nobody_knows():
    with pytest.raises(UsageError, match=r"the options of kafka://127.0.0.1:1/car do not fit"):
        TopicLog(KafkaTopic("127.0.0.1:1", "car", (("colour", "red"),)), CAR)


def test_a_broker_that_is_away(monkeypatch):
    monkeypatch.setattr("transom.connectors.log.topic.PATIENCE", 0.2)
    place = KafkaTopic("127.0.0.1:1", "car")
    with pytest.raises(DataError, match=r"cannot read kafka://127.0.0.1:1/car"):
        list(topic_records(CAR, place, ["_kind"]))
    with pytest.raises(DataError, match=r"cannot read kafka://127.0.0.1:1/car"):
        TopicLog(place, CAR)
