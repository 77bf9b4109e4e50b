"""Real servers on this machine: Mosquitto, PostgreSQL and a Kafka of one node, each in a folder of its own.

What starts here runs on after the program that started it; whoever starts it stops it. A program that is not installed
is a FileNotFoundError.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def is_free(port: int) -> bool:
    """Whether a port can be listened on."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_HANDED_OUT: set[int] = set()


def free_port() -> int:
    """A port that nobody has, outside the range that the system gives to clients; no port is handed out twice."""
    while True:
        port = random.randrange(20_000, 28_000)
        if port not in _HANDED_OUT and is_free(port):
            _HANDED_OUT.add(port)
            return port


def wait_for(ready: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until something is so; an error names it otherwise."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} is not ready after {seconds} s")
        time.sleep(0.05)


def listens(port: int) -> bool:
    """Whether somebody listens on a port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
        return True
    return False


def program(name: str, *folders: str) -> str:
    """Where a program is."""
    path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", *folders]))
    if path is None:
        raise FileNotFoundError(name)
    return path


def detached(command: list[str], log: Path, **more: Any) -> subprocess.Popen[bytes]:
    """A process in a group of its own, whose words go to a file."""
    with open(log, "ab") as words:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=words, stderr=words, start_new_session=True, **more
        )


def mosquitto(folder: Path, port: int, user: str, word: str, more: str = "") -> subprocess.Popen[bytes]:
    """An MQTT broker that asks for a password and keeps sessions; `more` are further lines of its settings."""
    command = program("mosquitto")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([program("mosquitto_passwd"), "-b", "-c", str(folder / "passwd"), user, word], check=True)
    me = "user root\n" if os.geteuid() == 0 else ""
    (folder / "conf").write_text(
        f"{me}listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {folder}/passwd\npersistence true\n"
        f"persistence_location {folder}/\nmax_queued_messages 0\nmax_inflight_messages 200\n"
        + "".join(f"log_type {kind}\n" for kind in ("error", "warning", "notice", "information", "subscribe"))
        + more
    )
    broker = detached([command, "-c", str(folder / "conf")], folder / "log")
    wait_for(lambda: listens(port), 10, "mosquitto")
    return broker


def _as_postgres(command: list[str]) -> list[str]:
    """PostgreSQL does not run as root."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command


def _control(folder: Path, *words: str) -> None:
    bins = [str(path) for path in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    command = [program(words[0], *bins), "-D", str(folder / "data"), *words[1:]]
    subprocess.run(_as_postgres(command), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


def postgresql(folder: Path, port: int, user: str) -> None:
    """A database cluster in which one user may do everything; `stop_postgresql` stops it."""
    if not (folder / "data").exists():
        folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            for parent in [folder, *folder.parents][:5]:  # folders may be for their owner alone
                with contextlib.suppress(PermissionError):
                    parent.chmod(parent.stat().st_mode | 0o011)
        _control(folder, "initdb", "-A", "trust", "-U", user, "--no-sync")
    options = f"-p {port} -h 127.0.0.1 -k {folder}"
    _control(folder, "pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")


def stop_postgresql(folder: Path) -> None:
    """Stop it, as a power cut would: it recovers at the next start."""
    _control(folder, "pg_ctl", "-m", "immediate", "stop")


def jars(which: str, cache: Path) -> Path:
    """The jars that the pom.xml in a folder beside this file names, fetched once."""
    place = Path(os.environ.get("TRANSOM_JARS", cache)) / which
    if not any(place.glob("*.jar")):
        command = [program("mvn"), "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        subprocess.run([*command, f"-DoutputDirectory={place.absolute()}"], cwd=HERE / which, check=True, timeout=300)
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
log.retention.ms=-1
"""


def kafka(folder: Path, lib: Path, port: int, other: int, more: str = "") -> subprocess.Popen[bytes]:
    """A Kafka of one node, new or as it was in its folder; `other` is the port of its controller.

    `more` are lines of its settings, which count instead of earlier ones of the same name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "conf").write_text(KAFKA.format(port=port, other=other, folder=folder) + more)
    java = [program("java"), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{lib}/*"]
    form = [*java, "kafka.tools.StorageTool", "format", "--config", str(folder / "conf"), "--ignore-formatted"]
    if not (folder / "data").exists():
        with open(folder / "log", "ab") as log:
            subprocess.run([*form, "--cluster-id", "MkU3OEVBNTcwNTJENDM2Qk"], check=True, stdout=log, stderr=log)
    broker = detached([*java, "kafka.Kafka", str(folder / "conf")], folder / "log", cwd=folder)
    try:
        wait_for(lambda: listens(port), 60, "Kafka")
        wait_for(lambda: _answers(port), 30, "Kafka")
    except TimeoutError:
        broker.kill()
        raise
    return broker


def _answers(port: int) -> bool:
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        return bool(AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"}).list_topics(timeout=1).brokers)
    except KafkaException:
        return False


def make_topic(place: str, name: str, partitions: int = 2) -> None:
    """A topic of a Kafka."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": place})
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(20)
