"""A plant whose processes are killed at random: `python -m tests.servers.soak --seconds 300 --kills 24 --seed 1`.

The collector, the runs on Spark and the senders are killed with SIGKILL and started again, and the Kafka broker is
restarted once. Afterwards the rows in the sinks have to be those of the reference engine over what was recorded, and
what was recorded has to be what the devices wrote down. The figures are printed; the exit code is 1 if any is wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

from examples.plant.check import check, entries
from examples.plant.layout import QUERIES, Layout
from examples.plant.plant import ROOT, SENDERS, Plant
from tests.servers.start import free_port, listens, wait_for

SHARES = {"collector": 8, "machines": 5, "meters": 4, "alarm": 3, "energy": 3, "drift": 3}
"""How often each is killed, as parts of the whole."""


class Tormentor:
    """Kills and restarts; what ends by itself is started again, and counted."""

    def __init__(self, plant: Plant, seed: int) -> None:
        self.plant = plant
        self.rng = Random(seed)
        self.kills: list[tuple[float, str]] = []
        self.by_themselves: Counter[str] = Counter()
        self._plan_beginnings = dict.fromkeys(SHARES, -1)

    def committed(self, name: str) -> int:
        """The last micro-batch of a run."""
        folder = self.plant.folder / "checkpoint" / name / "spark" / "commits"
        return max((int(path.name) for path in folder.glob("*") if path.name.isdigit()), default=-1)

    def works(self, name: str) -> bool:
        """Whether a process has done something since it was started; a run has committed a micro-batch."""
        return name not in QUERIES or self.committed(name) > self._plan_beginnings[name]

    def start(self, name: str) -> None:
        self._plan_beginnings[name] = self.committed(name) if name in QUERIES else 0
        self.plant.start(name)

    def again(self) -> None:
        """Start what ended without being killed."""
        for name in SHARES:
            if self.plant.pid(name) is None:
                self.by_themselves[name] += 1
                self.start(name)

    def kill(self) -> None:
        """One process that works, by chance, and start it again after a moment."""
        counts = Counter(name for _, name in self.kills)
        ready = [name for name in SHARES if self.works(name) and self.plant.pid(name) is not None]
        if ready:
            fresh = [name for name in ready if not counts[name]] or ready  # everybody's turn comes
            name = self.rng.choices(fresh, [SHARES[name] / (1 + counts[name]) for name in fresh])[0]
            self.kills.append((time.time(), name))
            self.plant.kill(name)
            print(f"  {name} killed", flush=True)
            time.sleep(self.rng.uniform(0.0, 1.5))
            self.start(name)

    def restart_broker(self) -> None:
        began = time.monotonic()
        self.plant.end("kafka", 30)
        self.plant.broker()
        print(f"  Kafka restarted in {time.monotonic() - began:.0f} s", flush=True)

    def torment(self, seconds: float, kills: int) -> None:
        """So many kills within so many seconds, spread evenly with some chance; the broker goes half-way."""
        began = time.monotonic()
        pause = seconds / (kills + 1)
        moments = [pause * (place + 1 + self.rng.uniform(-0.4, 0.4)) for place in range(kills)]
        broker = threading.Timer(seconds / 2, self.restart_broker)
        broker.start()
        for moment in moments:
            while time.monotonic() < began + moment:
                self.again()
                time.sleep(0.2)
            self.kill()
        while time.monotonic() < began + seconds:
            self.again()
            time.sleep(0.2)
        broker.join()


def prepare(plant: Plant, layout: Layout) -> None:
    """Everything up, the price changed once, every run at work."""
    plant.serve(layout)
    plant.start("devices")
    wait_for(lambda: listens(layout.port("rooms")), 30, "the devices")
    plant.start("collector")
    wait_for(plant.acquiring, 60, "the collector")
    plant.start(*SENDERS)
    with plant.database() as one:
        one.execute("UPDATE tariff SET price = price * 3 WHERE line = 'l1'")
    wait_for(lambda: ("left",) in entries(plant, "tariff", "_kind"), 3 * layout.hour, "the scan of the new price")
    plant.start(*QUERIES)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=300.0)
    options.add_argument("--kills", type=int, default=26)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--small", action="store_true", help="21 devices instead of 100")
    given = options.parse_args()
    layout = Layout(hour=10, pause=0.25)
    if given.small:
        layout = replace(layout, ovens=8, tanks=4, rooms=4, machines=5)
    layout = replace(layout, ports={name: free_port() for name in layout.names})
    folder = Path(tempfile.mkdtemp(prefix="transom-soak-"))
    plant = Plant(folder / "plant", ROOT / "build" / "jars")
    tormentor = Tormentor(plant, given.seed)
    fine = False
    try:
        prepare(plant, layout)
        wait_for(lambda: all(map(tormentor.works, QUERIES)), 120, "the runs")
        print(f"{layout.devices} devices; {given.seconds:.0f} s with {given.kills} kills", flush=True)
        tormentor.torment(given.seconds, given.kills)
        wait_for(lambda: all(map(tormentor.works, QUERIES)), 120, "the runs")
        figures = check(plant, [at for at, name in tormentor.kills if name == "collector"], patience=180)
        counts = Counter(name for _, name in tormentor.kills)
        figures.note("kills", f"{len(tormentor.kills)}: {dict(counts)}")
        figures.must("kinds of processes killed", len(counts), len(SHARES))
        figures.must("kills as planned", len(tormentor.kills), given.kills)
        figures.note("ended by themselves", dict(tormentor.by_themselves) or 0)
        print(figures)
        fine = not figures.wrong
    finally:
        plant.down()
        if fine:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            print(f"all of it is in {folder}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
