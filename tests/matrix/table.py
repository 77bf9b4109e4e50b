"""The tables of docs/faults.md, made from the ledger: `python -m tests.matrix table`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.matrix import ledger
from tests.matrix.faults import FAULTS, SAME, Fault, Kind
from tests.matrix.plans import PLANS

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
MARK = "<!-- {name}: made by python -m tests.matrix table -->\n"
END = "<!-- end -->\n"
_OPTION = re.compile(r"--\S+ \S+")


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
    count, date = "how many plans had this outcome", "date and commit of the last run"
    return _table(f"| fault | what happens | expected outcome | {count} | {date} |", rows)


def expectation(fault: Fault) -> str:
    """The expected outcome of a fault as a sentence."""
    if fault.expected == SAME:
        return "The answers are the same as without the fault"
    if fault.but:
        plans = ", ".join(f"`{plan}`" for plan in fault.but)
        return f"{expectation(replace(fault, but={}))}. The plans {plans} do not stop. {fault.why}"
    kind, _, remedy = fault.expected.partition(": ")
    action = _OPTION.sub(r"`\g<0>`", remedy.removesuffix("; then the same answers"))
    runs, message = ("stops", "error") if kind == "refused" else ("continues", "warning")
    path = "the file or folder and " if fault.names else ""
    same = (
        "right for all messages that the run could read"
        if fault.kind is Kind.TOPIC
        else "the same as without the fault"
    )
    return (
        f"The run {runs}. The {message} message names {path}a remedy: {action}. After this step, the answers are {same}"
    )


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
    return (
        "The file `tests/matrix/ledger.jsonl` records all runs of cells. "
        f"In these runs, a working process was killed with SIGKILL {kills:,} times.\n"
        f"The number of runs with missing, duplicate or wrong rows is {wrong}.\n"
    )


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
