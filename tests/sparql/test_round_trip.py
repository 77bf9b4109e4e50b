"""Text and syntax are two ways to say the same: parse undoes unparse, and formatting changes no meaning."""

from __future__ import annotations

from random import Random

import pytest

from transom.languages.sparql.parse import parse
from transom.languages.sparql.unparse import comments_of, format_text, unparse

from .syntax_trees import Trees, commented, untidy

BATCH = 200


def check(seed: int) -> None:
    """All that must hold for one generated query."""
    query = Trees(seed).query(room=1 + seed % 4)
    text = unparse(query)
    parsed = parse(text)
    assert parsed == query
    assert unparse(parsed) == text
    assert parse(untidy(text, Random(seed))) == query


def check_comments(seed: int) -> None:
    """Formatting keeps every comment and the meaning, and formatting twice is formatting once."""
    text, count = commented(unparse(Trees(seed).query(room=1 + seed % 3)), Random(seed))
    query = parse(text)
    formatted = format_text(text, query)
    comments = [words for _, words in comments_of(text)]
    assert len(comments) == count
    assert [words for _, words in comments_of(formatted)] == comments
    assert parse(formatted) == query
    assert format_text(formatted, parse(formatted)) == formatted


def test_generated_queries() -> None:
    for seed in range(BATCH):
        check(seed)


def test_comments_are_kept() -> None:
    for seed in range(BATCH // 4):
        check_comments(seed)


@pytest.mark.deep
@pytest.mark.parametrize("batch", range(20))
def test_many_generated_queries(batch: int) -> None:
    for seed in range(10_000 + batch * BATCH, 10_000 + (batch + 1) * BATCH):
        check(seed)
        check_comments(seed)
