"""A run that takes over a table from another one: the older run writes until then, and never afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from transom.errors import CheckpointError, Fenced
from transom.runtime.sinks.postgresql_epochs import (
    HANDOVER_TABLE,
    LEDGER_TABLE,
    TableHandover,
    claim_epoch,
    read_handover,
    verify_epoch,
)
from transom.runtime.sinks.postgresql_takeover import TableTakeover, announce_takeover

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@contextmanager
def connected(port: int) -> Iterator[psycopg.Connection]:
    with psycopg.connect(f"postgresql://test@127.0.0.1:{port}/postgres") as connection:
        yield connection


class Older:
    """A run whose micro-batch n answers the ticks up to 10 n."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.run = uuid4().hex
        with connected(port) as connection:
            self.epoch = claim_epoch(connection, self.run)
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {LEDGER_TABLE} (run text, batch bigint, PRIMARY KEY (run, batch))"
            )

    def deliver(self, connection: psycopg.Connection, batch: int) -> None:
        verify_epoch(connection, self.run, self.epoch)
        connection.execute(f"INSERT INTO {LEDGER_TABLE} VALUES (%s, %s)", (self.run, batch))

    def delivered(self, batch: int) -> None:
        with connected(self.port) as connection:
            self.deliver(connection, batch)

    def taken_over_by(self, newer: str, told: list[int]) -> TableTakeover:
        """The takeover by a run whose micro-batch n answers the ticks up to n."""
        with connected(self.port) as connection:
            assert announce_takeover(connection, self.run, newer) == TableHandover(newer, None)
        end = lambda tick: EPOCH + timedelta(seconds=tick + 1)  # noqa: E731
        return TableTakeover(self.run, newer, lambda batch: 10 * batch, lambda batch: batch, end, told.append)


def test_the_older_run_writes_until_the_newer_one_has_caught_up(database: int) -> None:
    """After micro-batch 2 the older run has answered tick 20; the newer one has caught up with its micro-batch 21."""
    older = Older(database)
    told: list[int] = []
    takeover = older.taken_over_by("/new", told)
    older.delivered(1)
    with connected(database) as connection:
        assert takeover.answered_until(connection, 9) is None
    older.delivered(2)
    with connected(database) as connection:
        assert takeover.answered_until(connection, 19) is None
    assert told == []
    with connected(database) as connection:
        assert takeover.answered_until(connection, 21) == EPOCH + timedelta(seconds=21)
    assert told == [20]
    with pytest.raises(Fenced, match="was handed over to /new after tick 20"):
        older.delivered(3)
    with connected(database) as connection:
        assert takeover.answered_until(connection, 99) == EPOCH + timedelta(seconds=21)
    with (
        connected(database) as connection,
        pytest.raises(CheckpointError, match="was handed over to /new after tick 20"),
    ):
        claim_epoch(connection, older.run)
    with connected(database) as connection:
        assert announce_takeover(connection, older.run, "/third") == TableHandover("/new", 20)


def test_a_kill_after_the_hand_over_leaves_it_as_it_is(database: int) -> None:
    """The first rows are lost with their transaction, and written by the next start of the newer run."""
    older = Older(database)
    told: list[int] = []
    takeover = older.taken_over_by("/new", told)
    older.delivered(1)
    with connected(database) as connection:
        assert takeover.answered_until(connection, 12) == EPOCH + timedelta(seconds=11)
        connection.rollback()
    with pytest.raises(Fenced, match="was handed over to /new after tick 10"):
        older.delivered(2)
    end = lambda tick: EPOCH + timedelta(seconds=tick + 1)  # noqa: E731
    again = TableTakeover(older.run, "/new", lambda batch: 99, lambda batch: batch, end, told.append)
    with connected(database) as connection:
        assert again.answered_until(connection, 12) == EPOCH + timedelta(seconds=11)
    assert told == [10, 10]


def test_an_open_transaction_of_the_older_run_is_waited_for_and_counts(database: int) -> None:
    """The older run is about to commit tick 20 when the newer one, which has answered tick 15, would take over."""
    older = Older(database)
    told: list[int] = []
    takeover = older.taken_over_by("/new", told)
    older.delivered(1)
    with connected(database) as writing, connected(database) as connection:
        older.deliver(writing, 2)
        threading.Timer(0.3, writing.commit).start()
        assert takeover.answered_until(connection, 15) is None
    with connected(database) as connection:
        assert read_handover(connection, older.run) == TableHandover("/new", None)
        assert connection.execute(f"SELECT max(batch) FROM {LEDGER_TABLE} WHERE run = %s", (older.run,)).fetchone() == (
            2,
        )
    older.delivered(3)


def test_the_last_checkpoint_that_was_told_to_go_on_does(database: int) -> None:
    older = Older(database)
    told: list[int] = []
    first = older.taken_over_by("/first", told)
    second = older.taken_over_by("/second", told)
    older.delivered(1)
    with connected(database) as connection, pytest.raises(Fenced, match="no longer goes on after the run"):
        first.answered_until(connection, 50)
    with connected(database) as connection:
        assert second.answered_until(connection, 50) == EPOCH + timedelta(seconds=11)
    with connected(database) as connection:
        connection.execute(f"DELETE FROM {HANDOVER_TABLE} WHERE run = %s", (older.run,))
    with connected(database) as connection, pytest.raises(Fenced, match="names no run"):
        second.answered_until(connection, 60)
