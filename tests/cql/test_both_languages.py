"""One question in both languages: one plan and one answer; by rows one answer, while a tick has one row at most."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

import transom
from transom.algebra.relations import RelationJoin
from transom.algebra.tree import walk

CATALOG = transom.Catalog.read("""
a: pushed (id:integer, v:integer, w:float)
b: pushed (id:integer, v:integer)
""")
PAIRS = 500
CONDITIONS = ("", " WHERE v > 1", " WHERE v > 1 AND id <> 2", " WHERE w IS NULL OR id = 1", " WHERE NOT (id IN (1, 2))")
LISTS = (
    ("id, v", ""),
    ("v + 1 AS next, id", ""),
    ("COUNT(*)", ""),
    ("COUNT(*), MAX(v), AVG(w)", ""),
    ("id, COUNT(*) AS n, SUM(v)", " GROUP BY id"),
    ("id, MIN(w)", " GROUP BY id HAVING COUNT(*) > 1"),
)
UNITS = (("SEC", "seconds"), ("MIN", "minutes"))


@dataclass(frozen=True)
class Pair:
    """A question as SNEEql and as CQL write it."""

    sneeql: str
    cql: str
    rows: list[tuple[int, ...]]
    until: int


def pair(rng: random.Random, *, by_rows: bool) -> Pair:
    """A random question in both languages."""
    chosen, groups = rng.choice(LISTS)
    condition = rng.choice(CONDITIONS)
    reach, slide = rng.randint(0 if not by_rows else 1, 9), rng.randint(1, 4)
    unit, units = rng.choice(UNITS)
    window = f"[FROM NOW-{reach} TO NOW SLIDE {slide} {unit}]"
    other = f"[RANGE '{reach} {units}', SLIDE '{slide} {units}']"
    if by_rows:
        window, other = f"[FROM NOW-{reach - 1} TO NOW SLIDE {slide} ROWS]", f"[ROWS {reach} SLIDE {slide}]"
    elif slide == 1 and unit == "SEC" and rng.random() < 0.5:
        other = f"[RANGE '{reach} seconds']" if reach else "[NOW]"
    converter = rng.choice(("RStream", "IStream", "DStream"))
    scale = 60 if unit == "MIN" and not by_rows else 1
    until = rng.randint(3, 20) * scale
    ticks = sorted(rng.sample(range(until + 1), rng.randint(0, min(until, 14))))
    if not by_rows:
        ticks = sorted(ticks + rng.choices(ticks, k=3)) if ticks else []
    rows = [(t, rng.randint(0, 3), rng.choice((0, 1, 2, 3, None)), rng.choice((None, 0.5, 2.0))) for t in ticks]
    return Pair(
        f"{converter.upper()}(SELECT {chosen} FROM a {window}{condition}{groups})",
        f"SELECT {converter}({chosen}) FROM a {other}{condition}{groups}",
        rows,  # type: ignore[arg-type]
        until,
    )


@pytest.mark.parametrize("count", [PAIRS // 8, pytest.param(PAIRS, marks=pytest.mark.deep)])
def test_a_range_of_time_is_one_plan_and_one_answer(count: int) -> None:
    answered = 0
    for seed in range(count):
        question = pair(random.Random(seed), by_rows=False)
        one = transom.compile(question.sneeql, CATALOG, language="sneeql")
        other = transom.compile(question.cql, CATALOG, language="cql")
        assert one.optimized == other.optimized, question
        assert one.algebra == other.algebra, question
        first, second = (q.simulate({"a": question.rows}, until=question.until) for q in (one, other))
        assert first.elements == second.elements, question
        answered += len(first.elements)
    assert answered > count


def test_rows_are_one_answer_with_one_row_per_tick() -> None:
    answered = 0
    for seed in range(120):
        question = pair(random.Random(seed), by_rows=True)
        answers = [
            transom.compile(text, CATALOG, language=language).simulate({"a": question.rows}, until=question.until)
            for text, language in ((question.sneeql, "sneeql"), (question.cql, "cql"))
        ]
        assert answers[0].elements == answers[1].elements, question
        answered += len(answers[0].elements)
    assert answered > 200


def test_joins_are_one_question_where_both_sides_start_together() -> None:
    window, other = "[FROM NOW-2 TO NOW SLIDE 1 SEC]", "[RANGE '2 seconds']"
    for chosen in ("a.v", "COUNT(*)"):
        join = f"SELECT {chosen} FROM a {{0}}, b {{0}} WHERE a.id = b.id"
        one = transom.compile(join.format(window), CATALOG, language="sneeql")
        same = transom.compile(join.format(other), CATALOG, language="cql")
        assert one.optimized == same.optimized
    rows = transom.compile(f"SELECT a.v FROM a {other}, b [ROWS 1] WHERE a.id = b.id", CATALOG, language="cql")
    assert any(isinstance(op, RelationJoin) for op in walk(rows.optimized))
