"""Explanations of parse failures: what was found, what was expected, and what was probably meant."""

from __future__ import annotations

import difflib
import re

from lark import UnexpectedInput, UnexpectedToken

from transom.errors import ParseError, Span
from transom.languages.rsp_dialects import dialect_hint
from transom.languages.sql.parse_errors import unprintable_character
from transom.languages.sql.type_messages import shorten

TOKEN_NAMES = {
    **dict.fromkeys(("INTEGER", "DECIMAL", "DOUBLE", "SIGNED"), "a number"),
    **dict.fromkeys(("STRING1", "STRING2", "LONG1", "LONG2"), "a string"),
    **dict.fromkeys(("IRIREF", "PNAME"), "an IRI"),
    **dict.fromkeys(("BUILTIN", "AGGREGATE"), "a function"),
    "BOOLEAN": "true or false",
    "VAR": "a variable",
    "BLANK_NODE": "a blank node",
    "LANGTAG": "a language",
    "COMPARE": "a comparison",
    "DIRECTION": "ASC, DESC",
    "KIND": "DISTINCT, REDUCED",
    "UNIT": "a unit: MS, S, MINUTE, HOUR, DAY or WEEK",
    "A": "a",
    "PLUS": "'+'",
    "MINUS": "'-'",
    "STAR": "'*'",
    "SLASH": "'/'",
    "QUESTION": "'?'",
    "NOT_SIGN": "'!'",
    "BANG": "'!'",
    "CIRCUMFLEX": "'^'",
    "VBAR": "'|'",
    "EQUAL": "'='",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "DOT": "'.'",
    "SEMICOLON": "';'",
    "$END": "the end of the query",
}
TERM = {"a variable", "an IRI", "a string", "a number", "true or false", "a blank node", "'('", "'['"}
EXPRESSION = {"a variable", "an IRI", "a string", "a number", "a function", "true or false", "'('", "EXISTS", "NOT"}
OPERATORS = {"'*'", "'/'", "'+'", "'-'", "a comparison", "IN", "NOT", "'||'", "'&&'"}
PATH = {"a", "'^'", "'!'", "'('", "an IRI"}
FORMS = {"SELECT", "CONSTRUCT", "DESCRIBE", "ASK"}
PATTERN = {"OPTIONAL", "MINUS", "GRAPH", "SERVICE", "FILTER", "BIND", "VALUES", "'{'"}
GROUPED = (
    (PATTERN, "a pattern"),
    (TERM, "a term"),
    (EXPRESSION, "an expression"),
    (OPERATORS, "an operator"),
    (PATH, "a path"),
)
"""Sets of tokens that are too long to list, and the names that summarize them."""

PLAIN_CHARACTERS = {
    **dict.fromkeys("‘’‚´“”„«»`", 'write straight quotes around strings: "'),
    "≥": "write >=",
    "≤": "write <=",
    "≠": "write !=",
    "<>": "write !=",
    "==": "write a single =",
    "AND": "write &&",
    "OR": "write ||",
    "NOW": "write NOW()",
    "--": "comments begin with #",
    "//": "comments begin with #",
}
"""Syntax of other languages and word processors, and hints on what to write instead."""

AGGREGATE = re.compile("count|sum|min|max|avg|sample|group_concat", re.IGNORECASE)
FUNCTIONS = (
    *("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT", "STR", "LANG", "LANGMATCHES", "DATATYPE", "BOUND"),
    *("IRI", "BNODE", "ABS", "CEIL", "FLOOR", "ROUND", "CONCAT", "STRLEN", "UCASE", "LCASE", "ENCODE_FOR_URI"),
    *("CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES"),
    *("SECONDS", "TIMEZONE", "COALESCE", "STRLANG", "STRDT", "SAMETERM", "ISIRI", "ISBLANK", "ISLITERAL"),
    *("ISNUMERIC", "REGEX", "SUBSTR", "REPLACE", "NOW", "RAND"),
)

_WORD = re.compile(r"<>|==|--|//|<[^<>\s]*>|\"[^\"\n]*\"?|'[^'\n]*'?|[?$]\w+|[\w-]*:[\w.-]*\w|\w+|.", re.DOTALL)


def explain_failure(error: UnexpectedInput, text: str) -> ParseError:
    """Turn Lark's parse error into a ParseError that says what was unexpected, expected and probably meant."""
    if not re.sub(r"#[^\n]*", "", text).strip():
        return ParseError("the query is empty", span=Span(0, 1), hint="write for example SELECT * WHERE { ?s ?p ?o }")
    interactive = getattr(error, "interactive_parser", None)
    expected = {TOKEN_NAMES.get(n, _keyword(n)) for n in (interactive.accepts() if interactive else ())}
    offset = error.pos_in_stream if error.pos_in_stream is not None else len(text)
    match = None
    if not (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        match = _WORD.match(text, offset)
    if match is None:
        end = len(text.rstrip())
        return ParseError("the query ends too early", span=Span(end - 1, end), hint=expected_tokens(expected))
    word, span = match[0], Span(*match.span())
    if word[0] in "'\"" and (len(word) == 1 or word[-1] != word[0]):
        return ParseError(
            "a quote is not closed",
            span=span,
            hint=f'write {word[0]} where the string ends, or """ around several lines',
        )
    if word[0] in "'\"":
        return ParseError(
            "this string has an unknown escape",
            span=span,
            hint="escapes are \\t \\b \\n \\r \\f \\\\ \\\" \\' \\uXXXX \\UXXXXXXXX",
        )
    if not word.isprintable():
        return unprintable_character(word, span, text)
    before = text[:offset].rstrip()
    hint = (
        dialect_hint(word, expected, before, text[offset:])
        or hint_from_context(word, expected, before)
        or hint_for(word, expected)
    )
    return ParseError(f"{shorten(word)!r} is not expected here", span=span, hint=hint)


def hint_from_context(word: str, expected: set[str], before: str) -> str | None:
    """Return a hint on an unexpected `word` after the text `before`, where `expected` tokens fit; None without one.

    `expected` are the tokens that would be correct there.
    """
    last = re.findall(r"\w+|.", before[-30:])[-1:]
    if word == "=" and before.endswith("="):
        return PLAIN_CHARACTERS["=="]
    if last and last[0].upper() in ("FILTER", "HAVING") and "EXISTS" in expected:
        return "write the condition in parentheses"
    if word[0] == "<" and "an IRI" in expected:
        return 'an IRI cannot contain blanks, or any of " { } | ^ ` \\'
    if expected >= {"'('", "a variable", "FROM", "WHERE"} and word == ",":
        return "leave out the comma: variables are separated by spaces"
    if expected >= {"'('", "a variable"} and not expected & {"an IRI"} and AGGREGATE.fullmatch(word):
        return f"write ({word.upper()}(?x) AS ?name)"
    return None


def _keyword(name: str) -> str:
    """Return how error messages spell the grammar terminal `name`: a keyword in capitals, or an operator as '||'."""
    return {"__ANON_0": "'||'", "__ANON_1": "'&&'", "__ANON_2": "'^^'"}.get(name, name.lstrip("_").upper())


def hint_for(word: str, expected: set[str]) -> str | None:
    """Return a hint for an unexpected word: the keyword or function probably meant, else the `expected` tokens."""
    upper = word.upper()
    if word in PLAIN_CHARACTERS or upper in PLAIN_CHARACTERS:
        return PLAIN_CHARACTERS.get(word, PLAIN_CHARACTERS.get(upper))
    if "WINDOW" in expected and upper in ("WHERE", "{", "FROM"):
        return "a stream needs a window, such as WINDOW RANGE 10 S SLIDE 1 S"
    if upper in ("INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD") and expected & FORMS:
        return "updates are not supported; write SELECT, CONSTRUCT, DESCRIBE or ASK"
    if "a function" in expected and (functions := difflib.get_close_matches(upper, FUNCTIONS, 1, 0.8)):
        return f"did you mean {functions[0]}?"
    keywords = sorted({keyword for name in expected for keyword in re.findall(r"[A-Z]{2,}", name)} | (expected & {"S"}))
    matches = difflib.get_close_matches(upper, keywords, 1, 0.6) if len(word) > 1 else []
    if matches and matches[0] != upper:
        return f"did you mean {matches[0]}?"
    if re.fullmatch(r"[A-Za-z_]\w*", word) and "a variable" in expected and upper not in keywords:
        return f"a variable is written ?{shorten(word)}, an IRI <{shorten(word)}> or :{shorten(word)}"
    return expected_tokens(expected)


def expected_tokens(expected: set[str]) -> str | None:
    """Return a hint that joins expected tokens, such as `expected FROM or a term`; None if there are none.

    It is None if there are no tokens.
    """
    for group, name in GROUPED:
        if expected >= group:
            expected = (expected - group) | {name}
    *rest, last = sorted(expected) or [""]
    return f"expected {', '.join(rest)} or {last}" if rest else f"expected {last}" if last else None
