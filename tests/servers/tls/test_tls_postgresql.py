"""PostgreSQL with TLS, as a stored table and as a sink: `verify-full`, refused in words, or rows flow."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import psycopg
import pytest

from tests.servers.tls.secure import USER, WORD
from transom.catalog import Catalog
from transom.collector.sources.scan import Scanner
from transom.connectors.log.segments import SegmentLog
from transom.errors import UsageError
from transom.runtime.sinks.dead_letters import SinkDeadLetters
from transom.runtime.sinks.delivery import batch_delivery
from transom.runtime.sinks.sink import Sink

CASES = {
    "right": "",
    "other": "certificate verify failed",
    "expired": "certificate verify failed",
    "elsewhere": "does not match host name",
    "stranger": "password authentication failed",
}
TABLE = """
extents:
  tariff:
    declare: stored (zone:string, price:integer)
    source:
      postgresql:
        url: postgresql://{user}@127.0.0.1:{port}/postgres{query}
        table: tls_tariff
        every: 10 s
        password: ${{{word}}}
        {tls}
"""


@pytest.fixture
def words(monkeypatch):
    monkeypatch.setenv("RIGHT", WORD)
    monkeypatch.setenv("NO", "wrong")


@pytest.fixture
def showing(secure_database):
    """Shows the certificate of a case, and the right one afterwards."""
    yield lambda case: secure_database.show(case if case in ("expired", "elsewhere") else "right")
    secure_database.show("right")


def files(case, certificates):
    return certificates.other_ca if case == "other" else certificates.ca


def scanned(text, folder):
    """Whether a table could be read, its rows, and what was told."""
    tariff = Catalog.read(text, folder=folder).extents["tariff"]
    catalog = Catalog.read(text, folder=folder)
    with SegmentLog(folder / "log", tariff, segment_interval_seconds=0) as log:
        one = Scanner(tariff, tariff.source, log, catalog.calendar)
        return one.scan(0), one.counts["rows"], one.problem


def test_stored_table_over_tls(secure_database, showing, certificates, tmp_path, words):
    port = secure_database.port
    with psycopg.connect(f"postgresql://test@127.0.0.1:{port}/postgres", autocommit=True) as one:
        one.execute("CREATE TABLE IF NOT EXISTS tls_tariff (zone text, price integer)")
        one.execute("TRUNCATE tls_tariff")
        one.execute("INSERT INTO tls_tariff VALUES ('north', 3), ('south', 4)")
    for case, expected in CASES.items():
        showing(case)
        ca = files(case, certificates)
        for number, (query, tls) in enumerate(
            [("", f"tls: {{ca: '{ca}'}}"), (f"?sslmode=verify-full&sslrootcert={ca}", "")]
        ):
            word = "NO" if case == "stranger" else "RIGHT"
            text = TABLE.format(user=USER, port=port, query=query, word=word, tls=tls)
            done, rows, problem = scanned(text, tmp_path / f"{case}-{number}")
            assert (done, rows) == ((True, 2) if case == "right" else (False, 0)), (case, problem)
            assert expected in (problem or ""), (case, problem)
            assert WORD not in (problem or "")


@pytest.mark.spark
@pytest.mark.covers("tls:postgresql")
def test_sink_over_tls(secure_database, showing, certificates, spark, words, tmp_path):
    port, letters = secure_database.port, SinkDeadLetters(tmp_path, "postgresql")
    frame = spark.createDataFrame([(datetime(2024, 6, 1, tzinfo=UTC), "a", 1)], "tick timestamp, line string, n long")
    started = time.monotonic()
    for case, expected in CASES.items():
        showing(case)
        ca, word = files(case, certificates), "NO" if case == "stranger" else "RIGHT"
        for number, options in enumerate([f"sslmode=verify-full&sslrootcert={ca}", f"ca={ca}"]):
            text = f"postgresql://{USER}:${{{word}}}@127.0.0.1:{port}/postgres/tls_answers?{options}"
            deliver = batch_delivery(Sink.read(text), f"run-{number}", letters)
            if case == "right":
                deliver(frame, 0)
                continue
            with pytest.raises(UsageError) as refused:
                deliver(frame, 0)
            assert expected in str(refused.value), case
            assert WORD not in str(refused.value)
    assert time.monotonic() - started < 60  # what cannot succeed is not tried again
    with psycopg.connect(f"postgresql://test@127.0.0.1:{port}/postgres") as one:
        assert one.execute("SELECT line, n FROM tls_answers").fetchall() == [("a", 1), ("a", 1)]
        encrypted = f"host=127.0.0.1 port={port} dbname=postgres user={USER} password={WORD} sslmode=disable"
    with pytest.raises(psycopg.OperationalError):  # the server takes this user with TLS only
        psycopg.connect(encrypted)
