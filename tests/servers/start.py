"""Real servers for the tests, each on a free port, in a folder of its own, and stopped by whoever started it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from examples.plant import servers
from examples.plant.servers import free_port, listens, make_topic, wait_for

__all__ = ["free_port", "jars", "kafka", "listens", "make_topic", "mosquitto", "postgresql", "wait_for"]


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Without a program the test is left out; where servers are wanted, CI has installed them."""
    try:
        yield
    except FileNotFoundError as error:
        if os.environ.get("TRANSOM_SERVERS_REQUIRED"):
            raise
        pytest.skip(f"{error} is not installed")


def ended(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and end it if it does not."""
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(15)


@contextlib.contextmanager
def mosquitto(folder: Path, user: str, word: str, more: str = "") -> Iterator[int]:
    """An MQTT broker that asks for a password and keeps sessions; its port. `more` are further settings."""
    port = free_port()
    with installed():
        broker = servers.mosquitto(folder, port, user, word, more)
    try:
        yield port
    finally:
        ended(broker)


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[int]:
    """A database cluster with the user `test`; its port."""
    port = free_port()
    with installed():
        servers.postgresql(folder, port, "test")
    try:
        yield port
    finally:
        servers.stop_postgresql(folder)


def jars(which: str, cache: Path) -> Path:
    """The jars of the broker, or of Spark's connector. One worker fetches them; the others wait for it."""
    turn = Path(tempfile.gettempdir()) / f"transom-jars-{os.getuid()}.lock"
    with installed(), turn.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return servers.jars(which, cache)


@contextlib.contextmanager
def kafka(folder: Path, lib: Path, listeners: Callable[[int, int], str] = lambda port, other: "") -> Iterator[int]:
    """A Kafka of one node; its port. `listeners` gives further settings for this port and that of the controller."""
    port, other = free_port(), free_port()
    with installed():
        broker = servers.kafka(folder, lib, port, other, listeners(port, other))
    try:
        yield port
    finally:
        ended(broker)
