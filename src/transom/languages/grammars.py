"""LALR parsers of the languages, loaded from precomputed parse tables.

Lark takes 0.1 s of CPU to compute the LALR tables of a grammar, and a tenth of that to load them. The package contains
the tables of each language in `grammar.tables`. They are loaded if they belong to this grammar and this version of
Lark; otherwise Lark computes them from the grammar. Both give the same parser.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import BinaryIO

import lark
from lark import Lark

GRAMMARS = {"sneeql": ("sql", "sneeql"), "cql": ("sql", "cql"), "sparql": ("sparql",)}
"""Folders whose grammars make up each language; SNEEql and CQL share the scalar expressions of `sql`."""


@cache
def parser(language: str) -> Lark:
    """Return the cached LALR parser of a query language (sneeql, cql or sparql)."""
    return load(language) or build(language)


def load(language: str) -> Lark | None:
    """Load a language's parser from the parse tables in the package; returns None if they are missing or outdated."""
    tables = files("transom.languages").joinpath(language, "grammar.tables")
    if not tables.is_file():
        return None
    with tables.open("rb") as file:
        if file.readline().decode("ascii", "replace").rstrip("\n") != key(language):
            return None
        return Lark.load(file)


def build(language: str) -> Lark:
    """Build a language's parser from its grammar files, which takes 0.1 s of CPU."""
    return Lark(_grammar(language), parser="lalr", lexer="contextual", propagate_positions=True, g_regex_flags=re.ASCII)


def save(language: str, file: BinaryIO) -> None:
    """Write a language's parse tables as `load` reads them: the line `key(language)`, then Lark's serialized parser."""
    file.write(f"{key(language)}\n".encode("ascii"))
    build(language).save(file)


def key(language: str) -> str:
    """Return the header line that up-to-date parse tables of a language have: Lark version and grammar hash."""
    return f"lark {lark.__version__} grammar {sha256(_grammar(language).encode()).hexdigest()}"


def _grammar(language: str) -> str:
    """Return the grammar of a language: the texts of its `grammar.lark` files, joined."""
    folders = (files("transom.languages").joinpath(part) for part in GRAMMARS[language])
    return "\n".join(folder.joinpath("grammar.lark").read_text("utf-8") for folder in folders)
