"""Golden cases and generated questions, from their common form to answers in the same form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import transom
from transom.catalog.catalog import Catalog
from transom.model.types import Point
from transom.testing.cases import CaseFile, QueryCase, read_cases
from transom.testing.entries import CaseEntry

PLACES = {"km-1d": ("km",), "km-2d": ("x", "y")}
"""The columns that the places of a case are put into."""

GOLDEN = Path(__file__).parent / "golden" / "cases.yaml"


@dataclass(frozen=True)
class Case:
    """One question with its inputs, and its answer where it is known."""

    name: str
    schema: Any
    inputs: Any
    until: int
    text: str
    expected: dict[str, Any]
    language: str = "sneeql"


@cache
def golden_file() -> CaseFile:
    """The file of the hand-derived cases, as `transom test` reads it."""
    return read_cases(GOLDEN)


@cache
def golden_cases(language: str = "sneeql") -> list[Case]:
    """The hand-derived cases of a language, in the form of generated questions."""
    wanted = "sparql" if language == "streaming-sparql" else language
    return [golden_case(case.entry, language) for case in golden_file().cases if case.entry.language == wanted]


def decisions_of(case: QueryCase) -> list[str]:
    """The decisions that a golden case shows."""
    decisions: list[str] = case.entry.notes["decisions"]
    return decisions


def golden_case(entry: CaseEntry, language: str) -> Case:
    """A golden case in the form of a generated question: rows have their index, and places are values."""
    schema = dict(_rdf_schema(entry) if entry.language == "sparql" else _row_schema(entry))
    inputs = {
        name: list(_rows_with_index(schema[name]["kind"], schema[name], rows)) for name, rows in entry.inputs.items()
    }
    expected: dict[str, Any] = {"kind": entry.kind, "columns": entry.columns, "rows": entry.expected}
    if entry.error is not None:
        expected = {"kind": "error", "columns": ["reason"], "rows": [[entry.notes["reason"]]]}
    return Case(entry.name, schema, inputs, entry.until, str(entry.query), expected, language)


def _rdf_schema(entry: CaseEntry) -> Iterator[tuple[str, Any]]:
    yield "prefixes", entry.catalog["prefixes"]
    for name, declared in entry.catalog["rdf"].items():
        ((kind, iri),) = declared.items()
        yield name, {"kind": f"rdf-{kind}", "iri": iri}


def _row_schema(entry: CaseEntry) -> Iterator[tuple[str, Any]]:
    for name, declared in entry.catalog["extents"].items():
        kind, attributes = declared["kind"], declared["attributes"]
        if "position" in declared:
            axes = len(declared["position"]) - 1
            yield name, {"kind": "spatiotemporal", "space": f"km-{axes}d", "attrs": attributes[axes:]}
        elif kind == "sensed":
            interval = int(declared["every"].split()[0])
            yield name, {"kind": kind, "attrs": attributes, "interval": interval, "sites": declared["sites"]}
        else:
            yield name, {"kind": kind, "attrs": attributes}
    for name, region in entry.catalog.get("regions", {}).items():
        yield name, {"kind": "region"} | region


def _rows_with_index(kind: str, declared: Mapping[str, Any], rows: Any) -> Iterator[Any]:
    if kind == "stored":
        yield from ([int(tick), content] for tick, content in rows.items())
        return
    for index, (tick, *values) in enumerate(rows, 1):
        if kind == "spatiotemporal":
            axes = len(PLACES[declared["space"]])
            yield [tick, values[0] if axes == 1 else values[:axes], *values[axes:]]
        else:
            yield [tick, *values] if kind.startswith("rdf") else [tick, index, *values]


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
    parameters: dict[str, Any] = (
        {"parameters": ["mycar"]} if spatial else {}
    )  # the document's queries do not quote it (C8)
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
    language: Any = getattr(case, "language", "sneeql")
    query = transom.compile(case.text, catalog_of(case.schema), language=language, optimize=optimize, without=without)
    return answer_of(query, case)


def answer_of(query: transom.Query[Any], case: Any) -> dict[str, Any]:
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
