"""A picture as its tests look at it: the parsed document, and the parts they ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import transom
from tests.cases import Case, catalog_of, inputs_of
from transom.algebra.operator import Plan
from transom.picture import draw_picture
from transom.reference.sources import Inputs

SVG = "{http://www.w3.org/2000/svg}"
TRAFFIC = {"traffic": {"kind": "pushed", "attrs": ["weight:integer"]}}
OFFSET = "SELECT weight FROM traffic [FROM NOW-20 TO NOW-10 SLIDE 5 SEC]"
IRREGULAR = (1, 3, 4, 4, 9, 12, 13, 19, 20, 22, 25, 25, 25, 31, 33, 38, 40, 41, 47, 52, 58, 60)


@dataclass(frozen=True)
class Drawing:
    """A drawn query: its plan, its inputs and the root of the document."""

    plan: Plan
    inputs: Inputs
    svg: str
    root: ElementTree.Element

    def all(self, name: str, within: ElementTree.Element | None = None) -> list[ElementTree.Element]:
        """The elements of a class."""
        root = self.root if within is None else within
        return [e for e in root.iter() if name in e.get("class", "").split()]

    @property
    def lanes(self) -> dict[str, ElementTree.Element]:
        """The lanes by name."""
        return {lane.get("data-name", ""): lane for lane in self.all("lane")}

    def windows(self, lane: str) -> list[ElementTree.Element]:
        """The windows of a lane."""
        return self.all("window", self.lanes[lane])

    def at(self, tick: int) -> float:
        """Where a tick lies, by two marks of the axis."""
        (t0, x0), (t1, x1) = [(number(e, "data-tick"), float(e.get("x1", ""))) for e in self.all("tick")][:2]
        return x0 + (tick - t0) * (x1 - x0) / (t1 - t0)

    @property
    def words(self) -> str:
        """All text of the picture."""
        return "\n".join("".join(e.itertext()) for e in self.root.iter(f"{SVG}text"))


def number(element: ElementTree.Element, attribute: str) -> int:
    """An attribute that is a whole number."""
    return int(element.get(attribute, ""))


def draw(text: str, schema: Mapping[str, Any], inputs: Mapping[str, Any], until: int, **options: Any) -> Drawing:
    """The picture of a query over inputs in the form of the golden file."""
    catalog = catalog_of(schema)
    start = options.pop("start", 0)
    query = transom.compile(text, catalog, optimize=options.pop("optimize", False))
    given = query.inputs(inputs_of(schema, inputs), until, start=start)
    svg = draw_picture(query.optimized, given, catalog.calendar, **{"query_text": text, **options})
    return Drawing(query.optimized, given, svg, ElementTree.fromstring(svg))  # noqa: S314 - we wrote it


def draw_case(case: Case) -> Drawing:
    """The picture of a golden case."""
    return draw(case.text, case.schema, case.inputs, case.until, title=case.name)


def traffic(ticks: Sequence[int]) -> dict[str, Any]:
    """One tuple of traffic at each of the ticks."""
    return {"traffic": [[tick, place, 100 + place] for place, tick in enumerate(ticks, start=1)]}
