"""Explanations of parse failures: what was found, what was expected, and what was probably meant."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lark import UnexpectedInput, UnexpectedToken

from transom.errors import ParseError, Span
from transom.languages.sql.type_messages import column_hint, shorten
from transom.languages.sql.unparse import RESERVED


@dataclass(frozen=True, slots=True)
class Failure:
    """An unexpected word of a query: its text and span, the names of the tokens expected there, and the query."""

    word: str
    span: Span
    expected: set[str]
    text: str

    @property
    def before(self) -> str:
        """The query text before the unexpected word, without the blanks at its end."""
        return self.text[: self.span.start].rstrip()

    @property
    def after(self) -> str:
        """The query text after the unexpected word."""
        return self.text[self.span.end :]


Advice = Callable[[Failure], str | ParseError | None]
"""A language's hint for an unexpected word, or a ParseError to raise instead; None if it has neither."""

TOKEN_NAMES = {
    "COMPARE": "a comparison",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "STAR": "'*'",
    "SLASH": "'/'",
    "PERCENT": "'%'",
    "CONCAT": "'||'",
    "FLOAT": "a number",
    "INTEGER": "a whole number",
    "STRING": "a string",
    "NAME": "a name",
    "QUOTED": "a name",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "COMMA": "','",
    "DOT": "'.'",
    "SEMICOLON": "';'",
    "$END": "the end of the query",
}

EXPRESSION = {
    *("'('", "'+'", "'-'", "CASE", "CAST", "FALSE", "NULL", "TRUE"),
    *("a name", "a number", "a string", "a whole number"),
}
"""Tokens that can begin an expression."""

OPERATORS = {
    *("'%'", "'*'", "'+'", "'-'", "'/'", "'||'"),
    *("AND", "OR", "BETWEEN", "IN", "IS", "LIKE", "NOT", "a comparison"),
}
"""Tokens that can continue an expression."""

CONNECTORS = {"'.'", "'('", "a string"}
"""Tokens that can continue a name, as a qualified name, a call or a typed literal."""

PLAIN_CHARACTERS = {
    **dict.fromkeys("‘’‚´", "write straight quotes around strings: '"),
    **dict.fromkeys("“”„«»", "write straight quotes: ' around strings, \" around names"),
    "`": 'write double quotes around names: "',
    "≥": "write >=",
    "≤": "write <=",
    "≠": "write <>",
    "×": "write *",
    "÷": "write /",
    "–": "write -",
    "#": "a comment begins with -- and ends with the line",
    "/*": "a comment begins with -- and ends with the line",
}
"""Characters of word processors and other languages, and hints on what to write instead."""

CONNECTIVES = {"&": "AND", "&&": "AND", "|": "OR"}
"""Connectives of other languages, and those of SQL."""

_WORD = re.compile(r"'[^'\n]*'?|\"[^\"\n]*\"?|\w+|.", re.DOTALL)
_DISTINCT = re.compile(r"\b(DISTINCT|ALL)\s+\Z", re.IGNORECASE)
_FRACTION = re.compile(r"\d+\.\d*")
_LETTERS = re.compile(r"\w+")
_SIGNS = re.compile(r"/\*|&&")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|--[^\n]*")
_OPERAND = r"[\w.]+|'[^']*'"
_COMPARED = re.compile(rf"((?:{_OPERAND})\s*(?:<=|>=|<>|!=|=|<|>)\s*({_OPERAND}))\Z")
_NEXT_OPERAND = re.compile(rf"\s*(?:=\s*)?({_OPERAND})")
_QUALIFIER = re.compile(r"(\w+|\"[^\"]*\")\.\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\"[^\"]+\"")
_AFTER_COLUMN = re.compile(r"\s*(,|\)|[=<>!+*/%-]|(from|as)\b)", re.IGNORECASE)
_WINDOW_FUNCTION = re.compile(r"\b(?:TUMBLE|HOP|CUMULATE|SESSION)\s*\([^()]*\Z|\bFROM\s+TABLE\s*\(\Z", re.IGNORECASE)
_CALLED = re.compile(r"\b(\w+)\s*\(\Z")
_ARGUMENT = re.compile(r"\s*([\w.]+|\"[^\"]*\")\s*\)")
_FROM = re.compile(r"\bFROM\s+(\w+)\s*(\[[^\[\]]*\])?", re.IGNORECASE)
_AS = re.compile(r"\bAS\Z", re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*")


def explain_failure(
    error: UnexpectedInput, text: str, token_names_in_errors: Mapping[str, str], advice: Advice
) -> ParseError:
    """Turn Lark's parse error into a ParseError with a hint, from the language's `advice` or a general one.

    `token_names_in_errors` are the spellings of terminals.
    """
    if not _COMMENT.sub("", text).strip():
        return ParseError(
            "the query is empty", span=Span(0, 1), text=text, hint="write for example SELECT temp FROM road"
        )
    interactive = getattr(error, "interactive_parser", None)
    expected = {
        token_names_in_errors.get(n, n.lstrip("_").upper()) for n in (interactive.accepts() if interactive else ())
    }
    offset = error.pos_in_stream if error.pos_in_stream is not None else len(text)
    match = None
    if not (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        match = _WORD.match(text, offset)
    if match is None:
        end = len(text.rstrip())
        return ParseError(
            "the query ends too early", span=Span(end - 1, end), text=text, hint=expected_tokens(expected)
        )
    match = _match_around(text, offset) or match
    word, span = match[0], Span(*match.span())
    if word[0] in "'\"" and (len(word) == 1 or word[-1] != word[0]):
        return ParseError("a quote is not closed", span=span, text=text, hint=_closing_hint(word))
    before = _DISTINCT.search(text, 0, offset)
    if before is not None:
        span = Span(*before.span(1))
        own_hint = advice(Failure(before[1], span, expected, text))
        shown = own_hint if isinstance(own_hint, str) else "GROUP BY gives each value once"
        return ParseError(f"{before[1]!r} is not expected here", span=span, text=text, hint=shown)
    if not word.isprintable():
        return unprintable_character(word, span, text)
    failure = Failure(word, span, expected, text)
    hint = foreign_syntax_hint(failure) or advice(failure) or hint_for(failure)
    if isinstance(hint, ParseError):
        return hint
    return ParseError(f"{shorten(word)!r} is not expected here", span=span, text=text, hint=hint)


class DistinctAggregate(NamedTuple):
    """An aggregate such as `COUNT(DISTINCT a)` in a query's text: its function and column, and the source after FROM.

    `window` is the window of the source with its brackets. Source and window are None if the text has none.
    """

    function: str
    column: str
    source: str | None
    window: str | None


def distinct_aggregate(failure: Failure) -> DistinctAggregate | None:
    """Return the aggregate whose DISTINCT was not expected, or None if the unexpected word is another one."""
    function, column = _CALLED.search(failure.before), _ARGUMENT.match(failure.after)
    if failure.word.upper() != "DISTINCT" or function is None or column is None:
        return None
    source = _FROM.search(failure.after)
    column_name = column[1].rpartition(".")[2]
    return DistinctAggregate(function[1].upper(), column_name, source and source[1], source and source[2])


def _closing_hint(word: str) -> str:
    """Return the hint where to close an open quote; `word` is the text from the quotation mark on."""
    if word[0] == '"':
        return 'write " where the name ends, or remove this "'
    return f"write '{' instead of ’' if '’' in word else ''} where the string ends"


def unprintable_character(word: str, span: Span, text: str) -> ParseError:
    """Return the ParseError for a word with an invisible character, such as a no-break space, which it names."""
    offset, character = next((n, character) for n, character in enumerate(word) if not character.isprintable())
    span = Span(span.start + offset, span.start + offset + 1)
    name = unicodedata.name(character, "control character").lower()
    article = "an" if name[0] in "aeio" else "a"
    space = unicodedata.category(character) == "Zs"
    return ParseError(
        f"{article} {name} (U+{ord(character):04X}) is not expected here",
        span=span,
        text=text,
        hint="replace it with an ordinary space" if space else "leave it out",
    )


def _match_around(text: str, offset: int) -> re.Match[str] | None:
    """Match the fraction, non-ASCII word, `/*` or `&&` around an offset, for a syntax error to quote; or None."""
    if text[offset] == "." and (digits := len(text[:offset]) - len(text[:offset].rstrip("0123456789"))):
        return _FRACTION.match(text, offset - digits)
    if text[offset].isalpha() and not text[offset].isascii():
        start = offset
        while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        return _LETTERS.match(text, start)
    return _SIGNS.match(text, offset) or _SIGNS.match(text, max(0, offset - 1))


def foreign_syntax_hint(failure: Failure) -> str | None:
    """Return a hint if an unexpected word is syntax of another language or of a word processor, else None."""
    word, before, expected = failure.word, failure.before, failure.expected
    if word in PLAIN_CHARACTERS:
        return PLAIN_CHARACTERS[word]
    if word in CONNECTIVES and CONNECTIVES[word] in expected:
        return f"write {CONNECTIVES[word]}"
    if not word.isascii() and word.isidentifier():
        if not _AS.search(before):
            return column_hint(word, f'after AS write "{shorten(word)}"')
        return f'write "{shorten(word)}" in double quotes: other names have only letters (A-Z, a-z), digits and _'
    if word == "=" and failure.text[failure.span.start - 1 : failure.span.start] == "=":
        return "write a single ="
    if (word == "*" and before[-1:] in (".", ",")) or (word == "," and before[-1:] == "*" and expected == {"FROM"}):
        qualifier = _QUALIFIER.search(before)
        unsupported = f"{shorten(qualifier[1])}.* is not supported: " if qualifier and word == "*" else ""
        return f"{unsupported}write * on its own, or list the columns"
    if _WINDOW_FUNCTION.search(f"{before}{word}"):
        return "windows are written in brackets after their source; docs/how-to/tumbling-and-hopping.md has examples"
    if word.lower() in RESERVED and expected >= EXPRESSION and _AFTER_COLUMN.match(failure.after):
        return reserved_hint(word)
    return None


def reserved_hint(word: str) -> str:
    """Return a hint for a reserved word where a name is expected."""
    return f'{word} is a reserved word; write "{word}" in double quotes to use it as a name'


def hint_for(failure: Failure) -> str | None:
    """Return a hint for an unexpected word: the keyword probably meant, else the expected tokens, or None."""
    word, expected = failure.word, failure.expected
    if failure.before.endswith(";"):
        return "one query at a time: leave out what follows the ;"
    if word.lower() in RESERVED:
        return reserved_hint(word) if expected == {"a name"} else expected_tokens(expected)
    if word == ")" and _open_parentheses(failure.before) <= 0:
        return "this ) has no matching (: leave it out"
    if _FRACTION.match(word):
        return "expected a whole number"
    if word[0] in "=<>!" and "OR" in expected:
        return _chained_comparison_hint(failure)
    keywords = sorted(keyword for name in expected for keyword in re.findall(r"[A-Z]{2,}", name))
    matches = difflib.get_close_matches(word.upper(), keywords, 1, 0.6) if len(word) > 1 else []
    if matches:
        return f"did you mean {matches[0]}?"
    if "AS" in expected and _NAME.fullmatch(word):
        in_select_list = "','" in expected and "'||'" in expected
        return f"write AS {shorten(word)}" + (", or put a comma before it" if in_select_list else "")
    return expected_tokens(expected)


def _open_parentheses(text: str) -> int:
    """Count the parentheses that are opened and not closed, outside strings, quoted names and comments."""
    plain = _QUOTED.sub("", text)
    return plain.count("(") - plain.count(")")


def _chained_comparison_hint(failure: Failure) -> str:
    """Return a hint for a second comparison in a row, such as `< 20` in `10 < x < 20`: join both by AND."""
    first, last = _COMPARED.search(failure.before), _NEXT_OPERAND.match(failure.after)
    if first is None or last is None:
        return "join two comparisons by AND: 10 < x AND x < 20"
    sign = failure.word + ("=" if failure.after.startswith("=") else "")
    return f"write {shorten(first[1])} AND {shorten(first[2])} {sign} {shorten(last[1])}"


def expected_tokens(expected: set[str]) -> str | None:
    """Return a hint such as "expected FROM or an operator", in which "an operator" stands for many tokens, or None.

    It is None if there are no tokens.
    """
    if expected >= EXPRESSION:
        expected = (expected - EXPRESSION - {"NOT", "'*'"}) | {"an expression"}
    if "'||'" in expected:
        connectives = set() if "OR" in expected else {"AND"}
        expected = (expected - (OPERATORS - connectives) - CONNECTORS) | {"an operator"}
    if "the end of the query" in expected:
        expected = expected - {"';'"}
    *rest, last = sorted(expected) or [""]
    return f"expected {', '.join(rest)} or {last}" if rest else f"expected {last}" if last else None
