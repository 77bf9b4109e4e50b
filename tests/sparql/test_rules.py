"""What parses and is forbidden, with its place; and what looks like it and is allowed."""

from __future__ import annotations

import pytest

import transom
from transom import Catalog
from transom.errors import CatalogError, LanguageRule, NameProblem, ParseError, QueryError
from transom.languages.sparql import syntax
from transom.languages.sparql.parse import parse
from transom.languages.sparql.rules import check
from transom.languages.sparql.unparse import unparse

STREAM = "FROM STREAM <s> WINDOW"
FORBIDDEN = {
    "SELECT * WHERE { ?s ex:p ?o }": (NameProblem, "no prefix is called ex:", "ex:p"),
    f"SELECT * {STREAM} ELEMS 0 WHERE {{}}": (LanguageRule, "a window cannot have 0 elements", "0"),
    f"SELECT * {STREAM} RANGE 0 S FIXED WHERE {{}}": (LanguageRule, "RANGE cannot be 0", "0 S"),
    f"SELECT * {STREAM} RANGE 5 SLIDE 0 WHERE {{}}": (LanguageRule, "SLIDE cannot be 0", "0"),
    f"SELECT * {STREAM} RANGE 1 S SLIDE 2 S WHERE {{}}": (
        LanguageRule, "a SLIDE larger than the RANGE would miss elements", "2 S",
    ),
    "SELECT * WHERE { ?s ?p ?o . WINDOW RANGE 5 SLIDE 6 }": (
        LanguageRule, "a SLIDE larger than the RANGE would miss elements", "6",
    ),
    f"SELECT * {STREAM} ELEMS 1 WHERE {{ FILTER(?x < NOW()) }}": (
        LanguageRule, "NOW() cannot be used over a stream", "NOW()",
    ),
    f"SELECT (RAND() AS ?r) {STREAM} ELEMS 1 WHERE {{}}": (
        LanguageRule, "RAND() cannot be used over a stream", "RAND()",
    ),
    "SELECT * FROM NAMED STREAM <s> WINDOW ELEMS 1 FROM NAMED <s> WHERE {}": (
        LanguageRule, "two sources have the same name", "FROM NAMED <s>",
    ),
    "SELECT * WHERE { _:a ?p 1 . OPTIONAL { _:a ?p 2 } }": (
        LanguageRule, "_:a is used in two basic graph patterns", "_:a",
    ),
    "SELECT * WHERE { _:a ?p 1 FILTER EXISTS { _:a ?p 2 } }": (
        LanguageRule, "_:a is used in two basic graph patterns", "_:a",
    ),
    "SELECT * WHERE { ?s ?p ?o BIND (1 AS ?o) }": (LanguageRule, "?o already has a value", "?o"),
    "SELECT (1 AS ?o) WHERE { ?s ?p ?o }": (LanguageRule, "?o already has a value", "?o"),
    "SELECT (1 AS ?a) (2 AS ?a) WHERE {}": (LanguageRule, "?a already has a value", "?a"),
    "SELECT ?s WHERE { ?s ?p ?o } GROUP BY (1 AS ?o)": (LanguageRule, "?o already has a value", "?o"),
    "SELECT * WHERE { ?s ?p ?o } GROUP BY ?s": (
        LanguageRule, "SELECT * cannot be used with GROUP BY or aggregates", "SELECT * WHERE { ?s ?p ?o } GROUP BY ?s",
    ),
    "SELECT ?o WHERE { ?s ?p ?o } GROUP BY ?s": (LanguageRule, "?o is neither grouped nor aggregated", "?o"),
    "SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s ?p ?o }": (LanguageRule, "?s is neither grouped nor aggregated", "?s"),
    "SELECT * WHERE { ?s ?p ?o FILTER(COUNT(?o) > 1) }": (
        LanguageRule, "an aggregate is not allowed in FILTER", "COUNT(?o)",
    ),
    "SELECT * WHERE { BIND(SUM(?o) AS ?x) }": (LanguageRule, "an aggregate is not allowed in BIND", "SUM(?o)"),
    "SELECT (1 AS ?x) WHERE {} GROUP BY (SUM(?o))": (
        LanguageRule, "an aggregate is not allowed in GROUP BY", "SUM(?o)",
    ),
    "SELECT (SUM(COUNT(?o)) AS ?x) WHERE { ?s ?p ?o }": (
        LanguageRule, "an aggregate is not allowed inside an aggregate", "COUNT(?o)",
    ),
    "SELECT * WHERE { VALUES (?x ?x) { (1 2) } }": (LanguageRule, "VALUES has ?x twice", "?x"),
    "SELECT * WHERE { VALUES (?x ?y) { (1 2) (3) } }": (ParseError, "1 values for 2 variables", "(3)"),
    "SELECT * WHERE { { SELECT (1 AS ?o) WHERE { ?s ?p ?o } } }": (LanguageRule, "?o already has a value", "?o"),
    "CONSTRUCT { ?s <a>/<b> ?o } WHERE { ?s ?p ?o }": (ParseError, "a template cannot contain a path", "<a>/<b>"),
    "CONSTRUCT { ?s <a> [ <b>* ?o ] } WHERE { ?s ?p ?o }": (ParseError, "a template cannot contain a path", "<b>*"),
    "CONSTRUCT WHERE { ?s ?p ?o FILTER(?o = 1) }": (
        ParseError, "CONSTRUCT WHERE takes only triples", "FILTER(?o = 1)",
    ),
    "SELECT * WHERE { FILTER BOUND(1) }": (ParseError, "BOUND takes a variable", "BOUND(1)"),
    "SELECT (MAX(*) AS ?m) WHERE {}": (ParseError, "only COUNT takes *", "MAX(*)"),
    'SELECT (SUM(?x ; SEPARATOR = ",") AS ?m) WHERE {}': (
        ParseError, "SUM has no SEPARATOR", 'SUM(?x ; SEPARATOR = ",")',
    ),
    "PREFIX a:b <x> ASK {}": (ParseError, "'a:b' is not a prefix", "a:b"),
    'ASK { ?s ?p "\\uD800" }': (ParseError, "this escape is not a character", "\\uD800"),
}  # fmt: skip
ALLOWED = (
    "SELECT * WHERE { _:a ?p 1 FILTER(?p != 2) _:a ?p 2 }",
    "SELECT * WHERE { { ?s ?p ?o } UNION { ?s ?q ?o BIND(1 AS ?p) } }",
    "SELECT * WHERE { ?s ?p ?o MINUS { BIND(1 AS ?o) } }",
    "SELECT ?s (COUNT(*) AS ?n) ((?n + 1) AS ?m) WHERE { ?s ?p ?o } GROUP BY ?s HAVING (COUNT(*) > 1)",
    "SELECT (?k AS ?l) WHERE { ?s ?p ?o } GROUP BY (?o + 1 AS ?k)",
    "SELECT (NOW() AS ?n) FROM <g> WHERE {}",
    "SELECT * FROM <g> FROM <g> FROM NAMED <g> FROM NAMED <g> FROM STREAM <g> WINDOW ELEMS 1 WHERE {}",
    "SELECT * FROM STREAM <s> WINDOW RANGE 30 MINUTE SLIDE 1800000 WHERE {}",
    "SELECT ?x WHERE { { SELECT ?x WHERE { ?x ?p ?o BIND(1 AS ?y) } } BIND(2 AS ?y) }",
    "CONSTRUCT { _:a ?p _:a } WHERE { _:a ?p 1 }",
)


@pytest.mark.parametrize("text", FORBIDDEN)
def test_forbidden(text: str) -> None:
    kind, message, words = FORBIDDEN[text]
    with pytest.raises(QueryError) as caught:
        check(parse(text))
    assert type(caught.value) is kind
    assert caught.value.message == message
    assert caught.value.hint
    span = caught.value.span
    assert span is not None
    assert text[span.start : span.end] == words


@pytest.mark.parametrize("text", ALLOWED)
def test_allowed(text: str) -> None:
    query = parse(text)
    check(query)
    assert parse(unparse(query)) == query


def test_the_catalog_declares_prefixes() -> None:
    query = parse("SELECT * WHERE { ?s my:name ?o }")
    check(query, {"my": "http://my/"})
    with pytest.raises(QueryError, match="my:"):
        check(query, {"your": "http://my/"})


def test_a_union_needs_no_braces_around_it() -> None:
    short, long = (parse(f"ASK {pattern}") for pattern in ("{ ?x ?y 1 } UNION { }", "{ { ?x ?y 1 } UNION { } }"))
    assert short == long
    assert parse(unparse(short)) == long


def test_units() -> None:
    query = parse(f"ASK {STREAM} RANGE 2 WEEK SLIDE 3 {{ WINDOW RANGE 4 HOUR SLIDE }}")
    source = query.form.sources[0]
    assert isinstance(source, syntax.StreamSource)
    assert isinstance(source.window, syntax.RangeWindow)
    assert source.window.width.milliseconds == 2 * 7 * 24 * 3600 * 1000
    assert source.window.slide is not None
    assert source.window.slide.milliseconds == 3
    assert query.form.where is not None
    assert query.form.where.window == syntax.RangeWindow(syntax.Duration(4, syntax.TimeUnit.HOUR), None)


def test_places_are_those_before_escapes_were_undone() -> None:
    text = 'ASK { ?s ?p "\\u00e9\\U0001F600" . FILTER(COUNT(?s) > "\\u0041") }'
    with pytest.raises(LanguageRule) as caught:
        check(parse(text))
    span = caught.value.span
    assert span is not None
    assert text[span.start : span.end] == "COUNT(?s)"


def test_numbers_with_signs() -> None:
    def tree(words: str) -> object:
        element = parse(f"ASK {{ FILTER({words}) }}").form.where.elements[0]  # type: ignore[union-attr]
        assert isinstance(element, syntax.Filter)
        return element.condition

    assert tree("?x -1") == tree("?x - 1")
    assert tree("?x +2*?y") == tree("?x + (2 * ?y)")
    assert tree("?x -2*?y/3+1") == tree("(?x - ((2 * ?y) / 3)) + 1")
    assert tree("-1") != tree("- 1")


@pytest.mark.parametrize(
    ("window", "message", "at", "hint"),
    [
        (
            "RANGE 1000 SLIDE",
            "SLIDE without a number is 1 millisecond, one unit of RANGE, and that is not a whole number of ticks",
            "WINDOW RANGE 1000 SLIDE",
            "a tick of the catalog is 1 s; write a number, for example SLIDE 1000",
        ),
        (
            "RANGE 1500 SLIDE 1 S",
            "1500 without a unit means 1500 ms, which is not a whole number of ticks",
            "1500",
            "a tick of the catalog is 1 s; use multiples of it, or declare tick: 1 ms",
        ),
        (
            "RANGE 5 S SLIDE 1500 MS",
            "1500 MS is not a whole number of ticks",
            "1500 MS",
            "a tick of the catalog is 1 s; use multiples of it, or declare tick: 1 ms",
        ),
    ],
)
def test_windows_that_are_no_whole_number_of_ticks(window: str, message: str, at: str, hint: str) -> None:
    catalog = Catalog.from_dict({"rdf": {"s": {"stream": "http://ex/s"}}})
    text = f"SELECT * FROM STREAM <http://ex/s> WINDOW {window} WHERE {{ ?s ?p ?o }}"
    with pytest.raises(LanguageRule) as caught:
        transom.compile(text, catalog, language="sparql")
    span = caught.value.span
    assert span is not None
    assert (caught.value.message, text[span.start : span.end], caught.value.hint) == (message, at, hint)


def warned(text: str, **more: object) -> list[tuple[str, str]]:
    catalog = Catalog.from_dict(
        {"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s", **more}}}
    )
    query = transom.compile(text, catalog, language="sparql")
    return [(remark.message, text[remark.span.start : remark.span.end]) for remark in query.warnings]


OVER = "FROM STREAM <http://ex/s> WINDOW RANGE 5 SLIDE"
NAMED = OVER.replace("FROM", "FROM NAMED")
NEVER = "is never bound: no pattern gives it a value"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT ?x ?nope {OVER} {{ ?x :a ?y }}", [(f"?nope {NEVER}", "?nope")]),
        (
            f"SELECT ?x {OVER} {{ ?x :a ?value FILTER (?valeu > 1) }}",
            [(f"?valeu {NEVER}; did you mean ?value?", "?valeu")],
        ),
        (f"SELECT ?x {OVER} {{ ?x :a ?y }} ORDER BY ?z", [(f"?z {NEVER}", "?z")]),
        (f"CONSTRUCT {{ ?x :b ?z }} {OVER} {{ ?x :a ?y }}", [(f"?z {NEVER}", "?z")]),
        (f"SELECT ?x ?z {OVER} {{ ?x :a ?y MINUS {{ ?x :b ?z }} }}", [(f"?z {NEVER}", "?z")]),
        (f"SELECT (?z + 1 AS ?v) {OVER} {{ ?x :a ?y }}", [(f"?z {NEVER}", "?z")]),
        (f"SELECT ?x ?v {OVER} {{ ?x :a ?y BIND (?y AS ?v) }}", []),
        (f"SELECT ?x ?g {NAMED} {{ GRAPH ?g {{ ?x :a ?y OPTIONAL {{ ?x :b ?z }} }} FILTER (!BOUND(?z)) }}", []),
        (f"SELECT ?x ?v {OVER} {{ ?x :a ?y VALUES ?v {{ 1 }} {{ SELECT ?q {{ ?q :a 1 }} }} }}", []),
        (f"SELECT ?n (COUNT(?x) AS ?c) {OVER} {{ ?x :a ?y }} GROUP BY (?y AS ?n)", []),
        (f"SELECT * {OVER} {{ ?x :a ?y FILTER NOT EXISTS {{ ?x :b ?w }} }}", []),
    ],
)  # fmt: skip
def test_variables_that_nothing_binds(text: str, expected: list[tuple[str, str]]) -> None:
    assert warned(text) == expected


HIDDEN = "is named in SELECT, and HAVING cannot see it: write"


@pytest.mark.parametrize(
    ("select", "having", "expected"),
    [
        ("(COUNT(*) AS ?n)", "(?n > 5)", [(f"?n {HIDDEN} COUNT(*)", "?n")]),
        ("(SUM(?y) AS ?n)", "(COUNT(?y) > 1) (?n + 1 > 5)", [(f"?n {HIDDEN} SUM(?y)", "?n")]),
        ("(COUNT(*) AS ?n)", "(COUNT(*) > 5)", []),
        ("(COUNT(*) AS ?n)", "(?x != 5)", []),
        ("(COUNT(*) AS ?n)", "(COUNT(?n) > 5)", []),
    ],
)
def test_having_does_not_see_what_select_names(select: str, having: str, expected: list[tuple[str, str]]) -> None:
    grouped = f"SELECT ?x {select} {OVER} {{ ?x :a ?y }} GROUP BY ?x HAVING {having}"
    assert warned(grouped) == expected
    inner = f"SELECT * {OVER} {{ {{ SELECT ?x {select} {{ ?x :a ?y }} GROUP BY ?x HAVING {having} }} }}"
    assert warned(inner) == expected


def test_having_sees_what_group_by_names() -> None:
    assert warned(f"SELECT ?n (SUM(?y) AS ?m) {OVER} {{ ?x :a ?y }} GROUP BY (?y + 1 AS ?n) HAVING (?n > 5)") == []


def test_predicates_that_the_catalog_does_not_declare() -> None:
    text = f"SELECT ?x {OVER} {{ ?x :tmep ?y ; a ?z ; !:other ?v }}"
    assert warned(text) == []
    assert warned(text, predicates=[":temp", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"]) == [
        ("no statement has the predicate <http://ex/tmep>; did you mean <http://ex/temp>?", ":tmep")
    ]
    with pytest.raises(CatalogError, match="not an absolute IRI"):
        warned(text, predicates=["temp"])


def test_predicates_that_no_statement_has() -> None:
    catalog = Catalog.from_dict(
        {"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s"}}}
    )
    query = transom.compile(f"SELECT ?x {OVER} {{ ?x :tmep ?y }}", catalog, language="sparql", name="q.rq")
    with pytest.warns(transom.QueryWarning) as caught:
        assert not query.simulate({"s": [(0, ":x", ":temp", 1)]}).solutions
    said = "q.rq:1:63: no statement has the predicate <http://ex/tmep>; did you mean <http://ex/temp>?"
    assert [str(one.message) for one in caught] == [said]
    query.simulate({"s": []})
