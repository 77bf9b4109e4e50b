"""The hand-derived cases of calendar windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import transom
from tests.cases import Case, golden_case
from transom.catalog.catalog import Catalog
from transom.testing.cases import CaseFile, read_cases

GOLDEN = Path(__file__).parents[1] / "golden" / "calendar.yaml"


@dataclass(frozen=True)
class GoldenCase(Case):
    """A golden case with the ticks and the epoch of its catalog."""

    time: Mapping[str, str] | None = None

    def compile(self, *, optimize: bool = True) -> transom.Query:
        extents = {name: {"kind": entry["kind"], "attributes": entry["attrs"]} for name, entry in self.schema.items()}
        catalog = Catalog.from_dict({**(self.time or {}), "extents": extents})
        return transom.compile(self.text, catalog, language=self.language, optimize=optimize)


@cache
def calendar_file() -> CaseFile:
    """The file of the cases, as `transom test` reads it."""
    return read_cases(GOLDEN)


@cache
def golden_cases() -> list[GoldenCase]:
    """The cases of the file, in order."""
    return [
        GoldenCase(
            **vars(golden_case(case.entry, case.entry.language)),
            time={key: case.entry.catalog[key] for key in ("tick", "epoch")},
        )
        for case in calendar_file().cases
    ]
