"""Pairs of the hold-out judges on Spark, as replays over recorded rows; what is expected does not come from Transom."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

import pytest

import transom
from tests.holdout import sneeql_questions
from tests.holdout.cql import questions as cql_questions
from tests.holdout.sparql import questions as sparql_questions
from tests.holdout.sparql.meaning import canonical, term
from tests.holdout.sql import Row, same_bag, same_list

pytestmark = [pytest.mark.spark, pytest.mark.nightly]

TYPES = {"integer": "bigint", "float": "double", "string": "string", "boolean": "boolean"}
EACH = 8
SNEEQL, CQL, SPARQL = 12, 13, 9
"""Parts of each language: 96, 104 and 72 pairs, of which Spark takes more than 200."""


def frame(session: Any, columns: list[tuple[str, str]], rows: list[tuple[int, Row]]) -> Any:
    """The rows of a stream; `position` says how they came."""
    declared = ", ".join(f"{name} {TYPES[kind]}" for name, kind in columns)
    flat = [(tick, place, *row) for place, (tick, row) in enumerate(rows)]
    return session.createDataFrame(flat, f"tick bigint, position bigint, {declared}")


def table(session: Any, columns: list[tuple[str, str]], versions: dict[int, list[Row]]) -> Any:
    """The versions of a table, their rows in the order of `position`; an empty one is a row that says so."""
    declared = ", ".join(f"{name} {TYPES[kind]}" for name, kind in columns)
    flat = []
    for tick, rows in versions.items():
        told = [(tick, False, place, *row) for place, row in enumerate(rows)]
        flat += told or [(tick, True, 0, *[None] * len(columns))]
    return session.createDataFrame(flat, f"tick bigint, empty boolean, position bigint, {declared}")


def sources(session: Any, query: Any, extents: Any) -> dict[str, Any]:
    """A DataFrame for every extent that a query reads."""
    found = {}
    for name in (extent.name for extent in query.sources):
        extent = extents[name]
        if extent.versions is None:
            found[name] = frame(session, extent.columns, extent.rows)
        else:
            found[name] = table(session, extent.columns, extent.versions)
    return found


def tick_of(row: Any, catalog: Any) -> int:
    """The number of a tick, which a row carries as the instant of its end."""
    micros = round(row["tick"].timestamp() * 1_000_000)
    return micros // catalog.calendar.length - 1


def place(value: Any) -> Any:
    """A place as its coordinates; Spark gives it as well-known text."""
    found = re.fullmatch(r"POINT \((\S+) (\S+)\)", value) if isinstance(value, str) else None
    return (float(found[1]), float(found[2])) if found else tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("part", range(SNEEQL))
def test_sneeql(session: Any, part: int) -> None:
    answered = 0
    for number in range(part * EACH, (part + 1) * EACH):
        asked = sneeql_questions.question(number)
        catalog = transom.Catalog.from_dict(asked.catalog)
        query = transom.compile(asked.text, catalog, language="sneeql")
        evaluation = asked.evaluation
        is_stream = evaluation.is_stream(asked.query)
        found = query.to_df(
            session,
            sources(session, query, evaluation.extents),
            index=is_stream,
            start=evaluation.start,
            until=evaluation.until,
        ).collect()
        skip = 2 if is_stream else 3
        shown = f"{number} {asked.family}\n{asked.text}\n{asked.catalog}\n{asked.inputs}\n{evaluation}"
        if is_stream:
            rows = sorted((tick_of(row, catalog), row["index"], *row[skip:]) for row in found)
            expected = [(one.tick, one.index, *one.row) for one in evaluation.stream(asked.query)]
            assert same_list(sorted(rows, key=lambda row: row[1]), expected), f"{shown}\n{rows}\n{expected}"
            answered += bool(expected)
            continue
        windows = defaultdict(list)
        for row in found:
            windows[tick_of(row, catalog), row["seq"]] += [] if row["empty"] else [tuple(row[skip:])]
        seen: Counter[int] = Counter()
        wanted = {}
        for window in evaluation.windows(asked.query):
            seen[window.tick] += 1
            wanted[window.tick, seen[window.tick]] = window.rows
        assert windows.keys() == wanted.keys(), shown
        for key, rows_of_window in wanted.items():
            assert same_bag(windows[key], rows_of_window), f"{shown}\n{key} {windows[key]} {rows_of_window}"
        answered += any(wanted.values())
    assert answered * 2 >= EACH


@pytest.mark.parametrize("part", range(CQL))
def test_cql(session: Any, part: int) -> None:
    answered = judged = 0
    for number in range(part * EACH, (part + 1) * EACH):
        asked = cql_questions.question(number)
        catalog = transom.Catalog.from_dict(asked.catalog)
        query = transom.compile(asked.text, catalog, language="cql")
        if "spark" not in query.engines.runs:
            continue
        found = query.to_df(
            session, sources(session, query, asked.extents), start=asked.start, until=asked.until
        ).collect()
        rows: defaultdict[int, list[Row]] = defaultdict(list)
        for row in found:
            values = row[1:] if asked.instants is None else row[3:]
            if asked.instants is None or not row["empty"]:
                rows[tick_of(row, catalog)].append(tuple(map(place, values)))
        expected: defaultdict[int, list[Row]] = defaultdict(list)
        for tick, row in asked.expected:
            expected[tick].append(tuple(map(place, row)))
        shown = f"{number} {asked.family}\n{asked.text}\n{asked.catalog}\n{asked.inputs}\n{asked.until}"
        if asked.instants is not None:
            assert sorted({tick_of(row, catalog) for row in found}) == asked.instants, shown
        for tick in sorted(rows.keys() | expected.keys()):
            assert same_bag(rows[tick], expected[tick], 1e-6), f"{shown}\n{tick} {rows[tick]} {expected[tick]}"
        judged += 1
        answered += bool(asked.expected)
    assert judged >= EACH - 2
    assert answered * 2 >= judged


@pytest.mark.parametrize("part", range(SPARQL))
def test_sparql(session: Any, part: int) -> None:
    answered = judged = 0
    for number in range(part * EACH, (part + 1) * EACH):
        asked = sparql_questions.question(number)
        catalog = transom.Catalog.from_dict(asked.catalog)
        query = transom.compile(asked.text, catalog, language="sparql")
        if "spark" not in query.engines.runs or ("ELEMS" in asked.text and asked.has_ties):
            continue
        given = {}
        for name, rows in asked.inputs.items():
            streams = "stream" in asked.catalog["rdf"][name]
            flat = [(*row[: len(row) - 3], *(str(term(str(one))) for one in row[-3:])) for row in rows]
            declared = "tick bigint, s string, p string, o string" if streams else "s string, p string, o string"
            given[name] = session.createDataFrame(flat, declared)
        shown = f"{number} {asked.family}\n{asked.text}\n{asked.inputs}"
        found = query.replay(session, given).collect()
        judged += 1
        match asked.kind:
            case "boolean":
                steps = sorted((row["start"], row["end"], row["ask"]) for row in found)
                assert [(value, start, end) for start, end, value in steps] == asked.expected, f"{shown}\n{steps}"
                answered += any(one[0] for one in asked.expected)
                continue
            case "sequences":
                lists = defaultdict(list)
                for row in sorted(found, key=lambda row: (row["start"], row["place"])):
                    lists[row["start"], row["end"]].append(tuple(map(spelled, row[3:])))
                steps = [(rows, start, end) for (start, end), rows in lists.items()]
                assert steps == asked.expected, f"{shown}\n{steps}\n{asked.expected}"
            case _:
                valid = {(tuple(map(spelled, row[3:])), row["start"], row["end"], row["n"]) for row in found}
                assert valid == asked.expected, f"{shown}\n{valid - asked.expected}\n{asked.expected - valid}"
                assert len(valid) == len(found), shown
        answered += bool(asked.expected)
    assert judged >= EACH // 2
    assert answered * 2 >= judged


def spelled(value: Any) -> str | None:
    """A term that Spark gives as text, in the judge's form."""
    return None if value is None else canonical(value)
