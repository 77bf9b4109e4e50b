"""The tables of docs/faults.md, made from the ledger: `python -m tests.matrix table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.matrix import ledger
from tests.matrix.faults import FAULTS, SAME, Fault
from tests.matrix.plans import PLANS

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
MARK = "<!-- {name}: made by python -m tests.matrix table -->\n"
END = "<!-- end -->\n"


def plans_table() -> str:
    """The plans, with their languages and executors."""
    rows = [
        f"| `{plan.shape}` | {plan.language} | {'kernel' if plan.kernel == 'on' else 'Python'} | {plan.what} |"
        for plan in PLANS.values()
    ]
    return _table("| plan | language | stateful operators run in | what it computes |", rows)


def faults_table(records: Sequence[ledger.Record]) -> str:
    """The faults: what happens, what is expected, and how many plans were run through each with this outcome."""
    last = ledger.newest(records)
    rows = []
    for fault in FAULTS.values():
        runs = [last[cell] for cell in last if cell[1] == fault.name]
        good = sum(record.good for record in runs)
        commits = ", ".join(sorted({f"`{record.commit}`" for record in runs})) or "none"
        dates = [record.date for record in runs]
        when = f"{max(dates)}, {commits}" if dates else "none"
        rows.append(f"| `{fault.name}` | {fault.what} | {expectation(fault)} | {good} of {len(PLANS)} | {when} |")
    return _table("| fault | what happens | expected outcome | plans with this outcome | last run, commit |", rows)


def expectation(fault: Fault) -> str:
    """The expected outcome of a fault as a sentence."""
    if fault.expected == SAME:
        return "The answers are the same as without the fault"
    if fault.but:
        plans = ", ".join(f"`{plan}`" for plan in fault.but)
        return f"{expectation(replace(fault, but={}))}. For {plans}, the answers are the same at once. {fault.why}"
    kind, _, remedy = fault.expected.partition(": ")
    action = remedy.removesuffix("; then the same answers")
    stops = "The run stops, and the error names" if kind == "refused" else "The run continues, and a warning names"
    return f"{stops} the file or folder and the remedy: {action}. Then the answers are the same"


def cells_table(records: Sequence[ledger.Record]) -> str:
    """A row per plan and a column per fault: the rows that were compared, or what was wrong."""
    last = ledger.newest(records)
    rows = []
    for plan in PLANS:
        cells = [_cell(last.get((plan, fault))) for fault in FAULTS]
        rows.append(f"| `{plan}` | {' | '.join(cells)} |")
    return _table(f"| plan | {' | '.join(f'`{fault}`' for fault in FAULTS)} |", rows)


def _cell(record: ledger.Record | None) -> str:
    if record is None:
        return ""
    return f"{record.rows}" if record.good else "**differs**"


def kills_line(records: Sequence[ledger.Record]) -> str:
    """How many kills the ledger counts, and how many of their runs were wrong."""
    kills = sum(record.kills for record in records)
    wrong = sum(record.wrong is not None for record in records if record.kills)
    return f"The ledger counts {kills:,} kills of a run with SIGKILL. Runs with lost, doubled or wrong rows: {wrong}.\n"


def _table(head: str, rows: Sequence[str]) -> str:
    return "\n".join([head, "| --- " * head.count(" | ") + "| --- |", *rows]) + "\n"


def parts() -> dict[str, str]:
    """The generated parts of the page, by name."""
    records = ledger.read()
    return {
        "plans": plans_table(),
        "faults": faults_table(records),
        "cells": cells_table(records),
        "kills": kills_line(records),
    }


def filled(page: str) -> str:
    """The page with its generated parts made anew."""
    for name, text in parts().items():
        mark = MARK.format(name=name)
        if mark not in page:
            raise ValueError(f"{PAGE.name} lacks the line {mark.strip()}")
        before, _, rest = page.partition(mark)
        page = f"{before}{mark}\n{text}\n{END}{rest.partition(END)[2]}"
    return page


def rewrite() -> None:
    """Write the generated parts of the page."""
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
