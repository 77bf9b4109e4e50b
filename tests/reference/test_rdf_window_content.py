"""The content of a window at an instant, by the formula of docs/coming-from-rsp.md."""

from __future__ import annotations

import pytest

import transom
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import Literal


@pytest.mark.parametrize(("width", "slide"), [(10, 5), (10, 1), (7, 3), (6, 6), (5, 4), (1, 1)])
def test_content_at_each_instant(width: int, slide: int) -> None:
    catalog = {"tick": "1 s", "prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s"}}}
    text = f"SELECT ?c FROM STREAM :s WINDOW RANGE {width} S SLIDE {slide} S {{ :x :at ?c }}"
    answer = transom.compile(text, catalog, language="sparql").simulate({"s": [(c, ":x", ":at", c) for c in range(40)]})
    for instant in range(40):
        expected = range(max(0, (instant // slide + 1) * slide - width), instant + 1)
        assert sorted(_time(valid) for valid in answer.solutions if valid.at(instant)) == list(expected)


def _time(valid: Valid[Solution]) -> int:
    """Return the time of the element that a solution binds to ?c."""
    term = valid.payload.get("c")
    assert isinstance(term, Literal)
    return int(term.lexical)
