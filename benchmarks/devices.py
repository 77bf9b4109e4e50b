"""Latency from tick to log of 100 devices read once a second, of which one hangs and one refuses connections.

`python -m benchmarks.devices [--seconds 600]`. A tick is complete if every working device has a row for it, which means
that the device answered before the deadline. A tick is in the log when its segment file has been renamed, by the
file's ctime. The exit code is 1 if a tick is missing or incomplete.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from examples.plant.layout import Layout
from examples.plant.plant import Plant
from examples.plant.servers import free_port, listens, wait_for
from transom.connectors.log.segments import segments

EXTENTS = ("oven", "tank", "room")


def collected(plant: Plant, seconds: float) -> None:
    """Start the devices and run the collector for some seconds."""
    layout = plant.layout
    plant.start("devices")
    wait_for(lambda: listens(layout.port("rooms")), 30, "the devices")
    try:
        plant.start("collector")
        time.sleep(seconds)
        plant.end("collector")
    finally:
        plant.kill("collector")
        plant.end("devices")


def times(plant: Plant, extent: str, sites: int) -> tuple[list[float], list[float], Counter[str]]:
    """Seconds from each tick until it was acquired and until it was logged, and counts of faulty ticks."""
    calendar = plant.catalog.calendar
    acquired, logged, wrong = [], [], Counter[str]()
    last: int | None = None
    for path in segments(plant.folder / "log" / extent):
        table = pq.read_table(path, columns=["_kind", "_tick", "_at"]).to_pylist()
        [beat] = [entry for entry in table if entry["_kind"] == "beat"]
        tick = beat["_tick"]
        begun = calendar.instant_of(tick).timestamp()
        acquired.append(beat["_at"].timestamp() - begun)
        logged.append(path.stat().st_ctime - begun)
        wrong["not complete"] += sum(entry["_kind"] == "row" for entry in table) != sites
        wrong["missing"] += 0 if last is None else tick - last - 1
        last = tick
    return acquired, logged, wrong


def told(seconds: list[float]) -> str:
    """Format the median, the 99th percentile and the maximum in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return "  ".join(f"{1000 * one:7.0f}" for one in (cuts[49], cuts[98], max(seconds)))


def main() -> int:
    """Measure and print; 1 if a tick is missing or incomplete, else 0."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=600.0)
    options.add_argument("--deadline", type=int, default=500, help="milliseconds that a device has (default 500)")
    given = options.parse_args()
    layout = Layout(ovens=40, tanks=30, rooms=28, machines=0, broken=True, deadline=given.deadline)
    layout = replace(layout, ports={name: free_port() for name in layout.names})
    with tempfile.TemporaryDirectory(prefix="transom-devices-") as folder:
        plant = Plant(Path(folder), collected=EXTENTS)
        layout.write(plant.folder)
        collected(plant, given.seconds)
        print(f"{layout.devices} devices, 1 hanging, 1 refusing, {given.seconds:.0f} s, deadline {given.deadline} ms")
        print(
            f"{'ms after the tick':<18}{'acquired: p50      p99     most':>36}{'in the log: p50      p99     most':>38}"
        )
        everything: list[float] = []
        wrong: Counter[str] = Counter()
        for extent, sites in (("oven", layout.ovens), ("tank", layout.tanks), ("room", layout.rooms)):
            acquired, logged, found = times(plant, extent, sites)
            everything += logged
            wrong += found
            print(f"{extent:<5}{len(acquired):>6} ticks{told(acquired):>37}{told(logged):>38}")
        print(f"all{len(everything):>8} ticks{'':>37}{told(everything):>38}")
        print(f"ticks missing: {wrong['missing']}; not complete: {wrong['not complete']}")
    return int(wrong.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
