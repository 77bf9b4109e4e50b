"""Cost and correctness of repeated scans of a large PostgreSQL table of which little changes.

    python -m benchmarks.scan [--rows 1000000] [--changed 100] [--scans 10] [--asked 1000] [--url postgresql://..]

Three lines of JSON. `scan` has the seconds of each scan and of a restart on the log, the memory of the scanner, and the
number of log entries, which must be that of the rows, changes and heartbeats. `replay` reads the log and compares the
table at every scan with a snapshot that the database exported at that time. `live` joins a stream with the table while
the log grows, scan by scan, and compares the result with a join on those snapshots. Its seconds are how long Spark is
busy with each scan, which covers ten ticks with `--asked` rows of the stream each.

Without `--url` it starts its own PostgreSQL.
"""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from benchmarks.measure import Report, options, say, session
from transom.catalog.servers import Postgres
from transom.collector.sources.scan import Scanner
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog, segments

EVERY = 10
"""Ticks between two scans."""
CATALOG = """
extents:
  thing:
    declare: stored (id:integer, zone:string, price:decimal, since:timestamp)
    rows: {rows}
    source: {{postgresql: {{url: '{url}', table: thing, every: {every} s}}}}
  asked:
    declare: pushed (id:integer, n:integer)
    rate: {rate} per s
    source: {{mqtt: {{broker: 'mqtt://nowhere', topic: asked, time: at}}}}
"""
COLUMNS = ["id", "zone", "price", "since"]
CONTENT = "RSTREAM(SELECT id, zone, price, since FROM thing [SCAN 10 SEC])"
JOIN = (
    "RSTREAM(SELECT a.n, a.id, zone, price, since FROM asked [FROM NOW TO NOW SLIDE 1 SEC] AS a, thing [SCAN 10 SEC] "
    "WHERE a.id = thing.id)"
)
NOW = datetime(2024, 6, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Setting:
    """The sizes of a run, its database and its folder."""

    url: str
    folder: Path
    rows: int
    changed: int
    scans: int
    asked: int

    @property
    def until(self) -> int:
        """The last tick of the queries."""
        return self.scans * EVERY - 1

    def catalog(self, folder: Path) -> transom.Catalog:
        """The catalog, with its logs below a folder."""
        rows = self.rows + self.changed * self.scans
        text = CATALOG.format(rows=rows, url=self.url, every=EVERY, rate=max(self.asked, 1))
        return transom.Catalog.read(text, folder=folder)


def scanner(catalog: transom.Catalog, folder: Path) -> Scanner:
    """The scanner that the collector would run for the table."""
    thing = catalog.extents["thing"]
    assert isinstance(thing.source, Postgres)
    return Scanner(
        thing, thing.source, SegmentLog(folder / thing.source.log, thing, segment_interval_seconds=0), catalog.calendar
    )


def scan(setting: Setting) -> dict[str, Any]:
    """Fill the table, then scan and change it in turn; the database exports a snapshot after each scan."""
    folder = setting.folder
    catalog = setting.catalog(folder)
    (folder / "snapshots").mkdir()
    seconds: list[float] = []
    changes = 0
    with psycopg.connect(setting.url, autocommit=True) as one:
        _fill(one, setting.rows)
        scans = scanner(catalog, folder)
        for number in range(setting.scans):
            changes += _change(one, setting, number) if number else 0
            began = time.perf_counter()
            if not scans.scan(number * EVERY):
                raise SystemExit("the database does not answer")
            seconds.append(round(time.perf_counter() - began, 2))
            with (
                open(folder / f"snapshots/{number * EVERY}.csv", "wb") as file,
                one.cursor().copy("COPY (SELECT id, zone, price, since FROM thing) TO STDOUT (FORMAT csv)") as copy,
            ):
                for part in copy:
                    file.write(part)
    scans.log.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    began = time.perf_counter()
    again = scanner(catalog, folder)
    again.log.close()
    wanted = setting.rows + changes + 2 * setting.scans
    if again.log.next != wanted:
        raise SystemExit(f"the log has {again.log.next} entries, not {wanted}")
    size = sum(path.stat().st_size for path in segments(again.log.folder))
    return {
        "benchmark": "scan",
        "rows": setting.rows,
        "scans": setting.scans,
        "changes": changes,
        "beats": 2 * setting.scans,
        "log entries": again.log.next,
        "log bytes": size,
        "seconds per scan": seconds,
        "seconds to start again": round(time.perf_counter() - began, 2),
        "scanner MB": memory,
    }


def _fill(one: psycopg.Connection[Any], rows: int) -> None:
    one.execute("DROP TABLE IF EXISTS thing")
    one.execute("CREATE TABLE thing (id bigint PRIMARY KEY, zone text, price numeric(12, 2), since timestamptz)")
    one.execute(
        "INSERT INTO thing SELECT n, 'zone ' || n % 997, n % 10007 / 100.0, "
        f"timestamptz '2024-01-01Z' + n * interval '1 s' FROM generate_series(1, {rows}) n"
    )


def _change(one: psycopg.Connection[Any], setting: Setting, number: int) -> int:
    """Update, delete and insert some rows; the number of log entries that this causes."""
    few = setting.changed // 10
    spread = f"(n * {setting.rows // max(setting.changed, 1)} + {number}) % {setting.rows} + 1"
    some = f"SELECT {spread} FROM generate_series({few}, {setting.changed - few - 1}) n"
    updated = one.execute(f"UPDATE thing SET price = price + 1, zone = NULL WHERE id IN ({some})").rowcount
    removed = one.execute(
        f"DELETE FROM thing WHERE id IN (SELECT {spread} FROM generate_series(0, {few - 1}) n)"
    ).rowcount
    first = setting.rows + number * setting.changed
    added = one.execute(
        f"INSERT INTO thing SELECT n, 'new', NULL, NULL FROM generate_series({first + 1}, {first + few}) n"
    ).rowcount
    return 2 * updated + removed + added


def _snapshots(spark: SparkSession, setting: Setting) -> DataFrame:
    """The table at every scan, from the database's snapshots; `t` is the tick of the scan."""
    schema = "id bigint, zone string, price decimal(12,2), since timestamp"
    raw = spark.read.schema(schema).option("timestampFormat", "yyyy-MM-dd HH:mm:ssX").csv(f"{setting.folder}/snapshots")
    tick = F.regexp_extract(F.input_file_name(), r"(\d+)\.csv", 1).cast("long")
    return raw.select("id", "zone", F.col("price").cast("decimal(38,18)").alias("price"), "since", tick.alias("t"))


def _tick() -> Column:
    return (F.unix_seconds("tick") - F.lit(1)).alias("t")


def _digests(frame: DataFrame, columns: list[str]) -> dict[int, tuple[int, int]]:
    """The number of rows at each tick, and a digest of them that ignores their order."""
    digest = F.sum(F.xxhash64(*columns).cast("decimal(38,0)"))
    return {row[0]: (row[1], int(row[2])) for row in frame.groupBy("t").agg(F.count(F.lit(1)), digest).collect()}


def replay(spark: SparkSession, setting: Setting) -> dict[str, Any]:
    """Replay the log and compare the table at every scan with the snapshots; SystemExit if one differs."""
    query = transom.compile(CONTENT, setting.catalog(setting.folder))
    began = time.perf_counter()
    found = _digests(query.to_df(spark, until=setting.until).select(_tick(), *COLUMNS), COLUMNS)
    taken = time.perf_counter() - began
    wanted = _digests(_snapshots(spark, setting), COLUMNS)
    if found != wanted or len(found) != setting.scans:
        raise SystemExit(f"the scans differ from the snapshots: {found} and {wanted}")
    return {"benchmark": "scan, replay", "rows out": sum(n for n, _ in found.values()), "seconds": round(taken, 1)}


def live(spark: SparkSession, setting: Setting, kernel: str = "auto") -> dict[str, Any]:
    """Join a stream with the table while the log grows; SystemExit if a join on the snapshots differs."""
    folder = setting.folder / "live"
    (folder / "log/thing").mkdir(parents=True)
    catalog = setting.catalog(folder)
    query = transom.compile(JOIN, catalog)
    found = segments(setting.folder / "log/thing")
    seconds: list[float] = []
    asked: list[tuple[int, int, int]] = []
    out = folder / "out"
    with SegmentLog(folder / "log/asked", catalog.extents["asked"], segment_interval_seconds=0) as log:
        running = query.start(spark, f"parquet:{out}", folder / "state", until=setting.until, kernel=kernel)  # type: ignore[arg-type]
        try:
            for number, segment in enumerate(found):
                rows = list(_asked(setting, number))
                asked += rows
                entries = [LogRecord(LogRecordKind.ROW, tick, NOW, (own, n)) for tick, own, n in rows]
                log.append([*entries, LogRecord(LogRecordKind.HEARTBEAT, (number + 1) * EVERY, NOW)])
                began = time.perf_counter()
                shutil.copy(segment, folder / "log/thing" / f"{segment.name}.tmp")
                os.rename(folder / "log/thing" / f"{segment.name}.tmp", folder / "log/thing" / segment.name)
                running.stream.processAllAvailable()
                seconds.append(round(time.perf_counter() - began, 2))
            report = Report.read(running.stream.recentProgress)
        finally:
            running.stop()
    columns = ["n", *COLUMNS]
    answers = _digests(spark.read.parquet(str(out)).select(_tick(), *columns), columns)
    questions = spark.createDataFrame(asked, "t long, id long, n long")
    by_hand = questions.withColumn("scan", F.floor(F.col("t") / EVERY) * EVERY).join(
        _snapshots(spark, setting).withColumnRenamed("t", "scan"), ["scan", "id"]
    )
    wanted = _digests(by_hand.select("t", *columns), columns)
    if answers != wanted or not answers:
        raise SystemExit(f"the answers differ from those of the snapshots: {answers} and {wanted}")
    return {
        "benchmark": "scan, live",
        "rows out": sum(n for n, _ in answers.values()),
        "seconds per scan": seconds,
        "state rows": report.state_rows,
    }


def _asked(setting: Setting, number: int) -> list[tuple[int, int, int]]:
    """Rows of the stream between two scans; half of them ask for table rows that may change during the run."""
    step = max(setting.rows // max(setting.changed, 1), 1)
    found = []
    for tick in range(number * EVERY, (number + 1) * EVERY):
        for n in range(setting.asked):
            changing = (n * step + tick % setting.scans) % setting.rows + 1
            found.append((tick, changing if n % 2 else (tick * 7919 + n * 104729) % setting.rows + 1, n))
    return found


def main() -> None:
    """Measure and print."""
    about = options(__doc__, 1_000_000)
    about.add_argument("--changed", type=int, default=100, help="rows that change between two scans")
    about.add_argument("--scans", type=int, default=10)
    about.add_argument("--asked", type=int, default=1000, help="rows of the stream in each tick")
    about.add_argument("--url", help="a database whose table `thing` may be replaced")
    given = about.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = given.url
        if url is None:
            from tests.servers.start import postgresql

            os.environ["TRANSOM_SERVERS_REQUIRED"] = "1"
            url = f"postgresql://test@127.0.0.1:{stack.enter_context(postgresql(folder / 'database'))}/postgres"
        setting = Setting(url, folder, given.rows, given.changed, given.scans, given.asked)
        say(scan(setting), given.results)
        spark = session()
        for line in (replay(spark, setting), live(spark, setting)):
            say(line, given.results)
        spark.stop()


if __name__ == "__main__":
    main()
