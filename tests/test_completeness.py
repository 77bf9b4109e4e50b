"""Every operator and every function once in each layer, documented, and every gap declared."""

from __future__ import annotations

import inspect
import re
from dataclasses import is_dataclass
from importlib import import_module

import pytest

import transom.reference.rdf.forms
import transom.reference.rdf.patterns
import transom.reference.rdf.statements
import transom.reference.relations
import transom.reference.sources
import transom.reference.streams
import transom.reference.windows
from transom.algebra.expressions.functions import FUNCTIONS, SPACE_FUNCTIONS
from transom.algebra.operator import Operator
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.sources import StreamReceive
from transom.algebra.state import bounds
from transom.algebra.tree import OPERATORS
from transom.algebra.windows import (
    AtStart,
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnChange,
    OnRowCount,
    Range,
    RangeIntersection,
    RegionRange,
    Slide,
    TableContent,
    UnboundedRange,
    Window,
)
from transom.errors import PlanError
from transom.model.bag import Element
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position
from transom.model.periods import LocalDays, PeriodUnit
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.record import Record
from transom.reference.evaluate import evaluate_window
from transom.reference.functions import IMPLEMENTATIONS
from transom.reference.sources import Inputs
from transom.reference.space_functions import SPACE_IMPLEMENTATIONS

FAMILIES = {
    "sources": transom.reference.sources,
    "windows": transom.reference.windows,
    "relations": transom.reference.relations,
    "streams": transom.reference.streams,
    "sequences": transom.reference.relations,
    "rdf.statements": transom.reference.rdf.statements,
    "rdf.patterns": transom.reference.rdf.patterns,
    "rdf.forms": transom.reference.rdf.forms,
}
ELSEWHERE = {"StoredTable": ("sources", "scan_table")}
"""A table is no stream: it is read by a scan."""

ROAD = StreamReceive("cars", Schema((Attribute("id", Type.STRING, "cars"), Attribute("km", Type.FLOAT, "cars"))))
KM = Position("km", None, unit=1_000_000_000)
SEA = from_wkt("East_China_Sea", "POLYGON ((0 -1, 9 -1, 9 1, 0 1, 0 -1))")
TICK, INDEX, DISTANCE = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE
KEY = (Attribute("id", Type.STRING, "cars"),)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_operator_is_in_the_unions(family: str) -> None:
    module = import_module(f"transom.algebra.{family}")
    found = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Operator)]
    assert {one for one in found if one.__module__ == module.__name__} <= set(OPERATORS)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.__name__)
class TestOperator:
    def test_is_a_frozen_value(self, operator: type) -> None:
        assert is_dataclass(operator)
        assert operator.__dataclass_params__.frozen  # type: ignore[attr-defined]
        compared = operator.__dataclass_params__.eq or operator.__eq__ is Record.__eq__  # type: ignore[attr-defined]
        assert compared, "it compares its fields, and nothing else"

    def test_states_its_meaning(self, operator: type) -> None:
        words = inspect.getdoc(operator) or ""
        for part in ("Meaning", "Bounds", "Source", "State"):
            assert re.search(rf"^{part} +\S", words, re.MULTILINE), f"no {part} line"

    def test_has_one_function_in_the_reference(self, operator: type) -> None:
        own = operator.__module__.removeprefix("transom.algebra."), snake(operator.__name__)
        family, name = ELSEWHERE.get(operator.__name__, own)
        assert callable(getattr(FAMILIES[family], name))

    def test_has_a_state_bound(self, operator: type) -> None:
        assert operator.__name__ in inspect.getsource(bounds.operator_state)


def test_every_function_has_an_implementation() -> None:
    assert set(IMPLEMENTATIONS) == set(FUNCTIONS)
    assert set(SPACE_IMPLEMENTATIONS) == set(SPACE_FUNCTIONS)
    assert all(function.meaning for function in (FUNCTIONS | SPACE_FUNCTIONS).values())


DAYS = LocalDays.of("Europe/Berlin", Calendar())
TABLE = {
    "SNEEql FROM..TO..SLIDE time": (Every(TICK, 60), CoordinateRange(TICK, Bound(60, -600), Bound(60, 0)), ()),
    "SNEEql FROM..TO..SLIDE rows": (Every(INDEX, 3, 3), CoordinateRange(INDEX, Bound(3, -5), Bound(3, -1)), ()),
    "CQL RANGE SLIDE": (Every(TICK, 600), CoordinateRange(TICK, Bound(600, -3600), Bound(600, 0)), ()),
    "CQL ROWS": (OnArrival(), CoordinateRange(INDEX, Bound(1, -4), Bound(1, 0)), ()),
    "CQL ROWS SLIDE": (OnRowCount(2), CoordinateRange(INDEX, Bound(2, -4), Bound(2, 0)), ()),
    "CQL UNBOUNDED": (OnArrival(), UnboundedRange(), ()),
    "CQL region and time": (
        OnChange(),
        RangeIntersection((RegionRange(SEA), CoordinateRange(TICK, Bound(1, -3), Bound(1, 0)))),
        (),
    ),
    "CQL region": (OnArrival(), RegionRange(SEA), ()),
    "CQL region with a slide": (Every(DISTANCE, 10), RegionRange(SEA), ()),
    "CQL space, space": (Every(DISTANCE, 10), CoordinateRange(DISTANCE, Bound(10, -50), Bound(10, 0)), KEY),
    "CQL space, time": (Every(TICK, 600), CoordinateRange(DISTANCE, Bound(1, -50), Bound(1, 0)), KEY),
    "CQL time, space": (Every(DISTANCE, 10), CoordinateRange(TICK, Bound(1, -600), Bound(1, 0)), ()),
    "calendar periods": (EveryPeriod(PeriodUnit.WEEK, 2, DAYS), PeriodRange(PeriodUnit.DAY, 7, 1, DAYS), ()),
    "SPARQL RANGE SLIDE": (Every(TICK, 1), CoordinateRange(TICK, Bound(5, 5 - 20), Bound(1, 0)), ()),
    "SPARQL ELEMS": (OnArrival(), CoordinateRange(INDEX, Bound(1, -9), Bound(1, 0)), ()),
}
"""The table of windows in docs/operators.md; SCAN stands on a table and is built by every SCAN query."""


@pytest.mark.parametrize("row", TABLE)
def test_every_window_of_the_table_can_be_built(row: str) -> None:
    slide, reach, key = TABLE[row]
    window = Window(ROAD, slide, reach, key, position=KM)
    assert window.schema == ROAD.schema
    assert str(bounds.operator_state(window))
    inputs = Inputs(600, {"cars": [Element(1, 1, ("a", 0.0)), Element(4, 2, ("b", 20.0))]})
    assert evaluate_window(window, inputs) or slide == Every(INDEX, 3, 3) or isinstance(slide, EveryPeriod)


def test_the_windows_of_the_other_languages_hold_what_they_should() -> None:
    inputs = Inputs(6, {"cars": [Element(0, 1, ("a", 0.0)), Element(2, 2, ("b", 0.0)), Element(2, 3, ("c", 0.0))]})
    rows = evaluate_window(Window(ROAD, *TABLE["CQL ROWS"][:2]), inputs)
    assert [(w.tick, len(w.rows)) for w in rows] == [(0, 1), (2, 3)]
    sparql = Window(ROAD, Every(TICK, 1), CoordinateRange(TICK, Bound(2, 2 - 4), Bound(1, 0)))
    assert [(w.tick, len(w.rows)) for w in evaluate_window(sparql, inputs)] == [
        (0, 1), (1, 1), (2, 3), (3, 3), (4, 2), (5, 2), (6, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("slide", "reach"),
    [
        (AtStart(), CoordinateRange(TICK, Bound(1, 0), Bound(1, 0))),
        (Every(TICK, 1), TableContent()),
        (OnArrival(), RegionRange(SEA)),
        (Every(TICK, 1), CoordinateRange(DISTANCE, Bound(1, -5), Bound(1, 0))),
        (Every(DISTANCE, 5), CoordinateRange(TICK, Bound(1, -5), Bound(1, 0))),
        (OnChange(), CoordinateRange(TICK, Bound(1, -5), Bound(1, 0))),
        (OnRowCount(2), CoordinateRange(TICK, Bound(1, -5), Bound(1, 0))),
        (Every(TICK, 60), PeriodRange(PeriodUnit.DAY, 1, 0, DAYS)),
        (EveryPeriod(PeriodUnit.DAY, 1, DAYS), CoordinateRange(TICK, Bound(1, -5), Bound(1, 0))),
    ],
    ids=[
        "once on a stream",
        "content of a stream",
        "region without a place",
        "range in space without a place",
        "slide in space without a place",
        "changes of time alone",
        "rows pass without a range of rows",
        "periods with a slide of equal steps",
        "a slide by periods with a range of ticks",
    ],
)
def test_windows_that_mean_nothing_cannot_be_built(slide: Slide, reach: Range) -> None:
    with pytest.raises(PlanError):
        Window(ROAD, slide, reach)
