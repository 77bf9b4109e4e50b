"""A plant, up and down: `python -m examples.plant.plant up` starts everything and says where it is, `down` stops it.

Devices, servers, the collector and one `transom run` per query are processes of their own, which run on by themselves.
All that they keep is in one folder, build/plant unless named: pids, catalog, queries, logs, checkpoints and records.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import transom
from examples.plant import servers
from examples.plant.layout import HERE, PASSWORD, QUERIES, USER, Layout
from transom.catalog.catalog import Catalog
from transom.connectors.log.segments import segments

ROOT = HERE.parents[1]
WORD = "s3cret"
SENDERS = ("machines", "meters")
PROCESSES = ("devices", "collector", *SENDERS, *QUERIES)
SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Plant:
    """The processes of a plant in a folder; any program may take over what another one started."""

    def __init__(self, folder: Path, cache: Path | None = None, collected: Sequence[str] = ()) -> None:
        self.folder = folder.absolute()
        self.collected = collected
        self.cache = cache or self.folder.parent / "jars"
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def layout(self) -> Layout:
        """What the plant looks like."""
        return Layout.read(self.folder)

    @property
    def catalog(self) -> Catalog:
        """Its catalog."""
        return Catalog.load(self.folder / "catalog.yaml")

    def query(self, name: str) -> transom.Query:
        """One of its queries."""
        return transom.compile((self.folder / f"{name}.sneeql").read_text("utf-8"), self.catalog)

    @property
    def start_tick(self) -> int:
        """The tick at which the queries begin."""
        return int((self.folder / "start").read_text())

    # what is started

    def serve(self, layout: Layout) -> None:
        """Write catalog and queries, start the servers, and make the topics and the tariff."""
        layout.write(self.folder)
        tick = self.catalog.calendar.tick_of(datetime.now(UTC))
        (self.folder / "start").write_text(str(tick - tick % layout.hour))
        self._started("mqtt", servers.mosquitto(self.folder / "mqtt", layout.port("mqtt"), USER, WORD))
        servers.postgresql(self.folder / "postgresql", layout.port("postgresql"), USER)
        self.broker()
        for topic, partitions in (("meters", 1), ("alarms", 2)):
            servers.make_topic(f"127.0.0.1:{layout.port('kafka')}", topic, partitions)
        with self.database() as one:
            one.execute("CREATE TABLE tariff (line text PRIMARY KEY, price double precision)")
            one.execute("INSERT INTO tariff SELECT 'l' || n, 0.25 FROM generate_series(1, %s) n", (layout.lines,))

    def broker(self) -> None:
        """Start the Kafka, anew or as it was."""
        lib = servers.jars("broker", self.cache)
        ports = self.layout.port("kafka"), self.layout.port("controller")
        self._started("kafka", servers.kafka(self.folder / "kafka", lib, *ports))

    def database(self) -> Any:
        """A connection to the database of the plant."""
        import psycopg

        return psycopg.connect(self.layout.database(), autocommit=True)

    def start(self, *names: str) -> None:
        """Start some processes."""
        for name in names:
            more = {PASSWORD: WORD, "SPARK_LOCAL_IP": "127.0.0.1"}
            if name in QUERIES:
                jars = ",".join(map(str, sorted(servers.jars("connector", self.cache).glob("*.jar"))))
                more["PYSPARK_SUBMIT_ARGS"] = f'--jars {jars} --driver-java-options "{SHORT}" pyspark-shell'
            environment = {**os.environ, **more}
            environment.pop("PYSPARK_GATEWAY_PORT", None)
            (self.folder / "words").mkdir(exist_ok=True)
            log = self.folder / "words" / name
            self._started(name, servers.detached(self._command(name), log, cwd=ROOT, env=environment))

    def _command(self, name: str) -> list[str]:
        here, catalog = str(self.folder), str(self.folder / "catalog.yaml")
        match name:
            case "devices":
                return [sys.executable, "-m", "examples.plant.devices", here]
            case "machines" | "meters":
                how = "mqtt" if name == "machines" else "kafka"
                return [sys.executable, "-m", "examples.plant.publish", here, how]
            case "collector":
                words = ["collect", "-c", catalog, "--segment", "500 ms", *self.collected]
                return [sys.executable, "-m", "transom", *words]
        words = ["run", str(self.folder / f"{name}.sneeql"), "-c", catalog, "--output", self.layout.sink(name)]
        words += ["--checkpoint", str(self.folder / "checkpoint" / name), "--start", str(self.start_tick)]
        return ["nice", "-n", "10", sys.executable, "-m", "transom", *words]  # readings have to be taken in time

    def acquiring(self) -> bool:
        """Whether every log has something in it, and the broker keeps for the collector what machines send."""
        logs = self.folder / "log"
        heard = "plant/+/vibration" in (self.folder / "mqtt" / "log").read_text("utf-8", "replace")
        return heard and all(segments(logs / name) for name in ("oven", "tank", "room", "vibration", "tariff"))

    # what runs

    def _started(self, name: str, process: subprocess.Popen[bytes]) -> None:
        self._children[name] = process
        (self.folder / "pids").mkdir(exist_ok=True)
        (self.folder / "pids" / name).write_text(f"{process.pid} {_born(process.pid)}")

    def pid(self, name: str) -> int | None:
        """The process of a name, if it runs; a number that another process has by now is none."""
        child = self._children.get(name)
        if child is not None and child.poll() is not None:
            return None
        try:
            number, born = (self.folder / "pids" / name).read_text().split()
        except OSError:
            return None
        if _born(int(number)) == int(born):
            return int(number)
        if child is not None:
            child.poll()  # it has ended since the first poll, and must not stay a zombie
        return None

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        """A signal to a process and all that it started; after SIGKILL it is gone."""
        pid = self.pid(name)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, how)
        if how == signal.SIGKILL:
            servers.wait_for(lambda: self.pid(name) is None, 20, f"the end of {name}")

    def end(self, name: str, seconds: float = 15.0) -> None:
        """Ask a process to end, and end it if it does not."""
        self.kill(name, signal.SIGTERM)
        try:
            servers.wait_for(lambda: self.pid(name) is None, seconds, name)
        except TimeoutError:
            self.kill(name)

    def up(self, layout: Layout) -> None:
        """Start all of it, and see that it runs."""
        taken = [str(layout.port(name)) for name in layout.names if not servers.is_free(layout.port(name))]
        if taken:
            sys.exit(
                f"somebody else has port {', '.join(taken)}: free it, or choose others in examples/plant/layout.py"
            )
        self.serve(layout)
        self.start("devices")
        self._wait_for(lambda: all(servers.listens(layout.port(name)) for name in layout.asked), 30, "devices")
        self.start("collector")
        self._wait_for(self.acquiring, 60, "collector")
        self.start(*SENDERS, *QUERIES)
        self._wait_for(self.running, 120, *SENDERS, *QUERIES)

    def running(self) -> bool:
        """Whether every query has begun its first batch."""
        return all(any((self.folder / "checkpoint" / name).glob("**/offsets/0")) for name in QUERIES)

    def _wait_for(self, ready: Callable[[], bool], seconds: float, *names: str) -> None:
        """Wait until processes are ready; one that has ended is an error, with its last words."""

        def seen() -> bool:
            for name in ("mqtt", "kafka", *PROCESSES):
                if name in self._children and self.pid(name) is None:
                    log = self.folder / "words" / name if name in PROCESSES else self.folder / name / "log"
                    words = log.read_text("utf-8", "replace").splitlines()[-20:]
                    sys.exit("\n".join([f"{name} has ended; its last words:", *words]))
            return ready()

        servers.wait_for(seen, seconds, " ".join(names))

    def down(self) -> None:
        """Stop all of it; what it wrote stays."""
        for name in QUERIES:  # a run has nothing to put in order
            self.kill(name)
        for name in ("collector", *SENDERS, "devices", "kafka", "mqtt"):
            self.end(name)
        if (self.folder / "postgresql" / "data" / "postmaster.pid").exists():
            servers.stop_postgresql(self.folder / "postgresql")


def _born(pid: int) -> int:
    """When a process began, in ticks since the machine did; -1 if it is gone, or only its number is left."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1
    return -1 if fields[0] == "Z" else int(fields[19])


def told(plant: Plant) -> str:
    """Where what is."""
    layout = plant.layout
    kafka = f"127.0.0.1:{layout.port('kafka')}"
    lines = [
        f"{layout.devices} devices, an hour lasts {layout.hour} s, all in {plant.folder}",
        f"  readings      {plant.folder}/log: oven (Modbus), tank (OPC UA), room (HTTP), vibration (MQTT), tariff",
        f"  MQTT          mqtt://{USER}@127.0.0.1:{layout.port('mqtt')}, topics plant/+/vibration",
        f"  Kafka         {kafka}, topics meters (in) and alarms (out)",
        f"  PostgreSQL    {layout.database()}, tables tariff (in), energy and drift (out)",
        f"  what they say {plant.folder}/words",
    ]
    running = [name for name in ("mqtt", "kafka", *PROCESSES) if plant.pid(name) is not None]
    return "\n".join([*lines, f"  running       {', '.join(running)}"])


def main() -> None:
    """One word: up, down or where."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=("up", "down", "where"))
    options.add_argument("--folder", type=Path, default=ROOT / "build" / "plant")
    options.add_argument("--hour", type=int, default=60, help="how many seconds an hour lasts (default 60)")
    given = options.parse_args()
    plant = Plant(given.folder)
    match given.what:
        case "up":
            if any(plant.pid(name) for name in ("mqtt", "kafka", *PROCESSES)):
                sys.exit(f"the plant in {plant.folder} is up already; take it down first")
            shutil.rmtree(plant.folder, ignore_errors=True)
            began = time.monotonic()
            try:
                plant.up(Layout(hour=given.hour))
            except BaseException:
                plant.down()
                raise
            print(f"up after {time.monotonic() - began:.0f} s\n{told(plant)}")
        case "down":
            plant.down()
            print("down")
        case "where":
            print(told(plant))


if __name__ == "__main__":
    main()
