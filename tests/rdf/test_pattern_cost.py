"""Regular expressions that could take too long are refused, and the others are quick on the worst texts."""

from __future__ import annotations

import random
import re
import time

import pytest

from transom.errors import Unsupported
from transom.model.rdf.terms import Literal
from transom.reference.rdf.regex import regex, replace
from transom.reference.rdf.regex_cost import CostlyPattern, max_text_length

PLAIN = re.RegexFlag(0)
EXPONENTIAL = [
    r"^(a+)+$",
    r"(.*a){20}b",
    r"(a|a)*b",
    r"(a|aa)+$",
    r"(a*)*b",
    r"(a(b?)?)*c",
    r"(x+x+)+y",
    r"^(\w+\s?)*$",
    r"([a-z]+.)+[A-Z]",
    r"(?:\d|[0-9])*x",
    r"(A|a)*b",
]
FINE = {
    r"^abc": None,
    r"abc|abd|b": None,
    r"^[\w.+-]+@[\w-]+\.[\w.]+$": None,
    r"^\d{4}-\d\d-\d\d$": None,
    r"^(\d{1,3}\.){3}\d{1,3}$": None,
    r"^a?b?c?d?e?f?g?h?$": None,
    r"^(\w+,)*\w+$": 14_140,
    r"^(?:Mr|Mrs|Ms)\.? \w+": None,
    r"a.*b": 14_140,
    r"([a-z]+\.)+com": 19_998,
    r"\s+$": 19_998,
    r"x{1,1000}y": 19_998,
    r"foo.*bar.*baz": 667,
    r"^\s*(.*?)\s*$": 667,
    r"(.)\1": 19_998,
}


@pytest.mark.parametrize("pattern", [*EXPONENTIAL, ".*.*.*.*x", "a?" * 25 + "a" * 25, "(a?){5}" * 9 + "b"])
def test_slow_patterns_are_refused(pattern):
    flags = Literal("i")
    with pytest.raises(Unsupported) as caught:
        regex(Literal("a" * 41 + "!"), Literal(pattern), flags)
    assert "may take too long" in str(caught.value)
    assert caught.value.hint
    with pytest.raises(Unsupported, match=r"^REPLACE is not supported"):
        replace(Literal("a" * 41 + "!"), Literal(pattern), Literal(""), flags)


@pytest.mark.parametrize("pattern", FINE)
def test_other_patterns_have_longest_text(pattern):
    assert max_text_length(pattern, PLAIN) == FINE[pattern]


def test_verbose_pattern():
    assert max_text_length("( a + ) # a comment +\n", re.VERBOSE) == 19_998
    with pytest.raises(CostlyPattern):
        max_text_length("( a + ) # a comment\n +", re.VERBOSE)


@pytest.mark.parametrize(("pattern", "unit"), [("foo.*bar.*baz", "foobar"), (r"\s+$", " "), ("a.*b", "a")])
def test_longest_text_takes_seconds_at_most(pattern, unit):
    longest = max_text_length(pattern, PLAIN)
    text = (unit * longest)[: longest - 1] + "!"
    began = time.process_time()
    assert regex(Literal(text), Literal(pattern)) is False
    assert time.process_time() - began < 10
    assert regex(Literal(text + unit), Literal(pattern)) is None


def drawn(draw: random.Random, depth: int = 3) -> str:
    """A pattern over a and b."""
    kind = draw.randrange(7) if depth else 0
    if kind == 0:
        return draw.choice(["a", "b", "[ab]", "a?", ".", "\\w"])
    if kind <= 2:
        return drawn(draw, depth - 1) + drawn(draw, depth - 1)
    if kind == 3:
        return f"(?:{drawn(draw, depth - 1)}|{drawn(draw, depth - 1)})"
    return f"({drawn(draw, depth - 1)}){draw.choice(['*', '+', '?', '{2}', '{2,}', '{1,3}', '{6}'])}"


def test_drawn_patterns_that_are_taken_are_quick():
    draw, refused, taken = random.Random(20), 0, 0
    for _ in range(600):
        pattern = drawn(draw) + draw.choice(["", "$", "c", "^"])
        try:
            max_text_length(pattern, PLAIN)
        except CostlyPattern:
            refused += 1
            continue
        taken += 1
        machine, began = re.compile(pattern), time.process_time()
        for text in ("a" * 26 + "!", "ab" * 13 + "!", "aab" * 9 + "!", "b" * 26 + "!"):
            machine.search(text)
        assert time.process_time() - began < 0.2, pattern
    assert min(refused, taken) > 100
