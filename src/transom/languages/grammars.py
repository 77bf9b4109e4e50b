"""The parsers of the languages: their grammars, and parse tables that were computed from them beforehand.

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
"""The grammars of a language, by their folders: scalar expressions are common to SNEEql and CQL."""


@cache
def parser(language: str) -> Lark:
    """The LALR parser of a language."""
    return load(language) or build(language)


def load(language: str) -> Lark | None:
    """The parser from the tables in the package; None if they belong to another grammar or another version of Lark."""
    tables = files("transom.languages").joinpath(language, "grammar.tables")
    if not tables.is_file():
        return None
    with tables.open("rb") as file:
        if file.readline().decode("ascii", "replace").rstrip("\n") != key(language):
            return None
        return Lark.load(file)


def build(language: str) -> Lark:
    """The parser, computed from the grammar."""
    return Lark(_grammar(language), parser="lalr", lexer="contextual", propagate_positions=True, g_regex_flags=re.ASCII)


def save(language: str, file: BinaryIO) -> None:
    """Compute the tables and write them in the form that `load` reads: one line with their key, then Lark's own."""
    file.write(f"{key(language)}\n".encode("ascii"))
    build(language).save(file)


def key(language: str) -> str:
    """What the tables of a language depend on: the version of Lark, and the text of the grammar."""
    return f"lark {lark.__version__} grammar {sha256(_grammar(language).encode()).hexdigest()}"


def _grammar(language: str) -> str:
    folders = (files("transom.languages").joinpath(part) for part in GRAMMARS[language])
    return "\n".join(folder.joinpath("grammar.lark").read_text("utf-8") for folder in folders)
