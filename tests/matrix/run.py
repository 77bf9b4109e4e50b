"""Run cells of the matrix: `python -m tests.matrix run [--plan P] [--fault F] [--shard K/N] [--minutes M]`.

Each cell adds a line to the ledger. Cells that were run at this commit with the expected outcome are left out, and
those that were never run, or not for longest, come first.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.matrix import ledger, table
from tests.matrix.bench import Bench
from tests.matrix.faults import FAULTS, Kind
from tests.matrix.plans import PLANS
from tests.spark.memory import scratch

Cell = tuple[str, str]


def chosen(plans: Iterable[str], faults: Iterable[str], shard: str = "1/1") -> list[Cell]:
    """The cells of some plans and faults, of which a shard `K/N` has every Nth plan."""
    number, count = map(int, shard.split("/"))
    mine = [plan for place, plan in enumerate(plans) if place % count == number - 1]
    return [(plan, fault) for fault in faults for plan in mine]


def due(cells: Sequence[Cell], records: Sequence[ledger.Record], commit: str) -> list[Cell]:
    """The cells that are still to be run at a commit; those that were not run for longest come first."""
    last = {cell: number for number, cell in enumerate(record.cell for record in records)}
    done = {record.cell for record in records if record.commit == commit and record.good}
    return sorted((cell for cell in cells if cell not in done), key=lambda cell: last.get(cell, -1))


def by_plan(cell: Cell) -> int:
    """The place of a cell's plan: a plan is prepared once for all its cells."""
    return list(PLANS).index(cell[0])


def run(cells: Sequence[Cell], seconds: float, path: Path = ledger.LEDGER, kills: int = 2) -> list[ledger.Record]:
    """Run cells until the time is up, and write each to the ledger as soon as it is judged."""
    from tests.matrix import processes
    from tests.matrix.inflicted import run_cell
    from tests.matrix.servers import database, topic_faults
    from tests.spark.kills.chaos_child import session

    end = time.monotonic() + seconds
    records: list[ledger.Record] = []

    def run_cells(bench: Bench, plan: str, fault: str) -> list[ledger.Record]:
        return [run_cell(bench, PLANS[plan], FAULTS[fault])]

    def on_broker(broker: Any, plan: str, fault: str) -> list[ledger.Record]:
        return [topic_faults.run_cell(spark, broker, folder / "topics", plan, fault)]

    def in_table(bench: Bench, cluster: Any, plan: str, fault: str) -> list[ledger.Record]:
        return [database.run_cell(bench, cluster, plan, fault)]

    def keep(new: Sequence[ledger.Record]) -> None:
        ledger.write(new, path)
        records.extend(new)
        for one in new:
            state = "good " if one.good else "WRONG"
            print(f"{state} {one.plan:16} {one.fault:18} {one.seconds:5.1f} s  {one.outcome}", flush=True)
            if not one.good:
                print(f"      {one.wrong or ''} {one.message}", flush=True)

    with scratch() as folder:
        on_topics = sorted((cell for cell in cells if FAULTS[cell[1]].kind is Kind.TOPIC), key=by_plan)
        spark = session(jars=",".join(topic_faults.connector_jars(folder)) if on_topics else "")
        bench = Bench(spark, folder / "bench")
        for fault, plans in processes.groups([cell for cell in cells if FAULTS[cell[1]].kind is Kind.PROCESS]):
            if time.monotonic() < end:
                keep(tried(plans, fault, partial(processes.run_group, bench, fault, plans, kills)))
        inside = [cell for cell in cells if FAULTS[cell[1]].kind in (Kind.DAMAGE, Kind.DISK)]
        for plan, fault in sorted(inside, key=by_plan):
            if time.monotonic() < end:
                keep(tried([plan], fault, partial(run_cells, bench, plan, fault)))
        if on_topics:
            with topic_faults.running_broker(folder / "kafka") as broker:
                for plan, fault in on_topics:
                    if time.monotonic() < end:
                        keep(tried([plan], fault, partial(on_broker, broker, plan, fault)))
        on_database = [cell for cell in cells if FAULTS[cell[1]].kind is Kind.DATABASE]
        if on_database:
            with database.running_database(folder / "postgresql") as cluster:
                for plan, fault in on_database:
                    if time.monotonic() < end:
                        keep(tried([plan], fault, partial(in_table, bench, cluster, plan, fault)))
        spark.stop()
    return records


def tried(plans: Sequence[str], fault: str, work: Callable[[], list[ledger.Record]]) -> list[ledger.Record]:
    """Run cells; if the test itself fails, the cells are recorded as wrong."""
    try:
        return work()
    except Exception as error:
        traceback.print_exc()
        expected = {plan: FAULTS[fault].expected_of(plan) for plan in plans}
        wrong = f"the test failed: {error!r}"[:1000]
        return [ledger.Record(plan, fault, expected[plan], "not judged", wrong, 0, "", 0.0) for plan in plans]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="run cells")
    runner.add_argument("--plan", choices=PLANS, action="append")
    runner.add_argument("--fault", choices=FAULTS, action="append")
    runner.add_argument("--shard", default="1/1", help="K/N: every Nth plan")
    runner.add_argument("--minutes", type=float, default=60.0)
    runner.add_argument("--again", action="store_true", help="also cells that were run at this commit")
    runner.add_argument("--kills", type=int, default=2, help="kills of each plan in the cells of the fault kill")
    runner.add_argument("--ledger", type=Path, default=ledger.LEDGER)
    commands.add_parser("table", help="write the tables of docs/faults.md from the ledger")
    options = parser.parse_args()
    if options.command == "table":
        table.rewrite()
        return 0
    cells = chosen(options.plan or PLANS, options.fault or FAULTS, options.shard)
    records = [] if options.again else ledger.read(options.ledger)
    todo = due(cells, records, ledger.tested_commit())
    print(f"{len(todo)} of {len(cells)} cells are due", flush=True)
    done = run(todo, options.minutes * 60, options.ledger, options.kills)
    print(f"{sum(record.good for record in done)} of {len(done)} cells as expected")
    return int(any(not record.good for record in done))


if __name__ == "__main__":
    sys.exit(main())
