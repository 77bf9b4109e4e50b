"""Sixteen cells of the matrix of plans and faults, in which every plan and every fault without a server occurs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.matrix import processes
from tests.matrix.bench import Bench, Place, unbalanced
from tests.matrix.faults import FAULTS, Kind
from tests.matrix.inflicted import run_cell
from tests.matrix.plans import PLANS
from tests.spark.memory import scratch
from transom.errors import QueryWarning

CHOSEN = [("slide", "torn_commits")]
NIGHTLY = [
    ("slide", "old_copy"),
    ("rows", "kill"),
    ("rdf_join", "woken"),
    ("slide", "clock_ahead"),
    ("distance", "clock_back"),
    ("rdf_optional", "worker"),
    ("scan", "disk_local"),
    ("nested", "torn_offsets"),
    ("changes", "torn_planned"),
    ("mixed", "flipped_state"),
    ("region", "deleted_state"),
    ("sparql_over_cql", "deleted_metadata"),
    ("join", "deleted_answers"),
    ("rdf_join", "disk_checkpoint"),
    ("region", "disk_sink"),
]


@pytest.fixture
def bench(spark: Any) -> Any:
    with scratch() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        yield Bench(spark, folder / "bench")


@pytest.mark.parametrize(
    ("plan", "fault"), [*CHOSEN, *(pytest.param(*cell, marks=pytest.mark.nightly) for cell in NIGHTLY)]
)
def test_cell(bench: Bench, plan: str, fault: str) -> None:
    if FAULTS[fault].kind is Kind.PROCESS:
        (record,) = processes.run_group(bench, fault, [plan])
    else:
        record = run_cell(bench, PLANS[plan], FAULTS[fault])
    assert record.good, record
    assert record.rows > 5


def test_cells_hold_every_plan_and_every_fault_without_a_server() -> None:
    cells = [*CHOSEN, *NIGHTLY]
    assert len(cells) == 16
    assert {plan for plan, _ in cells} == set(PLANS)
    assert {fault for _, fault in cells} == {
        fault.name for fault in FAULTS.values() if fault.kind not in (Kind.TOPIC, Kind.DATABASE)
    }


def drop_a_row(table: pa.Table) -> pa.Table:
    return table.slice(1)


def double_a_row(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 1), table])


@pytest.mark.nightly
@pytest.mark.parametrize("seeded", [drop_a_row, double_a_row])
def test_balance_and_rows_show_a_row_that_was_dropped_or_doubled(bench: Bench, seeded: Any) -> None:
    """The fault is in what the run reads: its files no longer hold the rows of the run without a fault."""
    place = bench.prepared(PLANS["slide"])
    change_a_file(place, seeded)
    place.add_later()
    bench.continued(place)
    rows, wrong = bench.wrong(place)
    assert rows > 5
    assert wrong is not None
    assert "without a kill" in wrong
    assert "its balance is" in (unbalanced(place) or "")


def change_a_file(place: Place, change: Any) -> None:
    """Change the first file that the plan has not read yet."""
    file: Path = min((place.folder / "later").rglob("*.parquet"))
    pq.write_table(change(pq.read_table(file)), file)
