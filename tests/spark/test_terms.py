"""Expressions over RDF terms on Spark have the values that the reference engine gives, on drawn terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from tests.spark.drawn_terms import A, B, every_term, nested, rows, simple, text
from transom.algebra.expressions import Column, Exists, Expression
from transom.algebra.sources import Values
from transom.algebra.term_functions import TERM_FUNCTIONS
from transom.algebra.terms import as_type, term_call, term_literal, variable
from transom.errors import PlanError, Unsupported
from transom.model.rdf.compare import sort_key
from transom.model.rdf.compare import truth as truth_of
from transom.model.rdf.spelling import decode, encode
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term
from transom.model.schema import Attribute
from transom.model.types import Type
from transom.physical import gaps
from transom.reference.expressions import value as reference
from transom.reference.rdf.expressions import SolutionScope

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""For many expressions on few rows: compiling them would cost more than running them."""

Row = tuple[Term | None, Term | None]


@pytest.fixture
def interpreted(spark: Any) -> Iterator[Any]:
    from transom.spark.session import PASSES, allow_depth

    before = {name: spark.conf.get(name) for name in (*INTERPRETED, PASSES)}
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)
    allow_depth(spark)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def scope(row: Row) -> SolutionScope:
    return SolutionScope(dict(zip("ab", row, strict=True)))


def check(spark: Any, given: Sequence[Row], expressions: Sequence[Expression], portion: int = 25) -> None:
    """Compare the values of expressions on all rows, so many of them in one select."""
    from pyspark.sql import functions as F

    from transom.spark.terms import value

    spelled = [(n, *(None if term is None else encode(term) for term in row)) for n, row in enumerate(given)]
    frame = spark.createDataFrame(spelled, "n int, a string, b string").coalesce(1)
    columns = {"a": F.col("a"), "b": F.col("b")}
    wrong = []
    for start in range(0, len(expressions), portion):
        asked = expressions[start : start + portion]
        chosen = [value(as_type(e, Type.TERM), columns) for e in asked]
        chosen += [value(as_type(e, Type.BOOLEAN), columns) for e in asked[::5]]
        for n, *found in frame.select("n", *(c.alias(f"c{place}") for place, c in enumerate(chosen))).collect():
            terms = [reference(as_type(expression, Type.TERM), scope(given[n])) for expression in asked]
            expected = [encode(term) if isinstance(term, Term) else None for term in terms]
            expected += [truth_of(term) if isinstance(term, Term) else None for term in terms[::5]]
            for expression, own, wanted in zip((*asked, *asked[::5]), found, expected, strict=True):
                if own != wanted:
                    wrong.append((str(expression), [str(term) for term in given[n]], own, wanted))
    assert not wrong, (
        f"{len(wrong)} differ: {[line for n, line in enumerate(wrong) if n % (len(wrong) // 20 + 1) == 0]}"
    )


def test_every_function_on_all_kinds_of_terms(interpreted: Any) -> None:
    check(interpreted, rows(Random(7), 400), simple())


def test_conditions(interpreted: Any) -> None:
    """A condition is true where the reference says so; where it is an error there, it is false."""
    from pyspark.sql import functions as F

    from transom.spark.terms import holds

    constants = [term_literal(term) for term in every_term() if not isinstance(term, BlankNode)][::7]
    asked = [term_call("=", A, constant) for constant in constants] + [term_call("=", constants[0], B)]
    asked += [term_call("IN", A, *constants[:5]), term_call("IN", A), term_call("=", A, B)]
    asked += [term_call("||", *map(_truth, asked[:2])), term_call("&&", *map(_truth, asked[-2:]))]
    asked += [term_call("!=", A, constants[0]), term_call("!", _truth(term_call("=", A, constants[1])))]
    given = rows(Random(13), 300)
    spelled = [(n, *(None if term is None else encode(term) for term in row)) for n, row in enumerate(given)]
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

    from transom.spark.terms import order_key

    terms: list[Term | None] = [*every_term(), None]
    Random(5).shuffle(terms)
    frame = interpreted.createDataFrame(
        [(n, None if t is None else encode(t)) for n, t in enumerate(terms)], "n int, a string"
    )
    keys = order_key(A, {"a": F.col("a")})
    found = [terms[n] for (n,) in frame.coalesce(1).orderBy(*(k.asc_nulls_first() for k in keys)).select("n").collect()]
    assert [sort_key(term) for term in found] == sorted(sort_key(term) for term in terms)


def test_an_unbound_variable_and_a_truth_value(spark: Any) -> None:
    from pyspark.sql import functions as F

    from transom.spark.terms import value

    mark = Column(Attribute("mark", Type.BOOLEAN))
    asked = [term_call("BOUND", variable("z")), term_call("!", mark), as_type(variable("z"), Type.BOOLEAN)]
    frame = spark.range(1).select(*(value(one, {"mark": F.lit(False)}) for one in asked))
    assert tuple(frame.first()) == (False, True, None)
    with pytest.raises(PlanError):
        value(Exists(Values((), ())), {})


def test_what_is_refused_is_named(spark: Any) -> None:
    from transom.spark.function_gaps import refusal
    from transom.spark.terms import value

    refused = {"RAND", "UUID", "STRUUID", "NOW"}
    for name, function in TERM_FUNCTIONS.items():
        call = term_call(name, *tuple(A if name == "BOUND" else text("a") for _ in function.signatures[0].arguments))
        found = refusal(call)
        assert (found is not None) == (name in refused), name
        assert found is None or found.operator == name
        if found is None and name != "BOUND":
            value(call, {})
    for call, gap in (
        (term_call("REGEX", A, B), gaps.VARIABLE_PATTERN),
        (term_call("REGEX", A, text("[\\W]")), gaps.FOREIGN_PATTERN),
        (term_call("IRI", A, term_literal(IRI("http://e.org/"))), gaps.BASED_IRI),
    ):
        found = refusal(call)
        assert found is not None
        assert found.construct == gap.construct
    with pytest.raises(Unsupported):
        value(term_call("RAND"), {})


def test_texts_too_long_for_a_pattern(spark: Any) -> None:
    from transom.reference.rdf import regular
    from transom.spark.function_gaps import refusal
    from transom.spark.terms import value

    for long in (666, 667, 668):
        given = text("foobar" * 111 + "!" * (long - 666))
        for call, expected in (
            (term_call("REGEX", given, text("foo.*bar.*baz")), regular.regex),
            (term_call("REPLACE", given, text("foo.*bar.*r"), text("")), regular.replace),
        ):
            (found,) = spark.range(1).select(value(call, {})).first()
            wanted = expected(*(argument.value for argument in call.arguments))  # type: ignore[union-attr]
            assert (decode(found) if isinstance(found, str) else found) == wanted, (long, str(call.function))
            assert (wanted is None) == (long > 667)
    slow = refusal(term_call("REGEX", A, text("^(a+)+$")))
    assert slow is not None
    assert "may take too long" in slow.why


def test_spelling_and_back() -> None:
    for term in every_term():
        assert decode(encode(term)) == term
    assert decode('"\\U0001F600\\u0041"@EN') == Literal("😀A", language="en")
