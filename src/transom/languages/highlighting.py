"""Pygments lexers for SNEEql, CQL and Streaming SPARQL, made from the grammars that the parsers use.

Pygments finds them by the entry points of the package: `pygmentize -l cql`, Sphinx and MkDocs need no configuration.
A word that is a keyword in one position and a name in another, such as `time` in CQL, is classified by the parser. From
the first syntax error on, and in fragments, a word counts as a keyword wherever it stands.

Pygments imports this module when it looks up any lexer that is not its own, so it imports little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias

from lark.exceptions import UnexpectedInput
from lark.lexer import PatternStr, TerminalDef
from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from transom.languages.grammars import parser

TokenType: TypeAlias = Any
"""A token type of Pygments, which has no type hints."""

TOKEN_TYPES: dict[str, TokenType] = {
    "BLANK": Whitespace,
    "COMMENT": Comment.Single,
    **dict.fromkeys(("STRING", "CURLY", "STRING1", "STRING2", "LONG1", "LONG2"), String),
    "LANGTAG": String.Affix,
    "INTEGER": Number.Integer,
    **dict.fromkeys(("FLOAT", "DECIMAL", "DOUBLE", "SIGNED"), Number.Float),
    **dict.fromkeys(("TRUE", "FALSE", "_NULL", "BOOLEAN", "UNDEF"), Keyword.Constant),
    **dict.fromkeys(("UNIT", "DOMAIN"), Keyword.Type),
    **dict.fromkeys(("CONVERTER", "AGGREGATE", "BUILTIN"), Name.Function),
    "A": Keyword,
    **dict.fromkeys(("NAME", "QUOTED"), Name),
    "VAR": Name.Variable,
    **dict.fromkeys(("IRIREF", "PNAME", "BLANK_NODE"), Name.Tag),
    **dict.fromkeys(("COMPARE", "MINUS"), Operator),
}
"""The token types of terminals that are neither keywords nor written as they are in the grammar."""

PUNCTUATION = frozenset("()[]{},;.")


def token_type(terminal: TerminalDef) -> TokenType:
    """Return the Pygments token type of a grammar terminal, by its name or by the text that it matches.

    A terminal that ignores case is a keyword; one that the grammar writes as a string is punctuation or an operator. A
    terminal of neither kind and without an entry in `TOKEN_TYPES` is an `Error`, which Pygments marks in red.
    """
    if "i" in terminal.pattern.flags:
        return TOKEN_TYPES.get(terminal.name, Keyword)
    if isinstance(terminal.pattern, PatternStr):
        return Punctuation if terminal.pattern.value in PUNCTUATION else Operator
    return TOKEN_TYPES.get(terminal.name, Error)


@cache
def token_types(language: str) -> dict[str, TokenType]:
    """Return the Pygments token type of every terminal of a language's grammar, by the terminal's name."""
    return {terminal.name: token_type(terminal) for terminal in parser(language).terminals}


@cache
def any_terminal(language: str) -> re.Pattern[str]:
    """Return a regular expression with a named group for each terminal of a language's grammar.

    Terminals of higher priority, then those with longer patterns, come first.
    """
    ordered = sorted(
        parser(language).terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name)
    )
    return re.compile("|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in ordered), re.ASCII)


class _GrammarLexer(Lexer):
    """A lexer over the terminals of the grammar of `language`."""

    language: str

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, TokenType, str]]:
        """Yield offset, token type and text of every token; the tokens together cover the entire `text`."""
        types = token_types(self.language)
        at = 0
        for start, end, name in self._parsed(text):
            yield from self._scanned(text, at, start)
            yield start, self._called(types[name], text, end), text[start:end]
            at = end
        yield from self._scanned(text, at, len(text))

    def _parsed(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and terminal name of the tokens that the parser accepts, up to the first syntax error."""
        tokens = parser(self.language).parse_interactive(text).iter_parse()
        while True:
            try:
                token = next(tokens, None)
            except UnexpectedInput:
                return
            if token is None or token.start_pos is None or token.end_pos is None:
                return
            yield token.start_pos, token.end_pos, token.type

    def _scanned(self, text: str, start: int, end: int) -> Iterator[tuple[int, TokenType, str]]:
        """Yield (offset, type, text) of each token from offset `start` to `end`; the type depends on spelling alone."""
        types = token_types(self.language)
        while start < end:
            match = any_terminal(self.language).match(text, start, end)
            if match is None or match.lastgroup is None or match.end() == start:
                yield start, Error, text[start]
                start += 1
            else:
                yield start, self._called(types[match.lastgroup], text, match.end()), match[0]
                start = match.end()

    @staticmethod
    def _called(kind: TokenType, text: str, end: int) -> TokenType:
        """Return `kind`, or Name.Function for a name at whose `end` in `text` a parenthesis opens."""
        return Name.Function if kind is Name and text[end : end + 1] == "(" else kind


class SneeqlLexer(_GrammarLexer):
    """Highlights SNEEql: `pygments.lexers.get_lexer_by_name("sneeql")`."""

    name = "SNEEql"
    language = "sneeql"
    aliases = ("sneeql",)
    filenames = ("*.sneeql",)


class CqlLexer(_GrammarLexer):
    """Highlights CQL, with spatial windows: `pygments.lexers.get_lexer_by_name("cql")`."""

    name = "CQL"
    language = "cql"
    aliases = ("cql",)
    filenames = ("*.cql",)


class StreamingSparqlLexer(_GrammarLexer):
    """Highlights SPARQL 1.1 with windows: `get_lexer_by_name("streaming-sparql")`; Pygments' own `sparql` has none."""

    name = "Streaming SPARQL"
    language = "sparql"
    aliases = ("streaming-sparql",)
    filenames = ()  # Pygments' own lexer has *.rq
