"""End-to-end latency from an event in Kafka to a row in Kafka at a steady rate, beside Spark by hand.

    python -m benchmarks.latency [--rate 1000] [--seconds 40] [--warm 20] [--settings pass,window]
                                 [--engines by-hand,our-rows,ours] [--results lines.jsonl]

It starts its own broker, which stamps every message of both topics on arrival (LogAppendTime); a latency is the
difference of two stamps. All settings are defaults: micro-batches follow each other without a pause.

`pass` forwards every event. `window` is a count of the last 10 s, every second, for 10 keys; its latency is from the
first event of the next second, which shows that a second is over, to each row of that second. `by-hand` is Spark's
source, operators and sink. `ours` is a run with our sink. `our-rows` is the same query with Spark's sink; the
difference is the cost of our sink.

One line of JSON per setting and engine; times are in milliseconds and exclude the first `--warm` seconds. `batch` is
the median duration of a micro-batch and of its parts, as Spark reports them.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from benchmarks import topics
from benchmarks.measure import options, say, session
from transom.runtime.dataframe import dataframe
from transom.runtime.options import RunOptions

KEYS = 10
WIDE = 10
SETTINGS = ("pass", "window")
PARTS = ("triggerExecution", "latestOffset", "queryPlanning", "addBatch", "walCommit", "commitOffsets")
AFTER = 10.0
"""Seconds that a query has to emit the last rows."""


@dataclass(frozen=True)
class Race:
    """One engine and one setting, with its own pair of topics."""

    spark: SparkSession
    place: str
    setting: str
    engine: str

    @property
    def source(self) -> str:
        """The input topic."""
        return f"events-{self.setting}-{self.engine}"

    @property
    def target(self) -> str:
        """The output topic."""
        return f"rows-{self.setting}-{self.engine}"

    def query(self) -> transom.Query:
        """The query in SNEEql; its epoch is the current minute."""
        now = datetime.now(UTC).replace(second=0, microsecond=0)
        kafka = {"servers": self.place, "topic": self.source}
        extent = {"declare": "pushed (id:integer, k:integer)", "source": {"kafka": kafka}}
        catalog = transom.Catalog.from_dict({"epoch": now.isoformat(), "extents": {"s": extent}})
        window = f"s[FROM NOW-{WIDE - 1} TO NOW SLIDE 1 SEC]"
        text = f"RSTREAM(SELECT s.k, COUNT(*) AS n FROM {window} GROUP BY s.k)"
        return transom.compile("SELECT s.id FROM s" if self.setting == "pass" else text, catalog)

    def ours(self, folder: Path) -> Any:
        """Start the query with our sink, as `transom run` does."""
        return self.query().start(self.spark, f"kafka://{self.place}/{self.target}", folder).stream

    def our_rows(self, folder: Path) -> Any:
        """Start the same query with Spark's sink."""
        return self.sent(dataframe(self.query().job(self.spark, RunOptions()), self.spark, live=True), folder)

    def by_hand(self, folder: Path) -> Any:
        """Start the same query with Spark's source, operators and sink."""
        reader = self.spark.readStream.format("kafka").option("kafka.bootstrap.servers", self.place)
        topic = reader.option("subscribe", self.source).option("startingOffsets", "earliest").load()
        fields = F.from_json(F.col("value").cast("string"), "id bigint, k bigint").alias("m")
        rows = topic.select("timestamp", fields).select(F.col("timestamp").alias("tick"), "m.*")
        if self.setting == "window":
            window = F.window("tick", f"{WIDE} seconds", "1 second")
            sums = rows.withWatermark("tick", "1 millisecond").groupBy(window, "k").agg(F.count("*").alias("n"))
            rows = sums.select(F.col("window.end").alias("tick"), "k", "n")
        return self.sent(rows, folder)

    def sent(self, rows: DataFrame, folder: Path) -> Any:
        """Write rows as JSON to the output topic with Spark's sink."""
        value = F.to_json(F.struct("*"), {"timeZone": "UTC"}).alias("value")
        writer = rows.select(value).writeStream.format("kafka").option("kafka.bootstrap.servers", self.place)
        writer = writer.option("topic", self.target).option("kafka.acks", "all")
        return writer.option("checkpointLocation", str(folder)).start()

    def run(self, rate: int, seconds: int, warm: int) -> dict[str, Any]:
        """Run the query under load and compute latencies from the stamps of both topics."""
        for topic in (self.source, self.target):
            topics.make(self.place, topic, message_timestamp_type="LogAppendTime")
        begin = {"by-hand": self.by_hand, "our-rows": self.our_rows, "ours": self.ours}[self.engine]
        with tempfile.TemporaryDirectory() as folder:
            running = begin(Path(folder) / "checkpoint")
            try:
                send(self.place, self.source, rate, warm + seconds)
                time.sleep(AFTER)
                if running.exception() is not None:
                    raise SystemExit(f"the query stopped: {running.exception()}")
                reports = [report["durationMs"] for report in running.recentProgress if report["numInputRows"]]
            finally:
                running.stop()
        events = [(stamp, json.loads(value)) for stamp, value in topics.read(self.place, self.source)]
        rows = [(stamp, json.loads(value)) for stamp, value in topics.read(self.place, self.target)]
        first = min(stamp for stamp, _ in events) + warm * 1000
        taken = passed(events, rows, first) if self.setting == "pass" else closed(events, rows, first)
        parts = {name: round(statistics.median(r.get(name, 0) for r in reports[len(reports) // 3 :])) for name in PARTS}
        return {
            "bench": "latency",
            "setting": self.setting,
            "engine": self.engine,
            **{f"p{part}": round(float(np.percentile(taken, part))) for part in (50, 90, 99)},
            "most": round(max(taken)),
            "rows": len(taken),
            "events/s": rate,
            "batch": parts,
        }


def send(place: str, topic: str, rate: int, seconds: int) -> None:
    """Send events at a steady rate; SystemExit if the broker did not accept all."""
    sender = Producer({"bootstrap.servers": place, "linger.ms": 0})
    began = time.monotonic()
    for number in range(rate * seconds):
        ahead = began + number / rate - time.monotonic()
        if ahead > 0.0005:
            sender.poll(0)
            time.sleep(ahead)
        sender.produce(topic, f'{{"id": {number}, "k": {number % KEYS}}}'.encode(), partition=number % 2)
    if sender.flush(20):
        raise SystemExit("the broker did not take all events")


Stamped = Sequence[tuple[int, Mapping[str, Any]]]


def passed(events: Stamped, rows: Stamped, first: int) -> list[int]:
    """The latency of each event to its row; SystemExit unless every event has exactly one."""
    came = {row["id"]: stamp for stamp, row in rows}
    if len(rows) != len(events) or len(came) != len(rows):
        raise SystemExit(f"{len(events)} events, {len(rows)} rows of {len(came)} of them")
    return [came[event["id"]] - stamp for stamp, event in events if stamp >= first]


def closed(events: Stamped, rows: Stamped, first: int) -> list[int]:
    """Latencies from the first event of the next second to each row of a second.

    SystemExit unless every second has one row per key.
    """
    shown: dict[int, int] = {}
    for stamp, _ in events:
        shown[stamp // 1000] = min(stamp, shown.get(stamp // 1000, stamp))
    taken = []
    for stamp, row in rows:
        end = round(datetime.fromisoformat(row["tick"]).timestamp())
        if end in shown and shown[end] >= first:
            taken.append(stamp - shown[end])
    ends = [second for second, stamp in shown.items() if stamp >= first]
    if len(taken) != len(ends) * KEYS:
        raise SystemExit(f"{len(taken)} rows of {len(ends)} seconds and {KEYS} keys")
    return taken


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, None)
    parser.add_argument("--rate", type=int, default=1000, help="events per second")
    parser.add_argument("--seconds", type=int, default=40, help="how long events count")
    parser.add_argument("--warm", type=int, default=20, help="seconds before them that do not")
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--engines", default="by-hand,our-rows,ours")
    given = parser.parse_args()
    with topics.broker() as place:
        spark = session(topics.connector())
        for setting in given.settings.split(","):
            for engine in given.engines.split(","):
                say(Race(spark, place, setting, engine).run(given.rate, given.seconds, given.warm), given.results)
        spark.stop()


if __name__ == "__main__":
    main()
