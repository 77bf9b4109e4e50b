"""Flink SQL as a peer, with checkpoints on: `python on_flink.py hashmap|rocksdb FOLDER`, in Flink's own environment."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]
from pyflink.version import __version__ as version  # type: ignore[import-not-found]

from benchmarks.peers.speak import serve

SETTINGS = {
    "parallelism.default": "2",
    "table.local-time-zone": "UTC",
    "execution.checkpointing.interval": "1 s",
    "execution.checkpointing.mode": "EXACTLY_ONCE",
    "execution.checkpointing.incremental": "true",
    "taskmanager.memory.managed.size": "1 gb",
    "pipeline.object-reuse": "true",
}
ANSWER = """
    select {tick}, k, sum(v) as total, count(*) as n, avg(cast(v as double)) as mean, max(v) as top
    from table(hop(table events, descriptor(at_time), interval '1' second, interval '60' second))
    group by window_start, window_end, k
"""
COLUMNS = "k bigint, total bigint, n bigint, mean double, top bigint"
MILLISECONDS = "cast(timestampdiff(second, timestamp '1970-01-01 00:00:00', window_end) as bigint) * 1000"


def main(backend: str, folder: str) -> None:
    """Serve."""
    with tempfile.TemporaryDirectory() as checkpoints:
        work(backend, folder, checkpoints)


def work(backend: str, folder: str, checkpoints: str) -> None:
    """Set the tables up and serve."""
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    own = {"state.backend.type": backend, "execution.checkpointing.dir": Path(checkpoints).as_uri()}
    for name, value in (SETTINGS | own).items():
        tables.get_config().set(name, value)
    tables.execute_sql(
        f"""create table events (ts bigint, k bigint, v bigint, at_time as to_timestamp_ltz(ts, 3),
            watermark for at_time as at_time)
        with ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{Path(folder, "events.csv").as_uri()}')"""
    )
    tables.execute_sql(f"create table nowhere (tick timestamp(3), {COLUMNS}) with ('connector' = 'blackhole')")
    tables.execute_sql("create table nothing (ts bigint, k bigint, v bigint) with ('connector' = 'blackhole')")
    number = iter(range(1000))

    def answer(place: str) -> None:
        name = f"answer{next(number)}"
        sink = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{Path(place).as_uri()}'"
        tables.execute_sql(f"create table {name} (tick bigint, {COLUMNS}) with ({sink})")
        tables.execute_sql(f"insert into {name} {ANSWER.format(tick=MILLISECONDS)}").wait()

    def run() -> None:
        tables.execute_sql(f"insert into nowhere {ANSWER.format(tick='window_end')}").wait()

    def read() -> None:
        tables.execute_sql("insert into nothing select ts, k, v from events").wait()

    serve(f"Flink {version}", answer, run, read)


if __name__ == "__main__":
    main(*sys.argv[1:])
