"""Expressions over RDF terms on Spark have the values that the reference engine gives, on drawn terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from tests.gate.thin import thinned
from tests.spark.expressions.drawn_terms import A, B, every_term, nested, rows, simple, text
from transom.algebra.expressions.expression import Column, Exists, Expression
from transom.algebra.expressions.term_functions import TERM_FUNCTIONS
from transom.algebra.expressions.terms import as_type, term_call, term_literal, variable
from transom.algebra.sources import Values
from transom.errors import PlanError, Unsupported
from transom.model.rdf.compare import effective_boolean_value as truth_of
from transom.model.rdf.compare import sort_key
from transom.model.rdf.ntriples import decode_term, encode_term
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term
from transom.model.schema import Attribute
from transom.model.types import Type
from transom.physical import gaps
from transom.reference.expressions import evaluate_expression as reference
from transom.reference.rdf.expressions import SolutionContext

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""For many expressions on few rows: compiling them would cost more than running them."""

Row = tuple[Term | None, Term | None]


@pytest.fixture
def interpreted(spark: Any) -> Iterator[Any]:
    from transom.spark.session import MAX_ITERATIONS, allow_deep_expressions

    before = {name: spark.conf.get(name) for name in (*INTERPRETED, MAX_ITERATIONS)}
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)
    allow_deep_expressions(spark)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def scope(row: Row) -> SolutionContext:
    return SolutionContext(dict(zip("ab", row, strict=True)))


def check(spark: Any, given: Sequence[Row], expressions: Sequence[Expression], portion: int = 25) -> None:
    """Compare the values of expressions on all rows, so many of them in one select."""
    from pyspark.sql import functions as F

    from transom.spark.rdf.expressions import lower_to_column

    spelled = [(n, *(None if term is None else encode_term(term) for term in row)) for n, row in enumerate(given)]
    frame = spark.createDataFrame(spelled, "n int, a string, b string").coalesce(1)
    columns = {"a": F.col("a"), "b": F.col("b")}
    wrong = []
    for start in range(0, len(expressions), portion):
        asked = expressions[start : start + portion]
        chosen = [lower_to_column(as_type(e, Type.TERM), columns) for e in asked]
        chosen += [lower_to_column(as_type(e, Type.BOOLEAN), columns) for e in asked[::5]]
        for n, *found in frame.select("n", *(c.alias(f"c{place}") for place, c in enumerate(chosen))).collect():
            terms = [reference(as_type(expression, Type.TERM), scope(given[n])) for expression in asked]
            expected = [encode_term(term) if isinstance(term, Term) else None for term in terms]
            expected += [truth_of(term) if isinstance(term, Term) else None for term in terms[::5]]
            for expression, own, wanted in zip((*asked, *asked[::5]), found, expected, strict=True):
                if own != wanted:
                    wrong.append((str(expression), [str(term) for term in given[n]], own, wanted))
    assert not wrong, (
        f"{len(wrong)} differ: {[line for n, line in enumerate(wrong) if n % (len(wrong) // 20 + 1) == 0]}"
    )


@pytest.mark.parametrize("part", thinned(range(2), 2))
def test_every_function_on_all_kinds_of_terms(interpreted: Any, part: int) -> None:
    check(interpreted, rows(Random(7), 400), simple()[part::2])


def test_conditions(interpreted: Any) -> None:
    """A condition is true where the reference says so; where it is an error there, it is false."""
    from pyspark.sql import functions as F

    from transom.spark.rdf.expressions import holds

    constants = [term_literal(term) for term in every_term() if not isinstance(term, BlankNode)][::7]
    asked = [term_call("=", A, constant) for constant in constants] + [term_call("=", constants[0], B)]
    asked += [term_call("IN", A, *constants[:5]), term_call("IN", A), term_call("=", A, B)]
    asked += [term_call("||", *map(_truth, asked[:2])), term_call("&&", *map(_truth, asked[-2:]))]
    asked += [term_call("!=", A, constants[0]), term_call("!", _truth(term_call("=", A, constants[1])))]
    given = rows(Random(13), 300)
    spelled = [(n, *(None if term is None else encode_term(term) for term in row)) for n, row in enumerate(given)]
    frame = interpreted.createDataFrame(spelled, "n int, a string, b string").coalesce(1)
    columns = [holds(_truth(one), {"a": F.col("a"), "b": F.col("b")}).alias(f"c{n}") for n, one in enumerate(asked)]
    wrong, seen = [], set()
    for n, *found in frame.select("n", *columns).collect():
        for one, own in zip(asked, found, strict=True):
            wanted = reference(_truth(one), scope(given[n]))
            seen.add(wanted)
            if own is not (wanted is True):
                wrong.append((str(one), [str(term) for term in given[n]], own, wanted))
    assert not wrong, (len(wrong), wrong[:10])
    assert seen == {True, False, None}


def _truth(condition: Expression) -> Expression:
    return as_type(condition, Type.BOOLEAN)


def test_instants_are_equal_across_a_cycle_of_the_calendar(interpreted: Any) -> None:
    """The two spellings of an instant lie in different cycles of 400 years, which Spark's dates are taken from."""
    pairs = [
        ("1999-12-31T24:00:00Z", "2000-01-01T00:00:00Z"),
        ("1999-12-31T23:00:00-05:00", "2000-01-01T04:00:00Z"),
        ("2400-01-01T01:00:00+02:00", "2399-12-31T23:00:00Z"),
        ("-0001-12-31T23:30:00-00:30", "0000-01-01T00:00:00Z"),
    ]
    texts = [tuple(f'"{text}"^^<http://www.w3.org/2001/XMLSchema#dateTime>' for text in pair) for pair in pairs]
    given: list[Row] = [(decode_term(one), decode_term(other)) for one, other in texts]
    equal, less = term_call("=", A, B), term_call("<", A, B)
    assert [reference(_truth(equal), scope(row)) for row in given] == [True] * len(given)
    check(interpreted, given, [equal, less])


@pytest.mark.nightly
def test_calls_in_calls(interpreted: Any) -> None:
    random = Random(11)
    check(interpreted, rows(random, 450), [nested(random, random.choice((2, 3))) for _ in range(30)], portion=15)


def test_compiled(spark: Any) -> None:
    """The same, as Spark compiles it."""
    names = ("=", "<", "+", "STRBEFORE")
    check(spark, rows(Random(3), 450), [term_call(name, A, B) for name in names], portion=2)
    twice = term_call("LCASE", term_call("UCASE", A))  # Spark's optimizer takes lower(upper(x)) for lower(x)
    check(spark, [(Literal("straße"), None)], [twice])


def test_order(interpreted: Any) -> None:
    from pyspark.sql import functions as F

    from transom.spark.rdf.expressions import order_key

    terms: list[Term | None] = [*every_term(), None]
    Random(5).shuffle(terms)
    frame = interpreted.createDataFrame(
        [(n, None if t is None else encode_term(t)) for n, t in enumerate(terms)], "n int, a string"
    )
    keys = order_key(A, {"a": F.col("a")})
    found = [terms[n] for (n,) in frame.coalesce(1).orderBy(*(k.asc_nulls_first() for k in keys)).select("n").collect()]
    assert [sort_key(term) for term in found] == sorted(sort_key(term) for term in terms)


def test_an_unbound_variable_and_a_truth_value(spark: Any) -> None:
    from pyspark.sql import functions as F

    from transom.spark.rdf.expressions import lower_to_column

    mark = Column(Attribute("mark", Type.BOOLEAN))
    asked = [term_call("BOUND", variable("z")), term_call("!", mark), as_type(variable("z"), Type.BOOLEAN)]
    frame = spark.range(1).select(*(lower_to_column(one, {"mark": F.lit(False)}) for one in asked))
    assert tuple(frame.first()) == (False, True, None)
    with pytest.raises(PlanError):
        lower_to_column(Exists(Values((), ())), {})


def test_what_is_refused_is_named(spark: Any) -> None:
    from transom.spark.expressions.function_gaps import function_refusal
    from transom.spark.rdf.expressions import lower_to_column

    refused = {"RAND", "UUID", "STRUUID", "NOW"}
    for name, function in TERM_FUNCTIONS.items():
        call = term_call(name, *tuple(A if name == "BOUND" else text("a") for _ in function.signatures[0].arguments))
        found = function_refusal(call)
        assert (found is not None) == (name in refused), name
        assert found is None or found.operator == name
        if found is None and name != "BOUND":
            lower_to_column(call, {})
    for call, gap in (
        (term_call("REGEX", A, B), gaps.VARIABLE_PATTERN),
        (term_call("REGEX", A, text("[\\W]")), gaps.UNTRANSLATABLE_PATTERN),
        (term_call("IRI", A, term_literal(IRI("http://e.org/"))), gaps.RELATIVE_IRI),
    ):
        found = function_refusal(call)
        assert found is not None
        assert found.construct == gap.construct
    with pytest.raises(Unsupported):
        lower_to_column(term_call("RAND"), {})


def test_texts_too_long_for_a_pattern(spark: Any) -> None:
    from transom.reference.rdf import regex
    from transom.spark.expressions.function_gaps import function_refusal
    from transom.spark.rdf.expressions import lower_to_column

    for long in (666, 667, 668):
        given = text("foobar" * 111 + "!" * (long - 666))
        for call, expected in (
            (term_call("REGEX", given, text("foo.*bar.*baz")), regex.regex),
            (term_call("REPLACE", given, text("foo.*bar.*r"), text("")), regex.replace),
        ):
            (found,) = spark.range(1).select(lower_to_column(call, {})).first()
            wanted = expected(*(argument.value for argument in call.arguments))  # type: ignore[union-attr]
            assert (decode_term(found) if isinstance(found, str) else found) == wanted, (long, str(call.function))
            assert (wanted is None) == (long > 667)
    slow = function_refusal(term_call("REGEX", A, text("^(a+)+$")))
    assert slow is not None
    assert "may take too long" in slow.why


def test_spelling_and_back() -> None:
    for term in every_term():
        assert decode_term(encode_term(term)) == term
    assert decode_term('"\\U0001F600\\u0041"@EN') == Literal("😀A", language="en")
