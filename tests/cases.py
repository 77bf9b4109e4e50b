"""Golden cases and generated questions, from their common form to answers in the same form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import transom
from transom.catalog.catalog import Catalog
from transom.model.types import Point

PLACES = {"km-1d": ("km",), "km-2d": ("x", "y")}
"""The columns that the places of a case are put into."""

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
    language: str = "sneeql"


LANGUAGES = {"sneeql": "sneeql", "cql": "cql-spatial"}
"""What the golden file calls a language."""


@cache
def golden_cases(language: str = "sneeql") -> list[Case]:
    """The hand-derived cases of a language."""
    wanted = LANGUAGES.get(language, language)
    cases = yaml.load(GOLDEN.read_text("utf-8"), yaml.CSafeLoader)["cases"]
    return [
        Case(c["name"], c["schema"], c["inputs"], c["until"], c["query"], c["expected"], language)
        for c in cases
        if c["language"] == wanted
    ]


def catalog_of(schema: Mapping[str, Any]) -> Catalog:
    """The catalog that a case declares."""
    extents: dict[str, Any] = {}
    regions: dict[str, Any] = {}
    spatial = any(entry["kind"] == "spatiotemporal" for entry in schema.values())
    for name, entry in schema.items():
        match entry["kind"]:
            case "region":
                regions[name] = {"polygon": entry["polygon"]}
            case "spatiotemporal":
                x, *y = PLACES[entry["space"]]
                position = {"x": x, "unit": "km"} | ({"y": y[0]} if y else {})
                attributes = [*(f"{column}:float" for column in (x, *y)), *entry["attrs"]]
                extents[name] = {"kind": "pushed", "attributes": attributes, "position": position}
            case kind:
                extents[name] = {"kind": kind, "attributes": entry["attrs"]}
                if kind == "sensed":
                    extents[name] |= {"every": f"{entry['interval']} s", "sites": entry["sites"]}
    parameters = {"parameters": ["mycar"]} if spatial else {}  # the document's queries do not quote it (C8)
    return Catalog.from_dict({"extents": extents} | ({"regions": regions} if regions else {}) | parameters)


def inputs_of(schema: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a case as `simulate` takes them; the index is given anew."""
    given: dict[str, Any] = {}
    for name, rows in inputs.items():
        if schema[name]["kind"] == "stored":
            given[name] = dict(rows)
        elif schema[name]["kind"] == "spatiotemporal":
            given[name] = [(tick, *(g if isinstance(g, list) else [g]), *values) for tick, g, *values in rows]
        else:
            given[name] = [(tick, *values) for tick, _, *values in rows]
    return given


def run(case: Any, *, optimize: bool = True, without: Collection[str] = ()) -> dict[str, Any]:
    """The answer to a case, in the form of the golden file."""
    language = getattr(case, "language", "sneeql")
    query = transom.compile(case.text, catalog_of(case.schema), language=language, optimize=optimize, without=without)
    return answer_of(query, case)


def answer_of(query: transom.Query, case: Any) -> dict[str, Any]:
    """The answer of a compiled query to a case's inputs, in the form of the golden file."""
    answer = query.simulate(inputs_of(case.schema, case.inputs), until=case.until)
    rows: list[Any]
    if answer.kind == "windows":
        rows = [[w.tick, [[plain(value) for value in row] for row in w.rows]] for w in answer.windows]
    else:
        rows = [[*answer.tag(e), *map(plain, e.row)] for e in answer.elements]
    return {"kind": answer.kind, "columns": list(answer.columns), "rows": rows}


def plain(value: Any) -> Any:
    """A value as the golden file writes it: a place is a list of its coordinates."""
    return list(value) if isinstance(value, Point) else value
