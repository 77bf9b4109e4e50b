"""Pictures of answers over RDF: bars in time, lanes by subject, one colour for each subject."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.picture.drawing import number
from transom.cli.files import load_query, query_source

PARK = Path(__file__).parents[2] / "examples" / "windpark"


def lanes_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The lanes of a picture, from top to bottom."""
    return [e for e in root.iter() if e.get("class") == "lane"]


def colours_of(lane: ElementTree.Element) -> set[str | None]:
    """The colours of the bars of a lane."""
    return {e.get("fill") for e in lane.iter() if (e.get("class") or "").startswith("bar")}


@pytest.fixture(scope="module")
def root() -> ElementTree.Element:
    svg = load_query(query_source(PARK / "listing1.rq", None, None), None).picture().svg
    return ElementTree.fromstring(svg)  # noqa: S314 - we wrote it


def test_lanes_of_a_subject_stand_together_in_one_colour(root: ElementTree.Element) -> None:
    subjects = [lane.get("data-subject") for lane in lanes_of(root)]
    changes = sum(before != after for before, after in pairwise(subjects))
    assert len(subjects) > len(set(subjects)) > 2
    assert changes == len(set(subjects)) - 1
    colours = {subject: {c for lane in lanes_of(root) if lane.get("data-subject") == subject for c in colours_of(lane)}
               for subject in subjects}  # fmt: skip
    assert all(len(colour) == 1 for colour in colours.values())
    assert len({colour.pop() for colour in colours.values()}) == len(set(subjects))


def test_bars_and_axis_have_times_of_day(root: ElementTree.Element) -> None:
    words = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("}text")]
    assert "06:00:36.503 – 06:30" in words
    assert [text for text in words if text.startswith("06:") and len(text) == 5] == [
        "06:00", "06:10", "06:20", "06:30", "06:40", "06:50",
    ]  # fmt: skip
    assert "UTC, 1 June 2024" in words
    ticks = [number(e, "data-tick") for e in root.iter() if e.get("class") == "tick"]
    assert ticks == [minute * 60_000 for minute in range(0, 90, 10)]
    notes = [e.text or "" for e in root.iter() if e.tag.endswith("}title")]
    assert "06:00:36.503 – 06:30, from tick 36503 up to 1800000" in notes


def test_lanes_reach_over_the_page(root: ElementTree.Element) -> None:
    width = float(root.get("width", ""))
    ends = [float(e.get("x", "")) + float(e.get("width", "")) for e in root.iter() if e.get("class") == "bar"]
    assert width - 50 < max(ends) < width
