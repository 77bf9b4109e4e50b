"""The ledger of the matrix, the cells that are due, and the page that is made from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.matrix import ledger, table
from tests.matrix.faults import FAULTS, SAME, refused, warned
from tests.matrix.ledger import Record
from tests.matrix.plans import PLANS
from tests.matrix.remedies import Remedy, files_to_delete, remedy_of
from tests.matrix.run import chosen, due
from transom.errors import CheckpointError
from transom.runtime.failures import translate_error

OUTCOMES = {SAME, *(kind(remedy) for kind in (refused, warned) for remedy in Remedy)}
GOOD = Record("slide", "kill", SAME, SAME, None, 59, "traffic: 1 read = 1 used", 3.5, 2, "", "abc", "2026-01-01")


def test_page_is_what_the_ledger_says() -> None:
    page = table.PAGE.read_text("utf-8")
    assert table.filled(page) == page, "run python -m tests.matrix table"


def test_ledger_holds_cells_of_the_matrix_with_their_fixed_outcomes() -> None:
    for record in ledger.newest(ledger.read()).values():
        assert record.plan in PLANS
        assert record.expected == FAULTS[record.fault].expected_of(record.plan)
        assert record.rows > 5
        assert not record.commit.endswith("+"), "the code of this run is in no commit"


def test_newest_run_of_each_cell_is_as_expected() -> None:
    wrong = [(*record.cell, record.outcome, record.wrong) for record in ledger.newest(ledger.read()).values()]
    assert [one for one, record in zip(wrong, ledger.newest(ledger.read()).values()) if not record.good] == []


def test_matrix_has_twelve_plans_of_three_languages_and_fifteen_faults() -> None:
    assert len(PLANS) == 12
    assert len(FAULTS) >= 15
    assert {plan.language for plan in PLANS.values()} == {"SNEEql", "CQL", "SPARQL"}
    assert {(plan.language, plan.kernel) for plan in PLANS.values()} == {
        (language, kernel) for language in ("SNEEql", "CQL", "SPARQL") for kernel in ("on", "off")
    }
    for fault in FAULTS.values():
        assert {fault.expected_of(plan) for plan in PLANS} <= OUTCOMES


def test_due_cells_are_those_without_a_good_run_at_the_commit_the_oldest_first(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    worn = replace(GOOD, plan="rows", commit="old")
    failed = replace(GOOD, plan="join", wrong="a row is missing")
    assert ledger.read(path) == []
    ledger.write([worn, failed], path)
    ledger.write([GOOD], path)
    records = ledger.read(path)
    assert records == [worn, failed, GOOD]
    assert not failed.good
    cells = chosen(["slide", "join", "rows", "scan"], ["kill"])
    assert due(cells, records, "abc") == [("scan", "kill"), ("rows", "kill"), ("join", "kill")]
    assert due(cells, records, "new")[-1] == ("slide", "kill")


def test_shards_are_all_cells_once() -> None:
    shards = [chosen(PLANS, FAULTS, f"{number}/5") for number in range(1, 6)]
    cells = [cell for shard in shards for cell in shard]
    assert sorted(cells) == sorted(chosen(PLANS, FAULTS))
    assert len(set(cells)) == len(cells) == len(PLANS) * len(FAULTS)


def test_a_cell_with_other_rows_or_another_outcome_is_not_good() -> None:
    assert GOOD.good
    assert not replace(GOOD, wrong="12 rows are doubled").good
    assert not replace(GOOD, outcome=refused(Remedy.NEW)).good
    assert "**differs**" in table.cells_table([replace(GOOD, wrong="12 rows are doubled")])
    assert "| 59 |" in table.cells_table([GOOD])


@pytest.mark.parametrize(
    ("hint", "remedy"),
    [
        ("delete /k/commits/2 and /k/offsets/3: its micro-batch is then done again", Remedy.DELETE),
        ("make room and start the query again", Remedy.ROOM),
        ("start the query again: no row is lost or repeated", Remedy.WAIT),
        ("put it back from a copy, or start with a new checkpoint", Remedy.REPLACE),
        ("look at it", None),
        (None, None),
    ],
)
def test_remedies_are_read_from_hints(hint: str | None, remedy: Remedy | None) -> None:
    assert remedy_of(CheckpointError("damaged", hint=hint)) is remedy


def test_files_that_a_hint_names_are_found() -> None:
    error = CheckpointError("damaged", hint="delete /k/commits/2 and /k/offsets/3: its micro-batch is then done again")
    assert files_to_delete(error) == [Path("/k/commits/2"), Path("/k/offsets/3")]


def test_damaged_state_asks_for_a_copy() -> None:
    error = translate_error(RuntimeError("[CANNOT_LOAD_STATE_STORE.CANNOT_READ_CHECKPOINT] x"), [Path("/k")])
    assert error is not None
    assert remedy_of(error) is Remedy.COPY
