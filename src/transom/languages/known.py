"""Which languages there are, by name and by the ending of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transom.catalog.extents import Catalog
from transom.errors import UsageError
from transom.languages.cql import parse as cql_parse
from transom.languages.cql import translate as cql_translate
from transom.languages.cql import unparse as cql_unparse
from transom.languages.sneeql import parse as sneeql_parse
from transom.languages.sneeql import translate as sneeql_translate
from transom.languages.sneeql import unparse as sneeql_unparse
from transom.languages.sql.select import Translation
from transom.model.answer import AnswerKind
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class Language:
    """A language: text to syntax, syntax to algebra, text to canonical text, and what its streams are called."""

    name: str
    parse: Callable[[str], Any]
    translate: Callable[[Any, Catalog, Mapping[str, Value]], Translation]
    format_text: Callable[[str, Any], str]
    stream: AnswerKind


def _without_parameters(syntax: Any, catalog: Catalog, parameters: Mapping[str, Value]) -> Translation:
    if parameters:
        raise UsageError("SNEEql has no parameters", hint="write the value into the query")
    return sneeql_translate.translate(syntax, catalog)


LANGUAGES = {
    "sneeql": Language("sneeql", sneeql_parse.parse, _without_parameters, sneeql_unparse.format_text, "tagged-tuples"),
    "cql": Language("cql", cql_parse.parse, cql_translate.translate, cql_unparse.format_text, "stream"),
}
"""Every language by its name, which is also the ending of its files."""


def language_called(name: str) -> Language:
    """The language of that name."""
    if name not in LANGUAGES:
        raise UsageError(f"no language is called {name}", hint=f"languages are {', '.join(LANGUAGES)}")
    return LANGUAGES[name]


def language_of(file: str | None) -> Language:
    """The language that the ending of a file names; SNEEql where it names none."""
    ending = "" if file is None else Path(file).suffix.removeprefix(".")
    return LANGUAGES.get(ending, LANGUAGES["sneeql"])
