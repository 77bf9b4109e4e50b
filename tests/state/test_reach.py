"""The reach of a plan: rows older than T minus the reach never change an answer from T on."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

import transom
from tests.calendar_windows.golden import GoldenCase
from tests.calendar_windows.golden import golden_cases as calendar_cases
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from tests.oracle.generate import generate
from tests.oracle_cql import build
from tests.oracle_cql.question import question
from tests.reference.forgetting import CARS, QUESTIONS, given
from tests.sparql.test_golden import catalog_of as rdf_catalog_of
from transom import Catalog
from transom.algebra.operator import Operator
from transom.algebra.sources import StoredTable
from transom.algebra.state.reach import HistoryReach, reach
from transom.algebra.tree import is_stream, walk
from transom.errors import QueryWarning
from transom.model.bag import row_key
from transom.reference.evaluate import evaluate_stream, evaluate_window
from transom.reference.sources import Inputs

CASES = [case for lang in ("sneeql", "cql") for case in golden_cases(lang) if case.expected["kind"] != "error"]
RDF_CASES = [case for case in golden_cases("streaming-sparql") if case.expected["kind"] != "error"]
IN_CI = {"sneeql": 160, "cql": 400, "forgetful": 48}
DEEP = 4000


def answers_from(plan: Operator, inputs: Inputs, since: int) -> list[Any]:
    """The answers of a run that are not before a tick: bags of rows, without row numbers, and windows."""
    if is_stream(plan):
        rows = [(e.tick, row_key(e.row)) for e in evaluate_stream(plan, inputs) if e.tick >= since]  # type: ignore[arg-type]
        return sorted(rows)
    windows = [w for w in evaluate_window(plan, inputs) if w.tick >= since and not w.is_final]  # type: ignore[arg-type]
    return [(w.tick, sorted(map(row_key, w.rows))) for w in windows]


def tables_of(plan: Operator) -> list[str]:
    return [op.extent for op in walk(plan) if isinstance(op, StoredTable)]


def check(plan: Operator, inputs: Inputs, seed: Any, text: Any) -> Counter[str]:
    """Compare a whole run with runs that start the reach before several ticks; return what was met."""
    found = reach(plan, tables_of(plan))
    if found.ticks is None:
        return Counter({"refused": 1, f"refused: {found.why}": 1})
    ticks = range(inputs.start, inputs.until + 1)
    moments = list(ticks) if len(ticks) <= 8 else sorted(random.Random(seed).sample(ticks, 8))
    met = Counter({"bounded": 1})
    for since in moments:
        whole = answers_from(plan, inputs, since)
        start = max(inputs.start, since - found.ticks)
        assert answers_from(plan, replace(inputs, start=start), since) == whole, (
            f"{seed}: since {since}, {found}\n{text}"
        )
        if start > inputs.start:
            met["cut"] += bool(whole)
            met["tight"] += found.ticks > 0 and answers_from(plan, replace(inputs, start=start + 1), since) != whole
    return met


def met_by(cases: Sequence[int], case_of: Callable[[int], tuple[Operator, Inputs, Any]]) -> Counter[str]:
    return sum((check(*case_of(seed)[:2], seed, case_of(seed)[2]) for seed in cases), Counter())


@pytest.mark.filterwarnings("ignore::transom.errors.QueryWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case: Case) -> None:
    query = transom.compile(case.text, catalog_of(case.schema), language=case.language)
    inputs = query.inputs(inputs_of(case.schema, case.inputs), case.until)
    for plan in (query.algebra, query.optimized):
        check(plan, inputs, case.name, case.text)


@pytest.mark.filterwarnings("ignore::transom.errors.QueryWarning")
@pytest.mark.parametrize("case", calendar_cases(), ids=lambda case: case.name)
def test_golden_calendar(case: GoldenCase) -> None:
    query = case.compile()
    met = check(query.optimized, query.inputs(inputs_of(case.schema, case.inputs), case.until), case.name, case.text)
    assert met["bounded"], met


@pytest.mark.filterwarnings("ignore::transom.errors.QueryWarning")
@pytest.mark.parametrize("case", RDF_CASES, ids=lambda case: case.name)
def test_golden_rdf(case: Case) -> None:
    query = transom.compile(case.text, rdf_catalog_of(case), language="sparql")
    found = reach(query.optimized)
    if found.ticks is None:
        return
    last = max((row[0] for rows in case.inputs.values() for row in rows if isinstance(row[0], int)), default=0)
    whole = query.simulate(case.inputs)
    for since in random.Random(case.name).sample(range(last + 2), min(8, last + 2)):
        cut = query.simulate(case.inputs, start=max(0, since - found.ticks))
        assert cut.since(since) == whole.since(since), (since, found)


def test_the_golden_cases_are_not_all_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        plans = [transom.compile(c.text, catalog_of(c.schema), language=c.language).optimized for c in CASES]
        rdf = [transom.compile(c.text, rdf_catalog_of(c), language="sparql").optimized for c in RDF_CASES]
    assert sum(reach(plan).ticks is not None for plan in plans) >= 30
    assert sum(reach(plan).ticks is not None for plan in rdf) >= 30


def sneeql(seed: int) -> tuple[Operator, Inputs, str]:
    """A generated SNEEql query with its rows."""
    asked = generate(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        query = transom.compile(asked.text, catalog_of(asked.schema))
        return query.optimized, query.inputs(inputs_of(asked.schema, asked.inputs), asked.until), asked.text


def cql(seed: int) -> tuple[Operator, Inputs, Any]:
    """A generated CQL query, as a plan, with its rows."""
    asked = question(seed)
    return build.plan(asked), build.given(asked), asked


FORGETFUL = {
    **QUESTIONS,
    "last": "SELECT RStream(id, SUM(v)) FROM cars [PARTITION BY id ROWS 3] GROUP BY id",
    "by time": "SELECT RStream(COUNT(*)) FROM cars [PARTITION BY id RANGE '2 seconds' SLIDE '3 seconds']",
    "both": "SELECT RStream(a.id, b.v) FROM cars AS a [PARTITION BY id ROWS 2], cars AS b [RANGE '1 second'] "
    "WHERE a.id = b.id",
}


FORGETTING = Catalog.from_dict({"extents": {"cars": {k: v for k, v in CARS.items() if k != "max_speed"}}})


def forgetful(seed: int) -> tuple[Operator, Inputs, str]:
    """A query over objects that fall silent, are forgotten and come back."""
    name = sorted(FORGETFUL)[seed % len(FORGETFUL)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        query = transom.compile(FORGETFUL[name], FORGETTING, language="cql")
        return query.optimized, query.inputs({"cars": given(seed)}, 24), name


GENERATED = {"sneeql": sneeql, "cql": cql, "forgetful": forgetful}


@pytest.mark.parametrize("kind", GENERATED)
def test_generated(kind: str) -> None:
    met = met_by(range(IN_CI[kind]), GENERATED[kind])
    assert met["bounded"] >= IN_CI[kind] // 8, met
    assert met["cut"] > 50, met
    assert met["tight"] >= (1 if kind == "forgetful" else 5), met


@pytest.mark.deep
@pytest.mark.parametrize("kind", GENERATED)
def test_generated_deep(kind: str) -> None:
    assert met_by(range(IN_CI[kind], DEEP), GENERATED[kind])["bounded"] >= DEEP // 8


CATALOG = {
    "extents": {
        "a": {"kind": "pushed", "attributes": ["id:string", "x:integer"]},
        "names": {"kind": "stored", "attributes": ["id:string", "name:string"]},
    }
}

ONCE = "RSTREAM(SELECT a.x FROM a [FROM NOW TO NOW SLIDE 1 SEC], names WHERE a.id = names.id)"

REACHES = {
    # the rows of a window, and those of the window before it where changes are asked for
    ("sneeql", "SELECT x FROM a WHERE x > 3"): 0,
    ("sneeql", "RSTREAM(SELECT AVG(x) FROM a [FROM NOW-9 TO NOW SLIDE 1 SEC])"): 9,
    ("sneeql", "ISTREAM(SELECT AVG(x) FROM a [FROM NOW-9 TO NOW SLIDE 5 SEC])"): 14,
    ("sneeql", "RSTREAM(SELECT x FROM a [FROM NOW-9 TO NOW-4 SLIDE 5 SEC])"): 9,
    # a join keeps the last window of the side that slides less often
    ("sneeql", "RSTREAM(SELECT l.x FROM a [FROM NOW-4 TO NOW SLIDE 2 SEC] AS l, "
     "a [FROM NOW-2 TO NOW SLIDE 3 SEC] AS r)"): 5,
    ("sneeql", "RSTREAM(SELECT a.x FROM a [FROM NOW TO NOW SLIDE 1 SEC], names [SCAN 1 MIN])"): 60,
    # windows over the rows of windows add up
    ("sneeql", "RSTREAM(SELECT MAX(m) FROM (RSTREAM(SELECT MAX(x) AS m FROM a [FROM NOW-9 TO NOW SLIDE 1 SEC])) "
     "[FROM NOW-4 TO NOW SLIDE 1 SEC])"): 13,
    # a key that is silent has no group
    ("cql", "SELECT RStream(COUNT(*)) FROM a [PARTITION BY id RANGE '5 seconds']"): 5,
    ("cql", "SELECT RStream(id, COUNT(*)) FROM a [RANGE '10 seconds' SLIDE '5 seconds'] GROUP BY id"): 10,
}  # fmt: skip

REFUSED = {
    ("sneeql", "SELECT COUNT(x) FROM a [FROM NOW-4 TO NOW SLIDE 5 ROWS]"): "counting all rows",
    ("sneeql", "SELECT a.index, x FROM a"): "the index of a row counts all rows",
    ("sneeql", ONCE): "names is scanned once",
    ("cql", "SELECT RStream(x) FROM a [ROWS 3]"): "the last rows may be of any age",
    ("cql", "SELECT RStream(l.x) FROM a AS l [PARTITION BY id RANGE '5 seconds'], "
     "a AS r [PARTITION BY id RANGE '5 seconds' SLIDE '2 seconds'] WHERE l.id = r.id"): "has become silent",
    ("cql", "SELECT RStream(SUM(x)) FROM a [UNBOUNDED]"): "every row stays",
}  # fmt: skip


def compiled(asked: tuple[str, str]) -> Operator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        return transom.compile(asked[1], CATALOG, language=asked[0]).optimized


@pytest.mark.parametrize("asked", REACHES)
def test_reach_by_hand(asked: tuple[str, str]) -> None:
    assert reach(compiled(asked), ["names"]) == HistoryReach(REACHES[asked])


@pytest.mark.parametrize(("zone", "ticks"), [("UTC", 24), ("Europe/Berlin", 25)])
def test_reach_of_a_calendar_day_is_that_of_the_longest_day(zone: str, ticks: int) -> None:
    catalog = {"tick": "1 h", "epoch": "2026-01-01T00:00:00Z", "extents": {"a": "pushed (x:integer)"}}
    text = f"SELECT RStream(SUM(x)) FROM a [RANGE '1 day', SLIDE '1 day' AT '{zone}']"
    assert reach(transom.compile(text, catalog, language="cql").optimized) == HistoryReach(ticks)


@pytest.mark.parametrize("asked", REFUSED)
def test_refused_by_name(asked: tuple[str, str]) -> None:
    found = reach(compiled(asked), ["names"])
    assert found.ticks is None
    assert REFUSED[asked] in found.why
    assert found.operator


def test_a_table_that_never_changes_may_be_scanned_once() -> None:
    assert reach(compiled(("sneeql", ONCE))) == HistoryReach(1)
