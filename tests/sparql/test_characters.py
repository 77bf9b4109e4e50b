"""Strings of SPARQL between their quotes."""

from __future__ import annotations

import pytest

from transom.languages.sparql.characters import quote, unquote


@pytest.mark.parametrize(
    ("token", "text"),
    [
        ('""', ""),
        ("''", ""),
        ('""""""', ""),
        ("''''''", ""),
        ('"""a"""', "a"),
        ('"""a"b""c"""', 'a"b""c'),
        ("'it\\'s'", "it's"),
        ('"a\\tb\\n"', "a\tb\n"),
    ],
)
def test_text_between_quotes(token: str, text: str) -> None:
    assert unquote(token) == text
    assert unquote(quote(text)) == text
