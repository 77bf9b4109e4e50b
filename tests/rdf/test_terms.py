"""Terms, what literals stand for, equality, order and truth; reading RDF."""

from __future__ import annotations

from decimal import Decimal

import pytest

from transom.errors import DataError, UsageError
from transom.model.rdf.compare import effective_boolean_value, sort_key, term_less_than, terms_equal
from transom.model.rdf.read import FORMATS, Quad, read_quads, read_triples
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple, term_order_key
from transom.model.rdf.times import days_before
from transom.model.rdf.values import NumericKind, NumericValue, canonical_number, value_of


def lit(written: str) -> Literal:
    """A literal from `text^type` or `text@tag`; plain text is a string."""
    if "@" in written:
        text, _, tag = written.rpartition("@")
        return Literal(text, language=tag)
    text, mark, name = written.rpartition("^")
    return Literal(text, XSD + name) if mark else Literal(written)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (IRI("http://ex/a"), "<http://ex/a>"),
        (IRI("http://ex/a b>"), "<http://ex/a\\u0020b\\u003E>"),
        (BlankNode("n1"), "_:n1"),
        (Literal('say "hi"\n\\ \x01'), '"say \\"hi\\"\\n\\\\ \\u0001"'),
        (Literal("a", language="en-GB"), '"a"@en-gb'),
        (lit("01^integer"), f'"01"^^<{XSD}integer>'),
    ],
)
def test_terms_are_written_as_n_triples(term: Term, text: str) -> None:
    assert str(term) == text


def test_terms_are_the_same_by_characters_and_tags_without_case() -> None:
    assert lit("01^integer") != lit("1^integer")
    assert lit("1^integer") != lit("1^decimal")
    assert Literal("a", language="EN") == Literal("a", language="en")
    assert Literal("a") != Literal("a", language="en")
    assert Literal("a", XSD + "string") == Literal("a")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (NumericKind.INTEGER, -7, "-7"),
        (NumericKind.DECIMAL, Decimal("2.50"), "2.5"),
        (NumericKind.DECIMAL, Decimal("100"), "100"),
        (NumericKind.DECIMAL, Decimal("-0.0"), "0"),
        (NumericKind.DECIMAL, Decimal("1E+3"), "1000"),
        (NumericKind.DOUBLE, 150.0, "1.5E2"),
        (NumericKind.DOUBLE, 1.0, "1.0E0"),
        (NumericKind.DOUBLE, 0.001, "1.0E-3"),
        (NumericKind.DOUBLE, -0.0, "-0.0E0"),
        (NumericKind.DOUBLE, 0.0, "0.0E0"),
        (NumericKind.DOUBLE, 5e-324, "5.0E-324"),
        (NumericKind.DOUBLE, 0.1, "1.0E-1"),
        (NumericKind.DOUBLE, 123456789.125, "1.23456789125E8"),
        (NumericKind.DOUBLE, float("inf"), "INF"),
        (NumericKind.DOUBLE, float("-inf"), "-INF"),
        (NumericKind.DOUBLE, float("nan"), "NaN"),
        (NumericKind.FLOAT, 0.10000000149011612, "1.0E-1"),
        (NumericKind.FLOAT, 16777216.0, "1.6777216E7"),
        (NumericKind.FLOAT, 3.4028234663852886e38, "3.4028235E38"),
    ],
)
def test_canonical_forms(kind: NumericKind, value: float | Decimal, text: str) -> None:
    assert canonical_number(NumericValue(kind, value)) == text


@pytest.mark.parametrize(
    "written",
    [
        "1.0^integer", "^integer", "1e0^decimal", "1,5^decimal", "INFINITY^double", "+NaN^double", "128^byte", "-1^unsignedInt",
        "0^positiveInteger", "TRUE^boolean", "2020-02-30^date", "2021-02-29T00:00:00Z^dateTime", "2020-01-01T24:00:01Z^dateTime",
        "2020-01-01T00:60:00Z^dateTime", "2020-1-1^date", "02020-01-01^date", "2020-01-01+14:01^date", "24:30:00^time", "P^duration",
        "P1DT^duration", "P1Y^dayTimeDuration", "PT1H^yearMonthDuration", "1^noSuchType", "9" * 40 + "^integer",
    ],
)  # fmt: skip
def test_what_is_not_well_formed_stands_for_nothing(written: str) -> None:
    assert value_of(lit(written)) is None


EQUAL = [
    ("1^integer", "01^integer"), ("1^integer", "1.0^decimal"), ("1^int", "1^byte"), ("0.1^decimal", "0.1^double"), ("1^float", "1^double"), ("16777217^float", "16777217^integer"),
    ("0.0^double", "-0.0^double"), ("INF^double", "INF^float"), ("a@en", "a@EN"), ("1^boolean", "true^boolean"), (" 7 ^integer", "7^integer"),
    ("2020-01-01T05:00:00+05:00^dateTime", "2020-01-01T00:00:00Z^dateTime"), ("2020-01-01T24:00:00Z^dateTime", "2020-01-02T00:00:00Z^dateTime"),
    ("2020-01-01T00:00:00.50^dateTime", "2020-01-01T00:00:00.5^dateTime"), ("2020-12-31T24:00:00^dateTime", "2021-01-01T00:00:00^dateTime"),
    ("P1D^dayTimeDuration", "PT24H^duration"), ("P12M^yearMonthDuration", "P1Y^duration"), ("x^madeUp", "x^madeUp"), ("xyz^integer", "xyz^integer"),
]  # fmt: skip
DIFFERENT = [
    ("1^integer", "2^integer"), ("a", "b"), ("a", "a@en"), ("a@en", "a@fr"), ("1", "1^integer"), ("NaN^double", "NaN^double"),
    ("true^boolean", "1^integer"), ("2006-08-23^date", "2006-08-23T00:00:00^dateTime"), ("2006-08-23^date", "2001-01-01Z^date"),
    ("a@en", "a^madeUp"), ("a@en", "a^integer"), ("P1M^duration", "P30D^duration"), ("0.1^float", "0.1^double"),
]  # fmt: skip
UNKNOWN = [
    ("x^madeUp", "y^madeUp"), ("xyz^integer", "abc^integer"), ("xyz^integer", "1^integer"), ("x^madeUp", "x"),
    ("2006-08-23^date", "2006-08-23Z^date"), ("2020-01-01T00:00:00^dateTime", "2020-01-01T14:00:00Z^dateTime"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal(one: str, other: str) -> None:
    assert terms_equal(lit(one), lit(other)) is True
    assert terms_equal(lit(other), lit(one)) is True


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: str, other: str) -> None:
    assert terms_equal(lit(one), lit(other)) is False
    assert terms_equal(lit(other), lit(one)) is False


@pytest.mark.parametrize(("one", "other"), UNKNOWN)
def test_equality_that_is_not_known_is_an_error(one: str, other: str) -> None:
    assert terms_equal(lit(one), lit(other)) is None
    assert terms_equal(lit(other), lit(one)) is None


def test_names_and_nodes_are_equal_only_to_themselves() -> None:
    assert terms_equal(IRI("http://a"), IRI("http://a")) is True
    assert terms_equal(IRI("http://a"), IRI("http://b")) is False
    assert terms_equal(IRI("http://a"), Literal("http://a")) is False
    assert terms_equal(BlankNode("a"), BlankNode("b")) is False


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("1^integer", "1.5^decimal", True), ("2^integer", "1.5^double", False), ("NaN^double", "1^integer", False), ("a", "b", True),
        ("Z", "a", True), ("ä", "z", False), ("a@en", "b@en", None), ("a", "b@en", None), ("false^boolean", "true^boolean", True),
        ("1", "2^integer", None), ("2020-01-01T00:00:00Z^dateTime", "2020-01-01T00:00:00-01:00^dateTime", True),
        ("2020-01-01T00:00:00^dateTime", "2020-01-01T14:00:00Z^dateTime", None), ("2020-01-01T00:00:00^dateTime", "2020-01-01T14:00:01Z^dateTime", True),
        ("2020-01-01^date", "2020-01-02^date", True), ("2020-01-01^date", "2020-01-02T00:00:00^dateTime", None), ("09:00:00^time", "10:00:00^time", True),
        ("-0001-01-01^date", "0001-01-01^date", True), ("P1D^dayTimeDuration", "PT25H^dayTimeDuration", True), ("P1M^duration", "P30D^duration", None),
        ("1^madeUp", "2^madeUp", None), ("x^integer", "2^integer", None),
    ],
)  # fmt: skip
def test_less(one: str, other: str, found: bool | None) -> None:
    assert term_less_than(lit(one), lit(other)) is found


@pytest.mark.parametrize(
    ("term", "found"),
    [
        (lit("true^boolean"), True), (lit("0^boolean"), False), (lit("yes^boolean"), False), (lit("0^integer"), False), (lit("-0.0^double"), False),
        (lit("NaN^float"), False), (lit("0.0001^decimal"), True), (lit("abc^integer"), False), (lit(""), False), (lit("false"), True),
        (Literal("", language="en"), False), (lit("a@en"), True), (lit("2020-01-01^date"), None), (lit("x^madeUp"), None), (IRI("http://a"), None),
        (BlankNode("a"), None),
    ],
)  # fmt: skip
def test_truth(term: Term, found: bool | None) -> None:
    assert effective_boolean_value(term) is found


def test_order_of_terms() -> None:
    order: list[Term | None] = [
        None, BlankNode("a"), BlankNode("b"), IRI("http://a"), IRI("http://b"), lit("NaN^double"), lit("-INF^double"), lit("1^integer"), lit("1.5^decimal"),
        lit("2^float"), lit("10^integer"), lit("A"), lit("a"), lit("a@de"), lit("a@en"), lit("false^boolean"), lit("true^boolean"),
        lit("2020-01-01T00:00:00Z^dateTime"), lit("2020-01-01T00:00:00-01:00^dateTime"), lit("x^madeUp"), lit("y^madeUp"),
    ]  # fmt: skip
    backwards = order[::-1]
    assert sorted(backwards, key=sort_key) == order
    assert sort_key(lit("1^integer")) == sort_key(lit("1.0^decimal"))
    assert term_order_key(lit("1^integer")) != term_order_key(lit("1.0^decimal"))


def test_days() -> None:
    assert [days_before(1970, 1, 1), days_before(2000, 3, 1), days_before(0, 1, 1)] == [0, 11017, -719528]


def test_solutions() -> None:
    one = Solution.of({"y": lit("b"), "x": lit("a")})
    assert str(one) == '{?x = "a", ?y = "b"}'
    assert one.compatible(Solution.of({"z": lit("c")}))
    assert not one.compatible(Solution.of({"x": lit("c")}))
    assert one.merge(Solution.of({"z": lit("c")})) == Solution.of({"x": lit("a"), "y": lit("b"), "z": lit("c")})


DOCUMENTS = {
    "nt": "<http://a> <http://b> _:n .\n_:n <http://b> \"x\"@EN .",
    "nq": "<http://a> <http://b> _:n .\n_:n <http://b> \"x\"@EN .",
    "ttl": "<http://a> <http://b> _:n . _:n <http://b> 'x'@EN .",
    "trig": "<http://a> <http://b> _:n . _:n <http://b> 'x'@EN .",
    "jsonld": '[{"@id": "http://a", "http://b": {"@id": "_:n"}}, {"@id": "_:n", "http://b": {"@value": "x", "@language": "EN"}}]',
    "rdf": """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://">
        <rdf:Description rdf:about="http://a"><e:b rdf:nodeID="n"/></rdf:Description>
        <rdf:Description rdf:nodeID="n"><e:b xml:lang="EN">x</e:b></rdf:Description></rdf:RDF>""",
}  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
def test_reading(format: str) -> None:
    node = BlankNode("g-0")
    assert read_triples(DOCUMENTS[format], format, label_prefix="g-") == [
        Triple(IRI("http://a"), IRI("http://b"), node),
        Triple(node, IRI("http://b"), Literal("x", language="en")),
    ]
    with pytest.raises(DataError, match="not well-formed") as broken:
        read_triples("<http://a> nothing <", format)
    assert broken.value.detail


def test_reading_keeps_graphs_labels_and_characters() -> None:
    [one, other] = read_quads("<http://g> { _:n <http://p> 01 } <http://a> <http://p> _:n .", "trig")
    assert one == Quad(Triple(BlankNode("n"), IRI("http://p"), lit("01^integer")), IRI("http://g"))
    assert other.graph is None
    assert read_triples("<a> <b> <c> , <c> .", "ttl", base="http://ex/") == [
        Triple(IRI("http://ex/a"), IRI("http://ex/b"), IRI("http://ex/c"))
    ]
    with pytest.raises(UsageError, match="no such format"):
        read_triples("", "hdt")
    with pytest.raises(DataError, match="statement about a statement"):
        read_triples("<http://a> <http://b> <<( <http://a> <http://b> 1 )>> .", "ttl")
