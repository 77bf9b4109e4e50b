"""Whether a plant is exact: its sinks against the reference engine, its logs against what devices wrote down.

`python -m examples.plant.check [FOLDER]` looks at a plant that runs, prints figures and exits with 1 if any is wrong.
The answers are judged up to the last tick that all logs have left behind, and get half a minute to arrive.
"""

from __future__ import annotations

import json
import re
import sys
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from examples.plant.layout import QUERIES
from examples.plant.plant import ROOT, Plant
from transom.catalog.servers import Kafka
from transom.connectors.kafka.read import messages
from transom.connectors.log.segments import segments
from transom.model.reject_reason import RejectReason

POLLED = ("oven", "tank", "room")
VALUES = {"oven": "temp", "tank": "level", "room": "temp"}
Rows = Counter[tuple[object, ...]]


@dataclass
class Figures:
    """What was counted; those that have to be 0 are wrong otherwise."""

    counted: dict[str, object] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def note(self, name: str, value: object) -> None:
        """A figure that may be anything."""
        self.counted[name] = value

    def must(self, name: str, value: object, wanted: object = 0) -> None:
        """A figure that has to be so."""
        self.counted[name] = value
        if value != wanted:
            self.wrong.append(f"{name}: {value}, and it should be {wanted}")

    def __str__(self) -> str:
        width = max(map(len, self.counted), default=0)
        lines = [f"{name:<{width}}  {value}" for name, value in self.counted.items()]
        return "\n".join([*lines, *(f"WRONG {one}" for one in self.wrong)])


def entries(plant: Plant, extent: str, *columns: str) -> list[tuple[Any, ...]]:
    """Some columns of a log, in its order."""
    found = []
    for path in segments(plant.folder / "log" / extent):
        table = pq.read_table(path, columns=list(columns))
        found += zip(*(table.column(name).to_pylist() for name in columns))
    return found


def record(plant: Plant, name: str) -> list[list[Any]]:
    """What devices of a kind wrote down; a last line may be cut off."""
    path = plant.folder / "record" / f"{name}.jsonl"
    lines = path.read_text("utf-8").split("\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


def of_topic(plant: Plant, topic: str) -> list[tuple[bytes | None, dict[str, Any]]]:
    """Keys and contents of the messages that a topic holds."""
    from confluent_kafka import Consumer, TopicPartition

    place = f"127.0.0.1:{plant.layout.port('kafka')}"
    reader = Consumer({"bootstrap.servers": place, "group.id": "check", "enable.auto.commit": False})
    found: list[tuple[bytes | None, dict[str, Any]]] = []
    try:
        for number in sorted(reader.list_topics(topic, timeout=20).topics[topic].partitions):
            low, high = reader.get_watermark_offsets(TopicPartition(topic, number), timeout=20)
            reader.assign([TopicPartition(topic, number, low)])
            while low < high:
                message = reader.poll(10.0)
                if message is None or message.error() is not None:
                    raise TimeoutError(f"partition {number} of {topic} does not answer")
                low = message.offset() + 1
                found.append((message.key(), json.loads(message.value())))
    finally:
        reader.close()
    return found


# answers


def closed(plant: Plant) -> int:
    """The last tick that every source has left behind."""
    ticks = [
        max((t for (t,) in entries(plant, name, "_tick") if t is not None), default=-1)
        for name in (*POLLED, "vibration", "tariff")
    ]
    extent = plant.catalog.extents["meter"]
    assert isinstance(extent.source, Kafka)  # noqa: S101 - the catalog is ours
    for raw in [one.value or b"" for one in messages(extent.source, limit=1)] or [b'{"at": "2026-01-01T00:00:00Z"}']:
        at = datetime.fromisoformat(json.loads(raw)["at"])
        ticks.append(plant.catalog.calendar.tick_of(at) - extent.lateness)
    return min(ticks) - 1


def expected(plant: Plant, name: str, until: int) -> Rows:
    """The rows of a query by the reference engine, over what was recorded."""
    answer = plant.query(name).simulate(start=plant.start_tick, until=until)
    return Counter((element.tick, *element.row) for element in answer.elements)


def in_sink(plant: Plant, name: str, until: int) -> tuple[Rows, int]:
    """The rows of a query that are where its answers go, and how many messages came more than once."""
    calendar = plant.catalog.calendar
    columns = plant.query(name).columns
    if name == "alarm":
        held = of_topic(plant, "alarms")
        once = {key: [row[column] for column in ("tick", *columns)] for key, row in held}
        rows, again = list(once.values()), len(held) - len(once)
    else:
        import psycopg

        listed = ", ".join(f'"{column}"' for column in ("tick", *columns))
        with plant.database() as one:
            try:
                rows = [list(row) for row in one.execute(f"SELECT {listed} FROM {name}").fetchall()]  # noqa: S608
            except psycopg.errors.UndefinedTable:
                rows = []
        again = 0
    found: Rows = Counter()
    for end, *values in rows:
        instant = datetime.fromisoformat(end) if isinstance(end, str) else end
        tick = calendar.tick_of(instant.astimezone(UTC) - timedelta(microseconds=calendar.length))
        if tick <= until:
            found[(tick, *values)] += 1
    return found, again


def answers(plant: Plant, until: int, figures: Figures, patience: float = 30.0) -> None:
    """Every query: the rows of its sink are those of the reference engine, each as often."""
    wanted = {name: expected(plant, name, until) for name in QUERIES}
    found = {name: in_sink(plant, name, until) for name in QUERIES}
    end = time.monotonic() + patience
    while any(found[name][0] != wanted[name] for name in QUERIES) and time.monotonic() < end:
        time.sleep(1.0)
        found = {name: in_sink(plant, name, until) for name in QUERIES}
    for name in QUERIES:
        rows, again = found[name]
        figures.note(f"{name}: rows of the reference", wanted[name].total())
        figures.must(f"{name}: rows in the sink", rows.total(), wanted[name].total())
        figures.must(f"{name}: rows missing", (wanted[name] - rows).total())
        figures.must(f"{name}: rows too many", (rows - wanted[name]).total())
        if name == "alarm":
            figures.note(f"{name}: messages that came again", again)


# logs


def sent(plant: Plant, name: str, figures: Figures, patience: float = 20.0) -> None:
    """What was sent with an acknowledgement is in the log (or topic) once, with its content, and nothing else is."""
    lines = record(plant, name)
    given = {number: (who, value) for word, number, *rest in lines if word == "sent" for who, value in [rest]}
    safe = {number for word, number, *_ in lines if word == "acknowledged"}
    end = time.monotonic() + patience
    while True:
        found = _arrived(plant, name)
        held = Counter(number for number, _, _ in found)
        lost = safe - set(held)
        if not lost or time.monotonic() > end:
            break
        time.sleep(0.5)
    before = [one for one in found if one[0] in given]  # others came after the record was read
    figures.note(f"{name}: acknowledged", len(safe))
    figures.note(
        f"{name}: sent without an acknowledgement",
        f"{len(set(given) - safe)}, {len(set(given) - safe & set(held))} arrived",
    )
    figures.must(f"{name}: lost", len(lost))
    figures.must(f"{name}: doubled", sum(count - 1 for count in held.values()))
    figures.must(f"{name}: not as sent", sum((who, value) != given[number] for number, who, value in before))


def _arrived(plant: Plant, name: str) -> list[tuple[int, str, float]]:
    if name == "meter":
        return [(row["number"], row["line"], row["watts"]) for _, row in of_topic(plant, "meters")]
    rows = entries(plant, name, "_kind", "number", "machine", "mm")
    return [(number, who, value) for kind, number, who, value in rows if kind == "row"]


@dataclass
class Polled:
    """The log of an extent whose sites are asked."""

    heartbeats: dict[int, float]
    rows: list[tuple[int, int, float, int]]
    gaps: dict[tuple[int, int], str]
    down: list[tuple[int, int]]

    @staticmethod
    def read(plant: Plant, name: str) -> Polled:
        """Its ticks and when each was done, its rows, what is missing, and the ranges of missed ticks."""
        log = Polled({}, [], {}, [])
        columns = ("_kind", "_tick", "_at", "_reason", "_words", "site", VALUES[name], "serial")
        for kind, tick, at, reason, words, site, value, serial in entries(plant, name, *columns):
            if kind == "beat":
                log.heartbeats[tick] = at.timestamp()
            elif kind == "row":
                log.rows.append((tick, site, value, serial))
            elif reason == RejectReason.DOWN.value:
                first, last = map(int, re.findall(r"\d+", words))
                log.down.append((first, last))
            else:
                log.gaps[tick, int(re.findall(r"site (\d+)", words)[0])] = reason
        return log


def asked(
    plant: Plant, name: str, sites: Sequence[int], figures: Figures, kills: Iterable[float] | None = None
) -> None:
    """Every tick of a log is complete or said to be missed; every reading is one of the device, and is there once.

    `kills` are the instants at which the collector was killed: ticks that are missed at another time are wrong.
    """
    log = Polled.read(plant, name)
    answered = {(site, serial): (at, value) for at, site, value, serial in record(plant, name)}
    held = Counter((site, serial) for _, site, _, serial in log.rows)
    places = Counter((tick, site) for tick, site, _, _ in log.rows)
    ticks = sorted(log.heartbeats)
    missed = {tick for first, last in log.down for tick in range(first, last + 1)}
    silent = set(range(ticks[0], ticks[-1] + 1)) - set(ticks) - missed
    empty = [
        (tick, site) for tick in ticks for site in sites if not places[tick, site] and (tick, site) not in log.gaps
    ]
    figures.note(f"{name}: readings", len(log.rows))
    figures.note(f"{name}: ticks", f"{len(ticks)}, {len(missed)} missed while the collector was down")
    figures.note(f"{name}: readings that are missing, by reason", dict(Counter(log.gaps.values())) or 0)
    figures.must(f"{name}: lost", len(silent) + len(empty) + len(_unlogged(log, answered, set(held))))
    doubled = sum(n - 1 for n in held.values()) + sum(n - 1 for n in places.values()) + len(missed & set(ticks))
    figures.must(f"{name}: doubled", doubled)
    invented = [one for one in log.rows if answered.get((one[1], one[3]), (0, None))[1] != one[2]]
    figures.must(f"{name}: not as answered", len(invented))
    if kills is not None:
        moments = sorted(kills)
        idle = [
            r for r in log.down if not _within(moments, log.heartbeats.get(r[0] - 1, 0.0), log.heartbeats[r[1] + 1])
        ]
        figures.must(f"{name}: ticks missed while the collector ran", sum(last - first + 1 for first, last in idle))


def _within(moments: list[float], start: float, end: float) -> bool:
    """Whether one of some instants lies between two others; a kill may come just before the last beat is seen."""
    place = bisect_right(moments, start - 1.0)
    return place < len(moments) and moments[place] < end


def _unlogged(
    log: Polled, answered: dict[tuple[int, int], tuple[float, float]], held: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Readings that a device gave between two ticks that follow each other, and that the log neither has nor misses."""
    ticks = sorted(log.heartbeats)
    instants = [log.heartbeats[tick] for tick in ticks]
    lost = []
    for (site, serial), (at, _) in answered.items():
        place = bisect_right(instants, at)
        if (site, serial) in held or not 0 < place < len(ticks):
            continue
        before, after = ticks[place - 1], ticks[place]
        if after - before == 1 and (before, site) not in log.gaps and (after, site) not in log.gaps:
            lost.append((site, serial))
    return lost


def check(plant: Plant, kills: Iterable[float] | None = None, patience: float = 30.0) -> Figures:
    """All figures of a plant that runs."""
    figures = Figures()
    layout = plant.layout
    answers(plant, closed(plant), figures, patience)
    for name, count in (("oven", layout.ovens), ("tank", layout.tanks), ("room", layout.rooms)):
        asked(plant, name, range(1, count + 1), figures, kills)
    for name in ("vibration", "meter"):
        sent(plant, name, figures)
    return figures


if __name__ == "__main__":
    shown = check(Plant(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "plant"))
    print(shown)
    sys.exit(bool(shown.wrong))
