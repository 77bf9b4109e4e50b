"""Text and syntax are two ways to say the same: parse undoes unparse, and formatting changes no meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from transom.languages.cql import parse as cql_parse
from transom.languages.cql import unparse as cql_unparse
from transom.languages.sneeql import parse as sneeql_parse
from transom.languages.sneeql import unparse as sneeql_unparse
from transom.languages.sql.layout import comments_of

from .cql_trees import CqlTrees
from .syntax_trees import Trees, commented, untidy


@dataclass(frozen=True)
class Language:
    """A language in both directions, and random trees of it."""

    parse: Callable[[str], Any]
    unparse: Callable[[Any], str]
    format_text: Callable[[str, Any], str]
    tree: Callable[[int, int], Any]


LANGUAGES = {
    "sneeql": Language(
        sneeql_parse.parse,
        sneeql_unparse.unparse,
        sneeql_unparse.format_text,
        lambda seed, room: Trees(seed).query(room),
    ),
    "cql": Language(
        cql_parse.parse,
        cql_unparse.unparse,
        cql_unparse.format_text,
        lambda seed, room: CqlTrees(seed).query(room),
    ),
}


def check(language: Language, seed: int) -> None:
    """All that must hold for one generated query."""
    query = language.tree(seed, 1 + seed % 5)
    text = language.unparse(query)
    parsed = language.parse(text)
    assert parsed == query
    assert language.unparse(parsed) == text
    assert language.parse(untidy(text, Random(seed))) == query


def check_comments(language: Language, seed: int) -> None:
    """Formatting keeps every comment and the meaning, and formatting twice is formatting once."""
    text, comments = commented(language.unparse(language.tree(seed, 1 + seed % 4)), Random(seed))
    query = language.parse(text)
    formatted = language.format_text(text, query)
    assert [words for _, words in comments_of(formatted)] == comments
    assert language.parse(formatted) == query
    assert language.format_text(formatted, language.parse(formatted)) == formatted


BATCH = 250


@pytest.mark.parametrize("language", LANGUAGES)
def test_generated_queries(language: str) -> None:
    for seed in range(BATCH):
        check(LANGUAGES[language], seed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_are_kept(language: str) -> None:
    for seed in range(BATCH // 4):
        check_comments(LANGUAGES[language], seed)


@pytest.mark.deep
@pytest.mark.parametrize("batch", range(20))
@pytest.mark.parametrize("language", LANGUAGES)
def test_many_generated_queries(language: str, batch: int) -> None:
    for seed in range(10_000 + batch * BATCH, 10_000 + (batch + 1) * BATCH):
        check(LANGUAGES[language], seed)
        check_comments(LANGUAGES[language], seed)
