"""The document itself: well formed, self-contained, safe with any names, and honest about what it leaves out."""

from __future__ import annotations

import re
import time
from xml.etree import ElementTree

import pytest

from tests.cases import golden_cases
from tests.picture.drawing import IRREGULAR, OFFSET, SVG, TRAFFIC, draw, draw_case, number, traffic
from transom.algebra.sources import StoredTable, StreamReceive
from transom.algebra.windows import scan_window, time_window
from transom.model.bag import Element, TableVersion
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.picture import draw_picture
from transom.picture.timeline.dots import MAX_DOTS
from transom.reference.sources import Inputs

HOSTILE = "<script>alert(1)</script>&\"'\x00\x0b\ud800]]>"


def test_a_picture_needs_nothing_else() -> None:
    for case in golden_cases():
        if case.expected["kind"] != "error":
            svg = draw_case(case).svg
            assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
            assert not re.search(r"<script|<image|<style|<use|href|url\(| id=", svg)


def test_a_picture_can_be_read_aloud() -> None:
    root = draw(OFFSET, TRAFFIC, traffic(IRREGULAR), 60, title="vehicles").root
    assert root.get("role") == "img"
    assert [root[0].tag, root[0].text] == [f"{SVG}title", "vehicles"]
    assert root[1].tag == f"{SVG}desc"
    assert "every 5 seconds a window" in (root[1].text or "")
    ground = root[2]
    assert [ground.get("fill"), ground.get("width"), ground.get("height")] == [
        "white",
        root.get("width"),
        root.get("height"),
    ]


def test_everything_lies_on_the_page() -> None:
    for case in golden_cases():
        if case.expected["kind"] == "error":
            continue
        root = draw_case(case).root
        width, height = float(root.get("width", "")), float(root.get("height", ""))
        for element in root.iter():
            for name, most in (
                ("x", width),
                ("x1", width),
                ("x2", width),
                ("cx", width),
                ("y", height),
                ("cy", height),
            ):
                assert 0 <= float(element.get(name, "0")) <= most, (case.name, element.attrib)


def test_hostile_names_are_only_text() -> None:
    schema = Schema((Attribute(HOSTILE, Type.STRING, HOSTILE),))
    given = Inputs(9, {HOSTILE: [Element(1, 1, (HOSTILE,))]}, {HOSTILE: [TableVersion(0, ((HOSTILE,),))]})
    stream = StreamReceive(HOSTILE, schema)
    for plan in (stream, time_window(stream, 4, 0, 2), scan_window(StoredTable(HOSTILE, schema), 3)):
        svg = draw_picture(plan, given, Calendar(), title=HOSTILE, query_text=HOSTILE + "\n\t x")
        root = ElementTree.fromstring(svg.encode())  # noqa: S314 - we wrote it
        assert "<script" not in svg
        assert (root[0].text or "").startswith("<script>alert(1)</script>&\"'\ufffd")
        assert not [e for e in root.iter() if e.tag.endswith("script")]


def test_long_words_are_cut() -> None:
    schema = Schema((Attribute("x", Type.STRING, "e"),))
    given = Inputs(9, {"e" * 500: [Element(1, 1, ("v" * 100_000,))]})
    svg = draw_picture(
        time_window(StreamReceive("e" * 500, schema), 4, 0, 2),
        given,
        Calendar(),
        title="t" * 500,
        query_text="q " * 9999,
    )
    assert len(svg) < 30_000


@pytest.mark.parametrize(
    "text",
    [
        OFFSET,
        "SELECT weight FROM traffic [FROM NOW-2 TO NOW SLIDE 2 ROWS]",
        "SELECT weight FROM traffic WHERE weight > 3",
        "SELECT u.weight FROM traffic AS u [FROM NOW TO NOW SLIDE 1 ROW], traffic AS v [FROM NOW TO NOW SLIDE 9 SEC]",
        "SELECT weight FROM (RSTREAM(SELECT weight FROM traffic [FROM NOW TO NOW SLIDE 9 SEC]))"
        " [FROM NOW TO NOW SLIDE 1 ROW]",
    ],
)
@pytest.mark.parametrize("until", [0, 60, 10**9])
def test_nothing_arrives(text: str, until: int) -> None:
    drawing = draw(text, TRAFFIC, {"traffic": []}, until)
    assert "no tuples in this span" in drawing.words
    assert not drawing.all("tuple")
    assert len(drawing.all("hollow")) == len(drawing.all("bar")) == len(drawing.all("window"))


def test_an_empty_table() -> None:
    table = {"t": {"kind": "stored", "attrs": ["x:integer"]}}
    drawing = draw("SELECT x FROM t [SCAN 10 SEC]", table, {"t": []}, 30)
    assert "the table is empty" in drawing.words
    assert [number(w, "data-created") for w in drawing.windows("t")] == [0, 10, 20, 30]


def test_a_part_of_a_run_says_so() -> None:
    assert "ticks 0 to 40 of 3600" in draw(OFFSET, TRAFFIC, traffic(IRREGULAR), 3600).words
    assert "ticks 1003 to 1045 of 3600" in draw(OFFSET, TRAFFIC, traffic([1004, 1009]), 3600, start=1003).words
    assert "the whole run" in draw(OFFSET, TRAFFIC, traffic(IRREGULAR), 40).words


def test_windows_that_reach_far_back_are_thinned() -> None:
    drawing = draw(
        "SELECT weight FROM traffic [FROM NOW-60 TO NOW SLIDE 1 SEC]", TRAFFIC, traffic(range(0, 900, 3)), 900
    )
    assert "every 15th window is drawn" in drawing.words
    assert "FROM NOW-60 TO NOW SLIDE 1 SEC" in drawing.words.splitlines()[1]
    assert [number(w, "data-created") for w in drawing.windows("traffic")] == list(range(0, 121, 15))


def test_many_tuples_and_many_windows_are_counted() -> None:
    text = "SELECT weight FROM traffic [FROM NOW TO NOW SLIDE 1 ROW]"
    drawing = draw(text, TRAFFIC, traffic([3] * 400), 9)
    assert "+386 more windows" in drawing.words
    assert "+200 more tuples" in drawing.words
    assert len(drawing.all("tuple")) <= MAX_DOTS


def test_long_runs_are_drawn_quickly() -> None:
    began = time.perf_counter()
    svg = draw(
        "SELECT weight FROM traffic [FROM NOW-10 TO NOW SLIDE 5 MIN]", TRAFFIC, traffic(range(40_000)), 40_000
    ).svg
    assert time.perf_counter() - began < 10
    assert len(svg) < 200_000


def test_a_stream_query_shows_what_passes() -> None:
    case = next(c for c in golden_cases() if c.name.startswith("s01"))
    drawing = draw_case(case)
    assert [number(d, "data-index") for d in drawing.all("chosen")] == [row[1] for row in case.expected["rows"]]
    assert "in the answer: 4 of 8 tuples" in drawing.words
    assert "dots in colour pass the WHERE" in drawing.words


def test_a_long_stream_query_shows_its_first_part() -> None:
    drawing = draw("SELECT weight FROM traffic", TRAFFIC, traffic(range(1000)), 1000)
    assert "ticks 0 to 119 of 1000" in drawing.words
    assert "every tuple is in the answer" in drawing.words
    assert len(drawing.all("chosen")) == len(drawing.all("tuple")) == 120


def test_a_joined_plan_is_drawn_as_well() -> None:
    case = next(c for c in golden_cases() if c.name.startswith("s02"))
    drawing = draw(case.text, case.schema, case.inputs, case.until, optimize=True)
    assert len(drawing.all("lane")) == 2
    assert [number(o, "data-tick") for o in drawing.all("output")] == [30, 60, 120, 130]


def test_the_same_picture_every_time() -> None:
    case = next(c for c in golden_cases() if c.name.startswith("s25"))
    assert draw_case(case).svg == draw_case(case).svg
