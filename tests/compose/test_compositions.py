"""Each composition against both queries by themselves: what the inner one answers is handed to the outer one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.compose.cases import CASES, INPUTS, SPARQL, UNTIL, Composition
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.terms import IRI, Literal, Triple
from transom.query import Query


def reads(query: Query[Any], **more: Any) -> dict[str, Any]:
    """What a query by itself is asked over."""
    given = {**INPUTS, **more}
    return {extent.name: given[extent.name] for extent in query.sources}


def begun(answer: RdfAnswer) -> list[tuple[int, Any]]:
    """What begins at each tick, by comparing it with the tick before."""
    found: list[tuple[int, Any]] = []
    before: Counter[Any] = Counter()
    for tick in range(UNTIL + 1):
        parts = answer.triples if answer.kind == "triples" else answer.solutions
        now = Counter({one.payload: one.n for one in parts if one.at(tick)})  # type: ignore[attr-defined]
        for payload in sorted((now - before).elements(), key=str):
            found.append((tick, payload))
        before = now
    return found


def rows_of(inner: Query[Any]) -> list[tuple[Any, ...]]:
    """The answer of an inner query as rows of an id and a number."""
    if inner.language != SPARQL:
        return [(e.tick, e.row[0], float(e.row[1])) for e in inner.simulate(reads(inner), until=UNTIL).elements]
    answer = inner.simulate(reads(inner))
    found = []
    for tick, solution in begun(answer):
        name, number = answer.terms(solution)
        assert isinstance(name, Literal)
        assert isinstance(number, Literal)
        found.append((tick, name.lexical, float(number.lexical)))
    return found


def statements_of(inner: Query[Any]) -> list[tuple[int, Triple]]:
    """The answer of an inner query as statements."""
    if inner.result_kind == "triples":
        return begun(inner.simulate(reads(inner)))
    found = []
    for tick, name, number in rows_of(inner):
        mantissa, power = f"{number:E}".split("E")
        spelled = f"{mantissa.rstrip('0').rstrip('.')}"
        value = Literal(f"{spelled if '.' in spelled else spelled + '.0'}E{int(power)}", XSD_DOUBLE)
        found.append((tick, Triple(IRI(f"http://ex/{name}"), IRI("http://ex/n"), value)))
    return found


XSD_DOUBLE = "http://www.w3.org/2001/XMLSchema#double"


def comparable(answer: Any) -> Any:
    """An answer without what has no meaning: the order of rows of one tick in a stream of a relation."""
    return answer if isinstance(answer, RdfAnswer) else Counter((e.tick, e.row) for e in answer.elements)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_inner_answer_handed_over_gives_the_same(case: Composition, tmp_path: Path) -> None:
    query = case.query(tmp_path)
    inner, outer = case.apart()
    found = query.simulate(INPUTS, until=UNTIL)
    if case.outer == SPARQL:
        expected: Any = outer.simulate(reads(outer, made=statements_of(inner)))
    else:
        expected = outer.simulate(reads(outer, inner=rows_of(inner)), until=UNTIL)  # type: ignore[call-arg]
    assert comparable(found) == comparable(expected)
    assert len(found)
