"""Golden cases and generated questions, from their common form to answers in the same form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import transom
from transom.catalog.extents import Catalog

GOLDEN = Path(__file__).parent / "golden" / "cases.yaml"


@dataclass(frozen=True)
class Case:
    """One question with its inputs, and its answer where it is known."""

    name: str
    schema: Mapping[str, Any]
    inputs: Mapping[str, Any]
    until: int
    text: str
    expected: Mapping[str, Any]


@cache
def golden_cases(language: str = "sneeql") -> list[Case]:
    """The hand-derived cases of a language."""
    cases = yaml.load(GOLDEN.read_text("utf-8"), yaml.CSafeLoader)["cases"]
    return [
        Case(c["name"], c["schema"], c["inputs"], c["until"], c["query"], c["expected"])
        for c in cases
        if c["language"] == language
    ]


def catalog_of(schema: Mapping[str, Any]) -> Catalog:
    """The catalog that a case declares."""
    extents: dict[str, Any] = {}
    for name, entry in schema.items():
        extents[name] = {"kind": entry["kind"], "attributes": entry["attrs"]}
        if entry["kind"] == "sensed":
            extents[name] |= {"every": f"{entry['interval']} s", "sites": entry["sites"]}
    return Catalog.from_dict({"extents": extents})


def inputs_of(schema: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a case as `simulate` takes them; the index is given anew."""
    given: dict[str, Any] = {}
    for name, rows in inputs.items():
        if schema[name]["kind"] == "stored":
            given[name] = dict(rows)
        else:
            given[name] = [(tick, *values) for tick, _, *values in rows]
    return given


def run(case: Any, *, optimize: bool = True, without: Collection[str] = ()) -> dict[str, Any]:
    """The answer to a case, in the form of the golden file."""
    query = transom.compile(case.text, catalog_of(case.schema), optimize=optimize, without=without)
    return answer_of(query, case)


def answer_of(query: transom.Query, case: Any) -> dict[str, Any]:
    """The answer of a compiled query to a case's inputs, in the form of the golden file."""
    answer = query.simulate(inputs_of(case.schema, case.inputs), until=case.until)
    rows: list[Any]
    if answer.kind == "windows":
        rows = [[w.tick, [list(row) for row in w.rows]] for w in answer.windows]
    else:
        rows = [[e.tick, e.index, *e.row] for e in answer.elements]
    return {"kind": answer.kind, "columns": list(answer.columns), "rows": rows}
