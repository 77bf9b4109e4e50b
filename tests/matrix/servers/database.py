"""The fault of PostgreSQL: the server is killed after it has committed a micro-batch, and before it has said so."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from pyspark.errors import PySparkException

from examples.plant import servers
from tests.matrix.bench import SEED, Bench, Place, printed, unbalanced
from tests.matrix.faults import FAULTS, SAME
from tests.matrix.ledger import Record
from tests.matrix.plans import PLANS
from tests.servers.start import free_port
from tests.spark.kills.chaos import TICKS
from tests.spark.kills.chaos_child import begin
from tests.spark.running import others
from transom.errors import TransomError, Unavailable
from transom.runtime.failures import translate_error, unknown_error

COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"
"""The message with which PostgreSQL confirms a commit."""
STARTS = 10


class Database:
    """A cluster of PostgreSQL that can be killed and started again on the same port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.start()

    def start(self) -> None:
        servers.postgresql(self.folder, self.port, "test")

    def kill(self) -> None:
        """Kill the server; its other processes end when they notice."""
        process = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        os.kill(process, signal.SIGKILL)
        time.sleep(1)

    def rows(self, table: str) -> Counter[tuple[str, ...]]:
        """The rows of a table, as `others.found` gives those of a folder."""
        with psycopg.connect(f"host=127.0.0.1 port={self.port} user=test dbname=postgres") as one:
            return Counter(tuple(map(_text, row)) for row in one.execute(f"SELECT * FROM {table}").fetchall())


class Proxy:
    """Forwards connections to a server; once it is armed, it withholds the next confirmation of a commit.

    It then kills the server, closes the connection, and starts the server again.
    """

    def __init__(self, database: Database) -> None:
        self.armed, self.withheld = threading.Event(), threading.Event()
        self._database = database
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self._database.port))
                except OSError:
                    client.close()
                    continue
                threading.Thread(target=self._forward, args=(client, server, False), daemon=True).start()
                threading.Thread(target=self._forward, args=(server, client, True), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        restart = False
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if answers and COMMITTED in data and self.armed.is_set():
                    self.armed.clear()
                    self._database.kill()
                    self.withheld.set()
                    restart = True
                    break
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        if restart:
            self._database.start()

    def close(self) -> None:
        self._listener.close()


def run_cell(bench: Bench, database: Database, plan: str, fault: str) -> Record:
    """Run one cell: the run may end because the server is gone, and is then started again as a supervisor would."""
    (place,) = bench.fresh([PLANS[plan]])
    began, table = time.monotonic(), f"answers_{plan}"
    proxy = Proxy(database)
    sink = f"postgresql://test@127.0.0.1:{proxy.port}/postgres/public.{table}"
    outcome, said = SAME, ""
    try:
        for number in range(STARTS):
            error = _attempt(bench, place, sink, proxy if number == 0 else None)
            if error is None:
                break
            said = error.render()
            if not isinstance(error, Unavailable):
                outcome = f"ended with {type(error).__name__}"
                break
    finally:
        proxy.close()
    if not proxy.withheld.is_set():
        outcome = "no commit was withheld"
    found = database.rows(table)
    calm = others.found(place.root / "calm" / plan / "out")
    lost, more = list((calm - found).items())[:3], list((found - calm).items())[:3]
    wrong = f"missing are {lost}, too many are {more}" if lost or more else None
    return Record(
        plan,
        fault,
        FAULTS[fault].expected_of(plan),
        outcome,
        wrong or unbalanced(place),
        found.total(),
        printed(place.balances),
        round(time.monotonic() - began, 1),
        message=said.replace(str(bench.folder), "...").replace(str(proxy.port), "PORT"),
    )


def _attempt(bench: Bench, place: Place, sink: str, proxy: Proxy | None) -> TransomError | None:
    """Run a plan, and arm the proxy once the run has started; return the error that a user would see."""
    plan = place.plan
    try:
        running = begin(bench.spark, plan.shape, plan.kernel, SEED, TICKS, place.folder, sink)
        if proxy is not None:
            proxy.armed.set()
        running.wait()
    except TransomError as error:
        return error
    except PySparkException as error:
        return translate_error(error) or unknown_error(error)
    place.balances = running.progress().totals
    return None


def _text(value: Any) -> str:
    """A value as the text that PyArrow's values of the same column have."""
    return str(value.astimezone(UTC).replace(tzinfo=None)) if isinstance(value, datetime) else str(value)


@contextmanager
def running_database(folder: Path) -> Iterator[Database]:
    """A cluster for all cells of a session."""
    database = Database(folder)
    try:
        yield database
    finally:
        servers.stop_postgresql(folder)
