"""Starts of one run that write the same table: a transaction of an earlier start is refused, or ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from transom.errors import Fenced
from transom.runtime.sinks.postgresql_epochs import claim_epoch, verify_epoch

RUN = "0123456789abcdef" * 2


@contextmanager
def connected(port: int) -> Iterator[psycopg.Connection]:
    with psycopg.connect(f"postgresql://test@127.0.0.1:{port}/postgres") as connection:
        yield connection


def claimed(port: int, run: str) -> int:
    with connected(port) as connection:
        return claim_epoch(connection, run)


def test_earlier_start_is_refused(database: int) -> None:
    first, other = claimed(database, f"{RUN}1"), claimed(database, f"f{RUN}")
    with connected(database) as connection:
        verify_epoch(connection, f"{RUN}1", first)
    second = claimed(database, f"{RUN}1")
    assert (first, second, other) == (1, 2, 1)
    with connected(database) as connection, pytest.raises(Fenced, match="was taken over by a newer run"):
        verify_epoch(connection, f"{RUN}1", first)
    with connected(database) as connection:
        verify_epoch(connection, f"{RUN}1", second)
        verify_epoch(connection, f"f{RUN}", other)  # another run, with a lock of its own


def test_open_transaction_of_an_earlier_start_is_ended(database: int) -> None:
    """Its process is stopped while it copies rows: what it has written never appears, and it holds up nobody."""
    run = f"2{RUN}"
    first = claimed(database, run)
    with connected(database) as setup:
        setup.execute("CREATE TABLE IF NOT EXISTS epochs_open (n bigint)")
    second = 0

    def copy(stopped: psycopg.Connection) -> None:
        nonlocal second
        with stopped.cursor() as cursor, cursor.copy("COPY epochs_open (n) FROM STDIN") as rows:
            rows.write_row((1,))
            began = time.monotonic()
            second = claimed(database, run)
            assert 0.5 < time.monotonic() - began < 10
            rows.write_row((2,))

    with connected(database) as stopped:
        verify_epoch(stopped, run, first)
        with pytest.raises(psycopg.OperationalError):
            copy(stopped)
    with connected(database) as connection:
        verify_epoch(connection, run, second)
        assert connection.execute("SELECT count(*) FROM epochs_open").fetchone() == (0,)


def test_transaction_that_ends_in_time_is_waited_for(database: int) -> None:
    run = f"3{RUN}"
    first = claimed(database, run)
    with connected(database) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS epochs_ended (n bigint)")
        connection.commit()
        verify_epoch(connection, run, first)
        connection.execute("INSERT INTO epochs_ended VALUES (1)")
        threading.Timer(0.3, connection.commit).start()
        assert claimed(database, run) == 2
        assert connection.execute("SELECT count(*) FROM epochs_ended").fetchone() == (1,)


def test_earlier_start_does_not_end_the_transaction_of_a_newer_one(database: int) -> None:
    run = f"4{RUN}"
    first, second = claimed(database, run), claimed(database, run)
    with connected(database) as newer, connected(database) as older:
        verify_epoch(newer, run, second)
        with pytest.raises(Fenced):
            verify_epoch(older, run, first)
        assert newer.execute("SELECT 1").fetchone() == (1,)
