"""The Pygments lexers: made from the grammars, complete on every query of the repository, and known by their names."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, String

from transom.languages.grammars import GRAMMARS, parser
from transom.languages.highlighting import PUNCTUATION, token_types
from transom.languages.registry import LANGUAGES

ROOT = Path(__file__).parents[2]
ALIASES = {"sneeql": "sneeql", "cql": "cql", "sparql": "streaming-sparql"}
QUERIES = sorted(path for ending in ("sneeql", "cql", "rq") for path in (ROOT / "examples").rglob(f"*.{ending}"))


def tokens(language: str, text: str) -> list[tuple[str, str]]:
    """Token types and texts of a query, without blanks."""
    found = get_lexer_by_name(ALIASES[language]).get_tokens(text)
    return [(str(kind).removeprefix("Token."), value) for kind, value in found if value.strip()]


def words(language: str, text: str, kind: object) -> set[str]:
    """The texts of a query's tokens of a type."""
    return {value for name, value in tokens(language, text) if name == str(kind).removeprefix("Token.")}


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_terminal_of_the_grammar_has_a_token_type(language: str) -> None:
    types = token_types(language)
    assert set(types) == {terminal.name for terminal in parser(language).terminals}
    assert Error not in types.values()


@pytest.mark.parametrize("language", GRAMMARS)
def test_every_keyword_of_the_grammar_is_highlighted(language: str) -> None:
    keywords = [terminal for terminal in parser(language).terminals if re.match("_[A-Z]", terminal.name)]
    assert len(keywords) > 20
    for terminal in keywords:
        word = terminal.name.strip("_").lower()
        assert [kind.split(".")[0] for kind, _ in tokens(language, word)] == ["Keyword"], word


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_query_of_the_examples_is_highlighted_as_a_whole(query: Path) -> None:
    text = query.read_text("utf-8")
    language = {".rq": "sparql"}.get(query.suffix, query.suffix[1:])
    lexer = get_lexer_by_name(ALIASES[language])
    pieces = list(lexer.get_tokens_unprocessed(text))
    assert "".join(value for _, _, value in pieces) == text
    assert all(start + len(value) == after for (start, _, value), (after, _, _) in pairwise(pieces))
    assert Error not in {kind for _, kind, _ in pieces}
    assert Keyword in {kind for _, kind, _ in pieces}


def test_a_word_is_a_keyword_only_where_the_grammar_has_one() -> None:
    text = "SELECT time, first FROM cars [RANGE BY '1 km' RATTR SPACE] WHERE space > 1"
    assert words("cql", text, Name) == {"time", "first", "cars", "space"}
    assert words("cql", text, Keyword) == {"SELECT", "FROM", "RANGE", "BY", "RATTR", "WHERE"}
    assert words("cql", text, Keyword.Type) == {"SPACE"}


def test_a_fragment_is_highlighted_without_the_parser() -> None:
    assert tokens("sneeql", "[FROM NOW-59 TO NOW SLIDE 60 SEC]") == [
        ("Punctuation", "["),
        ("Keyword", "FROM"),
        ("Keyword", "NOW"),
        ("Operator", "-"),
        ("Literal.Number.Integer", "59"),
        ("Keyword", "TO"),
        ("Keyword", "NOW"),
        ("Keyword", "SLIDE"),
        ("Literal.Number.Integer", "60"),
        ("Keyword.Type", "SEC"),
        ("Punctuation", "]"),
    ]


def test_strings_functions_and_comments() -> None:
    text = "SELECT RSTREAM(ROUND(speed, 1)) -- the speed\nFROM cars [NOW] WHERE name = 'it''s'"
    assert words("cql", text, Name.Function) == {"RSTREAM", "ROUND"}
    assert words("cql", text, Comment.Single) == {"-- the speed"}
    assert words("cql", text, String) == {"'it''s'"}


def test_windows_of_sparql_are_keywords() -> None:
    text = "SELECT ?x FROM STREAM <http://e.org/s> WINDOW RANGE 30 MINUTE SLIDE WHERE { ?x a :Car }"
    assert {"STREAM", "WINDOW", "RANGE", "SLIDE", "a"} <= words("sparql", text, Keyword)
    assert words("sparql", text, Name.Variable) == {"?x"}


def test_a_character_of_no_terminal_is_an_error() -> None:
    assert words("sneeql", "SELECT a FROM b WHERE c ~ 1", Error) == {"~"}
    assert set("()[]{},;.") == PUNCTUATION


@pytest.mark.parametrize("language", ["sneeql", "cql"])
def test_the_lexer_of_a_file_is_that_of_its_ending(language: str) -> None:
    for ending in LANGUAGES[language].endings:
        assert get_lexer_for_filename(f"query.{ending}").aliases[0] == language
    assert get_lexer_for_filename("query.rq").aliases[0] == "sparql"


def test_importing_the_lexers_imports_little() -> None:
    """Pygments imports them for every program that asks for a lexer that it does not know."""
    command = "import sys, transom.languages.highlighting; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert "lark" in imported
    assert not imported & {"pydantic", "yaml", "rich", "typer", "pyarrow", "transom.catalog.catalog"}
