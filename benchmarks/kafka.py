"""Sliding sums over a Kafka topic: Transom against PySpark by hand, reading the same topic.

    python -m benchmarks.kafka [--rows 2000000] [--times 3] [--settings 1,10,60] [--results lines.jsonl]

It starts its own broker. Messages are JSON, 1 ms apart, from 100 machines, in two partitions; the slide is 1 s. The
aggregates are SUM, COUNT, AVG and MAX of 64-bit integers. The version by hand is one `from_json` with a schema, then
`window` and `groupBy`; ours also finds the reason why a message is rejected. Both read 200,000 messages per
micro-batch. One line of JSON per setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from benchmarks import topics
from benchmarks.measure import Plan, agreed, compare, figures, options, ratio, say, session, streamed
from benchmarks.windows import AGGREGATES, EPOCH, SECONDS
from transom.runtime.dataframe import dataframe
from transom.runtime.options import RunOptions

MACHINES = 100
PER_BATCH = 200_000
TOPIC = "power"
SETTINGS = ("1", "10", "60")
WANTED = 0.95
COLUMNS = ["tick", "k", "total", "n", "mean", "top"]
SHAPE = "at timestamp, k string, v bigint"


@dataclass(frozen=True)
class Input:
    """A topic with `rows` messages, on the broker at the address `place`."""

    place: str
    rows: int

    def values(self) -> Iterator[bytes]:
        """Yield the messages, and a last one an hour later that closes all windows."""
        rng = np.random.default_rng(7)
        key = rng.integers(0, MACHINES, self.rows).tolist()
        value = rng.integers(-(10**10), 10**10, self.rows).tolist()
        for number, (machine, watts) in enumerate(zip(key, value, strict=True)):
            yield _message(number, machine, watts)
        yield _message(self.rows + 3_600_000, 0, 0)

    @property
    def until(self) -> int:
        """The last tick of a run, by which all windows are empty."""
        return self.rows // 1000 + 130


def _message(milliseconds: int, machine: int, watts: int) -> bytes:
    seconds, rest = divmod(milliseconds, 1000)
    at = np.datetime64(SECONDS + seconds, "s")
    return f'{{"at": "{at}.{rest:03}Z", "k": "machine-{machine}", "v": {watts}}}'.encode()


def ours(spark: SparkSession, source: Input, width: int) -> DataFrame:
    """The query in SNEEql, over the topic as declared in a catalog."""
    portion = {"maxOffsetsPerTrigger": str(PER_BATCH)}
    kafka = {"servers": source.place, "topic": TOPIC, "time": "at", "options": portion}
    extent = {"declare": "pushed (k:string, v:integer)", "lateness": "1 s", "source": {"kafka": kafka}}
    catalog = transom.Catalog.from_dict({"epoch": EPOCH, "extents": {"s": extent}})
    window = f"s[FROM NOW-{width - 1} TO NOW SLIDE 1 SEC]"
    query = transom.compile(f"RSTREAM(SELECT s.k, {AGGREGATES} FROM {window} GROUP BY s.k)", catalog)
    return dataframe(query.job(spark, RunOptions(until=source.until)), spark, live=True)


def by_hand(spark: SparkSession, source: Input, width: int) -> DataFrame:
    """The same answer with Spark's window(); the end of its window is our tick."""
    reader = spark.readStream.format("kafka").option("kafka.bootstrap.servers", source.place)
    reader = reader.option("subscribe", TOPIC).option("startingOffsets", "earliest")
    topic = reader.option("maxOffsetsPerTrigger", PER_BATCH).load()
    rows = topic.select(F.from_json(F.col("value").cast("string"), SHAPE).alias("m")).select("m.*")
    window = F.window("at", f"{width} seconds", "1 second") if width > 1 else F.window("at", "1 second")
    sums = (
        rows.withWatermark("at", "1 second")
        .groupBy(window, "k")
        .agg(F.sum("v").alias("total"), F.count("*").alias("n"), F.avg("v").alias("mean"), F.max("v").alias("top"))
    )
    end = F.timestamp_seconds(F.lit(SECONDS + source.until + 1))
    return sums.select(F.col("window.end").alias("tick"), "k", "total", "n", "mean", "top").where(F.col("tick") <= end)


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 2_000_000)
    parser.add_argument("--settings", default=",".join(SETTINGS), help="range/slide")
    given = parser.parse_args()
    with topics.broker() as place:
        source = Input(place, given.rows)
        topics.make(place, TOPIC)
        topics.fill(place, TOPIC, source.values())
        spark = session(topics.connector())
        for width in map(int, given.settings.split(",")):
            plans: dict[str, Plan] = {
                "ours": partial(ours, spark, source, width),
                "by hand": partial(by_hand, spark, source, width),
            }
            answers, _ = agreed(spark, plans, COLUMNS)
            results = compare({name: streamed(plan) for name, plan in plans.items()}, given.times)
            entry = {
                "bench": "kafka",
                "range/slide": width,
                "keys": MACHINES,
                **figures(results, given.rows),
                "ratio": ratio(results, "ours", "by hand", given.rows),
                "wanted": WANTED,
                "rows": given.rows,
                "answers": answers,
            }
            say(entry, given.results)
        spark.stop()


if __name__ == "__main__":
    main()
