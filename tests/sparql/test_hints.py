"""What the parser suggests for mistakes that people make."""

from __future__ import annotations

import pytest

from transom.errors import ParseError
from transom.languages.sparql.parse import parse

ANY_WINDOW = "write WINDOW RANGE 10 S SLIDE 1 S, WINDOW RANGE 10 S FIXED or WINDOW ELEMS 10"
BEFORE_WHERE = "streams stand before WHERE:"
WITHOUT_WINDOW = "a stream needs a window, such as WINDOW RANGE 10 S SLIDE 1 S"
PATTERN = "{ ?x ?y ?z }"


@pytest.mark.parametrize(
    ("text", "at", "hint"),
    [
        ("# only a comment", "#", "write for example SELECT * WHERE { ?s ?p ?o }"),
        (f"SELECT * FROM STREAM <s> WHERE {PATTERN}", "WHERE", WITHOUT_WINDOW),
        (f"SELECT * FROM STREAM <s> {PATTERN}", "{", WITHOUT_WINDOW),
        (f"SELECT * FROM STREAM <s> FROM <g> WHERE {PATTERN}", "FROM", WITHOUT_WINDOW),
        (
            f"SELECT * FROM STREAM <s> [RANGE 10 S] WHERE {PATTERN}",
            "[",
            "write WINDOW RANGE 10 S SLIDE 1 S",
        ),
        (
            f"SELECT * FROM STREAM <s> [LAST 10 S] WHERE {PATTERN}",
            "[",
            ANY_WINDOW,
        ),
        (f"SELECT * FROM STREAM <s> [RANGE 1 YEAR] WHERE {PATTERN}", "[", ANY_WINDOW),
        (
            f"SELECT * FROM STREAM <s> [RANGE PT5M STEP PT30S] WHERE {PATTERN}",
            "[",
            "write WINDOW RANGE 5 MINUTE SLIDE 30 S",
        ),
        (f"SELECT * FROM STREAM <s> [RANGE P1D STEP 1 FORTNIGHT] WHERE {PATTERN}", "[", ANY_WINDOW),
        (f"SELECT * FROM STREAM <s> [RANGE 30m TUMBLING] WHERE {PATTERN}", "[", "write WINDOW RANGE 30 MINUTE FIXED"),
        (f"SELECT * FROM STREAM <s> WINDOW RANGE 1 H SLIDE 1 S WHERE {PATTERN}", "H", "did you mean HOUR?"),
        (
            "SELECT * WHERE { STREAM ?s { ?x ?y ?z } }",
            "STREAM",
            f"{BEFORE_WHERE} FROM STREAM :rooms WINDOW RANGE 10 S SLIDE 1 S",
        ),
        (
            "SELECT * WHERE { STREAM <s> [TRIPLES 5] { ?x ?y ?z } }",
            "STREAM",
            f"{BEFORE_WHERE} FROM STREAM <s> WINDOW ELEMS 5",
        ),
        (f"REGISTER {PATTERN}", "REGISTER", "leave out REGISTER .. AS: each file is one query, named by the file"),
        (
            f"SELECT * FROM NAMED WINDOW :w WHERE {PATTERN}",
            "WINDOW",
            "write FROM NAMED STREAM :rooms WINDOW RANGE 10 S SLIDE 1 S, and GRAPH :rooms instead of WINDOW in WHERE",
        ),
        (f"SELECT * FROM <g> WINDOW RANGE 10 S WHERE {PATTERN}", "WINDOW", "expected '{', FROM or WHERE"),
        ("INSERT DATA { }", "INSERT", "updates are not supported; write SELECT, CONSTRUCT, DESCRIBE or ASK"),
        ("SELECT * WHERE { ?x ?y", "y", "expected a term"),
        ("SELECT * WHERE { ?x ?y 'a }", "'a }", 'write \' where the string ends, or """ around several lines'),
        ("SELECT * WHERE { ?x ?y ?z FILTER ?z > 1 }", "?z", "write the condition in parentheses"),
        ("SELECT * WHERE { ?x ?y <a b> }", "<", 'an IRI cannot contain blanks, or any of " { } | ^ ` \\'),
        (f"SELECT ?x, ?y WHERE {PATTERN}", ",", "leave out the comma: variables are separated by spaces"),
        (f"SELECT COUNT(?x) WHERE {PATTERN}", "COUNT", "write (COUNT(?x) AS ?name)"),
        ("SELECT * WHERE { ?x ?y ?z FILTER (?z == 1) }", "=", "write a single ="),
        ("SELECT * WHERE { ?x ?y ?z FILTER (?z <> 1) }", "<>", "write !="),
        ("SELECT * WHERE { ?x ?y ?z FILTER (?z = 1 and ?y = 2) }", "and", "write &&"),
        ("SELECT * WHERE { ?x ?y “a” }", "“", 'write straight quotes around strings: "'),
        ("SELECT * WHERE { ?x ?y \x07 }", "\x07", "leave it out"),
        ("SELECT * WHERE { ?x ?y ?z FILTER (CONTAIN(?z)) }", "CONTAIN", "did you mean CONTAINS?"),
        (f"SELCT * WHERE {PATTERN}", "SELCT", "did you mean SELECT?"),
        ("SELECT * WHERE { x ?y ?z }", "x", "a variable is written ?x, an IRI <x> or :x"),
        (f"SELECT * WHERE {PATTERN} LIMIT ?x", "?x", "expected a number"),
    ],
)
def test_hint_for_a_syntax_error(text: str, at: str, hint: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert caught.value.hint == hint
    span = caught.value.span
    assert span is not None
    assert text[span.start : span.end] == at
