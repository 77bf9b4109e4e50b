"""Parse failures in words: what was found, what could have stood there, and what was probably meant."""

from __future__ import annotations

import difflib
import re

from lark import UnexpectedInput, UnexpectedToken

from transom.errors import ParseError, Span
from transom.languages.sql.wording import brief

WORDS = {
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
    "UNIT": "a unit (MS, S, MINUTE, HOUR, DAY, WEEK)",
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
"""What is long to list, and what it is called."""

PLAIN = {
    **dict.fromkeys("‘’‚´“”„«»`", 'strings stand in straight quotes: "'),
    "≥": "write >=",
    "≤": "write <=",
    "≠": "write !=",
    "<>": "write !=",
    "==": "equality is one =",
    "AND": "write &&",
    "OR": "write ||",
    "NOW": "write NOW()",
    "--": "comments begin with #",
    "//": "comments begin with #",
}
"""What other languages and word processors write, and how it is written here."""

SQL_WINDOW = "a window is written WINDOW RANGE 10 S SLIDE 1 S, WINDOW RANGE 10 S FIXED or WINDOW ELEMS 10"

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
    """A parse failure in words."""
    if not re.sub(r"#[^\n]*", "", text).strip():
        return ParseError("the query is empty", span=Span(0, 1), hint="write for example SELECT * WHERE { ?s ?p ?o }")
    interactive = getattr(error, "interactive_parser", None)
    names = {WORDS.get(n, _keyword(n)) for n in (interactive.accepts() if interactive else ())}
    place = error.pos_in_stream if error.pos_in_stream is not None else len(text)
    found = None
    if not (isinstance(error, UnexpectedToken) and error.token.type == "$END"):
        found = _WORD.match(text, place)
    if found is None:
        end = len(text.rstrip())
        return ParseError("the query ends too early", span=Span(end - 1, end), hint=expected(names))
    word, span = found[0], Span(*found.span())
    if word[0] in "'\"" and (len(word) == 1 or word[-1] != word[0]):
        return ParseError(
            "a quote is not closed", span=span, hint=f'write {word[0]} where the text ends, or """ around lines'
        )
    if word[0] in "'\"":
        return ParseError(
            "a string with an escape that means nothing",
            span=span,
            hint="escapes are \\t \\b \\n \\r \\f \\\\ \\\" \\' \\uXXXX \\UXXXXXXXX",
        )
    before = text[:place].rstrip()
    hint = by_neighbours(word, names, before) or hint_for(word, names)
    return ParseError(f"{brief(word)!r} is not expected here", span=span, hint=hint)


def by_neighbours(word: str, names: set[str], before: str) -> str | None:
    """What was probably meant by a word, from what stands before it."""
    last = re.findall(r"\w+|.", before[-30:])[-1:]
    if word == "=" and before.endswith("="):
        return PLAIN["=="]
    if last and last[0].upper() in ("FILTER", "HAVING") and "EXISTS" in names:
        return "a condition stands in parentheses"
    if word[0] == "<" and "an IRI" in names:
        return 'an IRI has no blanks and none of " { } | ^ ` \\'
    if names >= {"'('", "a variable", "FROM", "WHERE"} and word == ",":
        return "items stand without commas"
    if names >= {"'('", "a variable"} and not names & {"an IRI"} and AGGREGATE.fullmatch(word):
        return f"write ({word.upper()}(?x) AS ?name)"
    return None


def _keyword(name: str) -> str:
    """A terminal of the grammar in words."""
    return {"__ANON_0": "'||'", "__ANON_1": "'&&'", "__ANON_2": "'^^'"}.get(name, name.lstrip("_").upper())


def hint_for(word: str, names: set[str]) -> str | None:
    """What was probably meant by a word, or what could stand there instead."""
    upper = word.upper()
    if word in PLAIN or upper in PLAIN:
        return PLAIN.get(word, PLAIN.get(upper))
    if not word.isprintable():
        return "use ordinary blanks and printable characters"
    if "WINDOW" in names and upper in ("WHERE", "{", "FROM"):
        return "a stream has a window, such as WINDOW RANGE 10 S SLIDE 1 S"
    if "WINDOW" in names and upper == "[":
        return SQL_WINDOW
    if upper in ("INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD") and names & FORMS:
        return "updates are no queries"
    if "a function" in names and (alike := difflib.get_close_matches(upper, FUNCTIONS, 1, 0.8)):
        return f"did you mean {alike[0]}?"
    keywords = sorted({keyword for name in names for keyword in re.findall(r"[A-Z]{2,}", name)} | (names & {"S"}))
    near = difflib.get_close_matches(upper, keywords, 1, 0.6) if len(word) > 1 else []
    if near and near[0] != upper:
        return f"did you mean {near[0]}?"
    if re.fullmatch(r"[A-Za-z_]\w*", word) and "a variable" in names and upper not in keywords:
        return f"a variable is written ?{brief(word)}, an IRI <{brief(word)}> or :{brief(word)}"
    return expected(names)


def expected(names: set[str]) -> str | None:
    """What could stand in a place."""
    for group, name in GROUPED:
        if names >= group:
            names = (names - group) | {name}
    *others, last = sorted(names) or [""]
    return f"expected {', '.join(others)} or {last}" if others else f"expected {last}" if last else None
