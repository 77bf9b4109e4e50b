"""A basic graph pattern never has more solutions than its bound, and in the worst case as many."""

from __future__ import annotations

import random

import pytest

import transom
from transom import Catalog
from transom.algebra.rdf.patterns import BasicGraphPattern
from transom.algebra.state.bounds import window_size
from transom.algebra.state.formula import evaluate_rows, formula_text
from transom.algebra.tree import walk
from transom.catalog_bounds import _declared_sizes
from transom.model.rdf.terms import Literal

Statement = tuple[str, str, str]


def count_and_bound(pattern: str, statements: list[Statement]) -> tuple[int, int]:
    """Return how many solutions a pattern has in statements of one tick, and the bound for so many statements."""
    entry = {"stream": "http://ex/s", "rate": f"{len(statements)} per 1 ms"}
    catalog = Catalog.from_dict({"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": {"s": entry}})
    text = f"SELECT (COUNT(*) AS ?count) FROM STREAM :s WINDOW RANGE 1 SLIDE 1 {{ {pattern} }}"
    query = transom.compile(text, catalog, language="sparql")
    whole = next(op for op in walk(query.optimized) if isinstance(op, BasicGraphPattern))
    bound = evaluate_rows(window_size(whole), _declared_sizes(catalog))
    assert bound is not None
    answer = query.simulate({"s": [(0, *statement) for statement in statements]})
    counts = [valid.payload.get("count") for valid in answer.solutions]
    return max(int(count.lexical) for count in counts if isinstance(count, Literal)), bound


@pytest.mark.parametrize(
    ("pattern", "predicates", "expected"),
    [
        ("?x :a ?u ; :b ?v", "aaabbb", 9),
        ("?x :a ?u ; :a ?v", "aaaaaa", 36),
        ("?x :a ?u ; :a ?v ; :b ?w", "aaaabb", 32),
        ("?x :a ?u ; :b ?v . ?y ?p ?w", "aaabbb", 54),
        ("?x ?p ?u ; ?q ?v", "aaabbb", 36),
    ],
)
def test_the_worst_case_reaches_the_bound(pattern: str, predicates: str, expected: int) -> None:
    statements = [(":s", f":{predicate}", str(index)) for index, predicate in enumerate(predicates)]
    assert count_and_bound(pattern, statements) == (expected, expected)


def test_random_statements_stay_within_the_bound() -> None:
    choose, reached = random.Random(7), 0
    for _ in range(150):
        ends = [":s", ":t", "?x", "?y", "?z"]
        pattern = " . ".join(
            f"{choose.choice(ends)} {choose.choice([':a', ':b', ':c', '?p'])} {choose.choice(ends)}"
            for _ in range(choose.randint(1, 4))
        )
        terms, predicates = [":s", ":t"], [":a", ":b", ":c"]
        statements = [
            (choose.choice(terms), choose.choice(predicates), choose.choice(terms)) for _ in range(choose.randint(1, 8))
        ]
        count, bound = count_and_bound(pattern, statements)
        assert count <= bound, (pattern, statements)
        reached += count * 4 >= bound
    assert reached >= 10


def test_the_formula_of_many_patterns_is_short() -> None:
    entries = {
        "s": {"stream": "http://ex/s", "rate": "60 per min"},
        "g": {"graph": "http://ex/g", "rows": 60},
    }
    catalog = Catalog.from_dict({"tick": "1 s", "prefixes": {"": "http://ex/"}, "rdf": entries})
    pattern = "{ ?x a :R ; :a ?a ; :b ?b ; :c ?c ; :d ?d . ?b :e ?e ; :f ?f ; :g ?g ; :h ?h }"
    text = f"SELECT DISTINCT ?x FROM STREAM :s WINDOW RANGE 1 MINUTE SLIDE FROM :g {pattern}"
    query = transom.compile(text, catalog, language="sparql")
    product = f"{formula_text(window_size(next(walk_patterns(query))), catalog.calendar)}"
    assert product == "ceil((rate(s) * 60 s + rows(g)) / 9)^9"
    assert query.state.rows == 14**9 + 9 * 120


def walk_patterns(query: transom.Query):
    """Yield the basic graph patterns of a query."""
    return (op for op in walk(query.optimized) if isinstance(op, BasicGraphPattern))
