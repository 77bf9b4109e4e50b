"""What the parser suggests for mistakes that people make."""

from __future__ import annotations

import pytest

from transom.errors import ParseError
from transom.languages.sparql.parse import parse

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
            "write WINDOW RANGE 10 S SLIDE 1 S, WINDOW RANGE 10 S FIXED or WINDOW ELEMS 10",
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
