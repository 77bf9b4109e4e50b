"""Real servers for the tests, each on a free port, in a folder of its own, and stopped by whoever started it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(ready: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until something is so; an error names it otherwise."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} is not ready after {seconds} s")
        time.sleep(0.05)


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
        return True
    return False


def found(name: str, *folders: str) -> str:
    """A program, or the test is left out; where servers are wanted, CI has installed them."""
    path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", *folders]))
    if path is None:
        if os.environ.get("TRANSOM_SERVERS_REQUIRED"):
            raise FileNotFoundError(name)
        pytest.skip(f"{name} is not installed")
    return path


@contextlib.contextmanager
def mosquitto(folder: Path, user: str, word: str) -> Iterator[int]:
    """An MQTT broker that asks for a password and keeps sessions; its port."""
    program, port = found("mosquitto"), free_port()
    folder.mkdir()
    subprocess.run([found("mosquitto_passwd"), "-b", "-c", str(folder / "passwd"), user, word], check=True)
    me = "user root\n" if os.geteuid() == 0 else ""
    (folder / "conf").write_text(
        f"{me}listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {folder}/passwd\npersistence true\n"
        f"persistence_location {folder}/\nmax_queued_messages 0\nmax_inflight_messages 200\n"
    )
    with open(folder / "log", "wb") as log:
        broker = subprocess.Popen([program, "-c", str(folder / "conf")], stdout=log, stderr=log)
    try:
        wait_for(lambda: listens(port), 10, "mosquitto")
        yield port
    finally:
        broker.terminate()
        broker.wait(10)


def as_postgres(command: list[str]) -> list[str]:
    """PostgreSQL does not run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[int]:
    """A database cluster with the user `test`; its port."""
    bins = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    initdb, control, port = found("initdb", *bins), found("pg_ctl", *bins), free_port()
    folder.mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
        for parent in [folder, *folder.parents][:4]:  # pytest's folders are for their owner alone
            with contextlib.suppress(PermissionError):
                parent.chmod(parent.stat().st_mode | 0o011)
    data = str(folder / "data")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    subprocess.run(as_postgres([initdb, "-D", data, "-A", "trust", "-U", "test", "--no-sync"]), check=True, **quiet)
    options = f"-p {port} -h 127.0.0.1 -k {folder}"
    start = [control, "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start"]
    subprocess.run(as_postgres(start), check=True, **quiet)
    try:
        yield port
    finally:
        subprocess.run(as_postgres([control, "-D", data, "-m", "immediate", "stop"]), check=True, **quiet)


def jars(which: str, cache: Path) -> Path:
    """The jars that a pom.xml of this directory names, fetched once."""
    place = Path(os.environ.get("TRANSOM_JARS", cache)) / which
    if not any(place.glob("*.jar")):
        command = [found("mvn"), "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        here = Path(__file__).parent / which
        subprocess.run([*command, f"-DoutputDirectory={place}"], cwd=here, check=True, timeout=300)
    return place


KAFKA = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{other}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{other}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={folder}/data
num.partitions=2
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""


@contextlib.contextmanager
def kafka(folder: Path, lib: Path) -> Iterator[int]:
    """A Kafka of one node; its port."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    folder.mkdir()
    port = free_port()
    (folder / "conf").write_text(KAFKA.format(port=port, other=free_port(), folder=folder))
    java = [found("java"), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{lib}/*"]
    form = [*java, "kafka.tools.StorageTool", "format", "--config", str(folder / "conf"), "--ignore-formatted"]
    with open(folder / "log", "wb") as log:
        subprocess.run([*form, "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qk"], check=True, stdout=log, stderr=log)
        broker = subprocess.Popen([*java, "kafka.Kafka", str(folder / "conf")], stdout=log, stderr=log, cwd=folder)

    def ready() -> bool:
        try:
            return bool(AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"}).list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    try:
        wait_for(lambda: listens(port), 60, "Kafka")
        wait_for(ready, 30, "Kafka")
        yield port
    finally:
        broker.terminate()
        try:
            broker.wait(15)
        except subprocess.TimeoutExpired:
            broker.kill()
            broker.wait(15)


def make_topic(place: str, name: str, partitions: int = 2) -> None:
    """A topic of a Kafka."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": place})
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(20)
