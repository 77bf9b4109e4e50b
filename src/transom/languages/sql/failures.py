"""Parse failures in words: what was found, what could have stood there, and what was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping

from lark import UnexpectedInput, UnexpectedToken

from transom.errors import ParseError, Span
from transom.languages.sql.wording import brief

RESERVED = frozenset(
    {
        *("and", "or", "not", "is", "null", "in", "between", "like", "case", "when", "then", "else", "end", "cast"),
        *("as", "true", "false", "select", "from", "where", "group", "by", "having"),
    }
)
"""Words that a name can be only in double quotes."""

Advice = Callable[[str, set[str]], str | None]
"""A language's own hint for a word that does not fit, given the names of what would."""

WORDS = {
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
"""What an expression can begin with."""

OPERATORS = {
    *("'%'", "'*'", "'+'", "'-'", "'/'", "'||'"),
    *("AND", "OR", "BETWEEN", "IN", "IS", "LIKE", "NOT", "a comparison"),
}
"""What can follow an expression and make it a longer one."""

JOINTS = {"'.'", "'('", "a string"}
"""What can follow a name and still belong to it."""

PLAIN = {
    **dict.fromkeys("‘’‚´", "strings stand in straight quotes: '"),
    **dict.fromkeys("“”„«»", "quotes are straight: ' for strings, \" for names"),
    "`": 'names stand in double quotes: "',
    "≥": "write >=",
    "≤": "write <=",
    "≠": "write <>",
    "×": "write *",
    "÷": "write /",
    "–": "write -",
    "#": "comments begin with --",
    "/*": "comments begin with --",
}
"""Signs of word processors and other languages, and how they are written here."""

_WORD = re.compile(r"'[^'\n]*'?|\"[^\"\n]*\"?|\w+|.", re.DOTALL)
_DISTINCT = re.compile(r"\b(DISTINCT|ALL)\s+\Z", re.IGNORECASE)
_FRACTION = re.compile(r"\d+\.\d*")
_LETTERS = re.compile(r"\w+")
_OPENING = re.compile(r"/\*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|\"[^\"]+\"")
_AFTER_COLUMN = re.compile(r"\s*(,|\)|[=<>!+*/%-]|(from|as)\b)", re.IGNORECASE)
_COMMENT = re.compile(r"--[^\n]*")


def explain_failure(error: UnexpectedInput, text: str, words: Mapping[str, str], advice: Advice) -> ParseError:
    """A parse failure in words: what was found, what could have stood there, and what was probably meant."""
    if not _COMMENT.sub("", text).strip():
        return ParseError(
            "the query is empty", span=Span(0, 1), text=text, hint="write for example SELECT temp FROM road"
        )
    interactive = getattr(error, "interactive_parser", None)
    names = {words.get(n, n.lstrip("_").upper()) for n in (interactive.accepts() if interactive else ())}
    place = error.pos_in_stream if error.pos_in_stream is not None else len(text)
    found = None
    if not (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        found = _WORD.match(text, place)
    if found is None:
        end = len(text.rstrip())
        return ParseError("the query ends too early", span=Span(end - 1, end), text=text, hint=expected(names))
    found = _whole(text, place) or found
    word, span = found[0], Span(*found.span())
    if word[0] in "'\"" and (len(word) == 1 or word[-1] != word[0]):
        straight = " instead of ’" if "’" in word else ""
        ending = f"write {word[0]}{straight} where the text ends"
        return ParseError("a quote is not closed", span=span, text=text, hint=ending)
    before = _DISTINCT.search(text, 0, place)
    if before is not None:
        span = Span(*before.span(1))
        return ParseError(
            f"{before[1]!r} is not expected here", span=span, text=text, hint="GROUP BY gives each value once"
        )
    hint = spelled(word, names, text, span) or advice(word, names) or hint_for(word, names)
    return ParseError(f"{brief(word)!r} is not expected here", span=span, text=text, hint=hint)


def _whole(text: str, place: int) -> re.Match[str] | None:
    """The whole of a fraction, of a word with letters that names do not have, or of the start of a comment."""
    if text[place] == "." and (digits := len(text[:place]) - len(text[:place].rstrip("0123456789"))):
        return _FRACTION.match(text, place - digits)
    if text[place].isalpha() and not text[place].isascii():
        start = place
        while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        return _LETTERS.match(text, start)
    return _OPENING.match(text, place) or _OPENING.match(text, max(0, place - 1))


def spelled(word: str, names: set[str], text: str, span: Span) -> str | None:
    """A hint for what other languages and word processors write, by the word and what stands around it."""
    before, after = text[: span.start].rstrip(), text[span.end :]
    if word in PLAIN:
        return PLAIN[word]
    if not word.isascii() and word.isidentifier():
        return "names have letters from a to z; put it in double quotes"
    if word == "=" and text[span.start - 1 : span.start] == "=":
        return "equality is one ="
    if (word == "*" and before[-1:] in (".", ",")) or (word == "," and before[-1:] == "*" and names == {"FROM"}):
        return "only * alone stands for all columns"
    if word.lower() in RESERVED and names >= EXPRESSION and _AFTER_COLUMN.match(after):
        return f'expected an expression; "{word}" in double quotes is a name'
    return None


def hint_for(word: str, names: set[str]) -> str | None:
    """What was probably meant by a word, or what could stand there instead."""
    if not word.isprintable():
        return "use ordinary blanks and printable characters"
    if word.lower() in RESERVED:
        return f'expected a name; "{word}" in double quotes is one' if names == {"a name"} else expected(names)
    if _FRACTION.match(word):
        return "expected a whole number"
    if word[0] in "=<>!" and "OR" in names:
        return "comparisons are joined by AND"
    keywords = sorted(keyword for name in names for keyword in re.findall(r"[A-Z]{2,}", name))
    near = difflib.get_close_matches(word.upper(), keywords, 1, 0.6) if len(word) > 1 else []
    if near:
        return f"did you mean {near[0]}?"
    if "AS" in names and _NAME.fullmatch(word):
        return f"write AS {brief(word)}"
    return expected(names)


def expected(names: set[str]) -> str | None:
    """What could stand in a place."""
    if names >= EXPRESSION:
        names = (names - EXPRESSION - {"NOT", "'*'"}) | {"an expression"}
    if "'||'" in names:
        kept = set() if "OR" in names else {"AND"}
        names = (names - (OPERATORS - kept) - JOINTS) | {"an operator"}
    if "the end of the query" in names:
        names = names - {"';'"}
    *others, last = sorted(names) or [""]
    return f"expected {', '.join(others)} or {last}" if others else f"expected {last}" if last else None
