"""Whatever a catalog says, only Transom's own errors come out, each with its place."""

from __future__ import annotations

import time

import pytest

from transom.catalog import Catalog
from transom.errors import CatalogError, TransomError

from .mutate import SEEDS, mutated


@pytest.mark.parametrize("text", SEEDS)
def test_the_seeds_are_catalogs(text):
    assert len(Catalog.read(text).extents) == 3


def error_of(text: str) -> TransomError | None:
    try:
        Catalog.read(text)
    except TransomError as error:
        return error
    return None


def test_mutated_catalogs():
    error_of("")  # what is imported on first use does not count
    read = 0
    for seed in range(500):
        text = mutated(seed)
        start = time.process_time()
        error = error_of(text)
        assert time.process_time() - start < 1, f"seed {seed}"
        if error is None:
            read += 1
            continue
        assert isinstance(error, CatalogError)
        assert str(error).encode()
        assert error.span is not None
        assert 0 <= error.span.start <= error.span.end <= len(text)
    assert 12 < read < 250


LONG = 8_000


@pytest.mark.parametrize(
    "text",
    [
        'extents: {a: {kind: pushed, attributes: ["' + " " * LONG + '"]}}',
        'extents: {a: {kind: pushed, attributes: ["a' + " " * LONG + "b:" + " " * LONG + 'c"]}}',
        'tick: "' + " " * LONG + '"\na: pushed (a:integer)',
        "extents: {a: {declare: 'sensed (a:integer)', every: '" + " " * LONG + "'}}",
        "extents: {a: {declare: 'pushed (a:integer)', rate: '1 per" + " " * LONG + "'}}",
        "a: sensed (a:integer) SITES (" + "'" * (LONG + 1) + ")",
        "a: sensed (a:integer) SITES (" + "1." * LONG + ")",
        "a: 'sensed" + " " * LONG + "(a:integer" + " " * LONG + "b'",
        "{a: " * LONG,
        "- " * LONG,
        "{" + ", ".join(f"k{number}" for number in range(LONG // 4)) + "}",
    ],
    ids=range(11),
)
def test_long_texts_are_answered_at_once(text):
    error_of("")
    start = time.process_time()
    assert error_of(text) is not None
    assert time.process_time() - start < 0.5
