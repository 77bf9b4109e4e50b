"""DuckDB as a peer, the bound for a replay on one machine: `python -m benchmarks.peers.on_duckdb FOLDER`.

It sees all events at once: sums per key and second first, then frames over a grid of all keys and seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

from benchmarks.peers.events import WIDTH
from benchmarks.peers.speak import serve

QUERY = f"""
with panes as (
    select k, ts // 1000 as s, sum(v) as t, count(*) as c, max(v) as m from events group by k, ts // 1000
), seconds as (
    select unnest(range((select min(s) from panes), (select max(s) from panes) + {WIDTH})) as s
), grid as (
    select keys.k, seconds.s from (select distinct k from panes) as keys cross join seconds
), slid as (
    select s, k, sum(t) over w as total, sum(c) over w as n, max(m) over w as top
    from grid left join panes using (k, s)
    window w as (partition by k order by s rows between {WIDTH - 1} preceding and current row)
)
select ((s + 1) * 1000)::bigint as tick, k, total::bigint as total, n::bigint as n, total::double / n as mean, top
from slid where n > 0
"""


def main(folder: str) -> None:
    """Serve."""
    engine = duckdb.connect()
    engine.execute("set threads = 2; set preserve_insertion_order = false")
    columns = "{'ts': 'bigint', 'k': 'bigint', 'v': 'bigint'}"
    file = Path(folder) / "events.csv"
    engine.execute(f"create view events as select * from read_csv('{file}', header = false, columns = {columns})")

    def answer(place: str) -> None:
        Path(place).mkdir(parents=True)
        engine.execute(f"copy ({QUERY}) to '{place}/answer.parquet'")

    def count(query: str) -> None:
        """All columns of all rows are made, and dropped here."""
        engine.execute(query).fetchnumpy()

    serve(f"DuckDB {duckdb.__version__}", answer, lambda: count(QUERY), lambda: count("select * from events"))


if __name__ == "__main__":
    main(*sys.argv[1:])
