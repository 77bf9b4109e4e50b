"""Rows as data frames: pandas, polars and pyarrow give what rows as tuples give, and errors name column and row."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy
import pandas
import polars
import pyarrow
import pytest

import transom
from transom.errors import DataError, UsageError

MAY = datetime(2024, 5, 1, tzinfo=UTC)
CATALOG = {
    "epoch": "2024-05-01T00:00:00Z",
    "prefixes": {"": "http://ex/"},
    "rdf": {"triples": {"stream": "http://ex/s"}, "graph": {"graph": "default"}},
    "extents": {
        "a": "pushed (x:integer, s:string)",
        "wide": "pushed (f:float, d:decimal, b:boolean, z:timestamp)",
        "tick_too": "pushed (tick:integer)",
        "t": "stored (y:integer)",
        "timed": {
            "declare": "pushed (x:integer)",
            "source": {"files": {"path": "timed.csv", "time": "at"}},
        },
    },
}
FRAMES: list[Callable[[dict[str, list[Any]]], Any]] = [pandas.DataFrame, polars.DataFrame, pyarrow.table]
STREAM, TABLE = "SELECT x, s FROM a", "SELECT y FROM t [SCAN 30 SEC]"


def simulate(text: str, until: int | None = None, **inputs: Any) -> Any:
    return transom.compile(text, CATALOG).simulate(inputs, until)


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "pyarrow"])
def test_a_frame_gives_what_its_rows_give(frame: Callable[[dict[str, list[Any]]], Any]) -> None:
    data = {"other": [True, False], "s": ["p", None], "x": [1, 2], "tick": [3, 1]}
    rows = [(3, 1, "p"), (1, 2, None)]
    assert simulate(STREAM, a=frame(data)) == simulate(STREAM, a=rows)
    assert simulate(TABLE, 30, t=frame({"y": [7, 8]})) == simulate(TABLE, 30, t=[(7,), (8,)])


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "pyarrow"])
def test_instants_are_converted_to_ticks(frame: Callable[[dict[str, list[Any]]], Any]) -> None:
    """The column is called `tick`, or it is the only other timestamp."""
    times = [datetime(2024, 5, 1, 0, 1), datetime(2024, 5, 1, 0, 2)]
    for name in ("tick", "measured"):
        answer = simulate(STREAM, a=frame({name: times, "x": [1, 2], "s": ["p", "q"]}))
        assert list(answer.records()) == [(60, 1, 1, "p"), (120, 2, 2, "q")]


def test_the_time_column_may_be_declared() -> None:
    rows = pandas.DataFrame({"at": [5], "tick": [9], "x": [1]})
    assert [element.tick for element in simulate("SELECT x FROM timed", timed=rows)] == [5]


LOCAL = {
    "epoch": "2025-10-25T00:00:00Z",
    "extents": {
        "fietsen": {
            "declare": "pushed (x:integer, seen:timestamp)",
            "source": {"files": {"path": "f.csv", "time": "at", "zone": "Europe/Amsterdam"}},
        },
        "ritten": {
            "declare": "pushed (x:integer)",
            "source": {
                "files": {
                    "path": "r.csv",
                    "time": "at",
                    "time_format": "%d-%m-%Y %H:%M",
                    "zone": "Europe/Amsterdam",
                }
            },
        },
        "zonder": {
            "declare": "pushed (x:integer)",
            "source": {"files": {"path": "z.csv", "time": "at", "time_format": "%d-%m-%Y %H:%M"}},
        },
        "prijzen": {
            "declare": "stored (x:integer, begins:timestamp)",
            "source": {"files": {"path": "p.csv", "zone": "Europe/Amsterdam"}},
        },
    },
}
HOUR = 3600


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "pyarrow"])
def test_local_times_are_in_the_zone_of_the_source(frame: Callable[[dict[str, list[Any]]], Any]) -> None:
    """In Amsterdam 08:00 is 06:00 UTC on 25 October, and 07:00 UTC a day later."""
    times = [datetime(2025, 10, 25, 8), datetime(2025, 10, 26, 8)]
    query = transom.compile("SELECT x, seen FROM fietsen", LOCAL)
    for at in (times, [time.isoformat() for time in times]):
        answer = query.simulate({"fietsen": frame({"at": at, "x": [1, 2], "seen": times})})
        assert [(e.tick, *e.row) for e in answer.elements] == [
            (6 * HOUR, 1, datetime(2025, 10, 25, 6, tzinfo=UTC)),
            (31 * HOUR, 2, datetime(2025, 10, 26, 7, tzinfo=UTC)),
        ]
    exact = frame({"at": [time.replace(tzinfo=UTC) for time in times], "x": [1, 2], "seen": [None, times[0]]})
    assert [element.tick for element in query.simulate({"fietsen": exact}).elements] == [8 * HOUR, 32 * HOUR]


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(("extent", "hours"), [("ritten", 6), ("zonder", 8)])
def test_texts_have_the_time_format_of_the_source(
    extent: str, hours: int, frame: Callable[[dict[str, list[Any]]], Any]
) -> None:
    query = transom.compile(f"SELECT x FROM {extent}", LOCAL)
    answer = query.simulate({extent: frame({"at": ["25-10-2025 08:00"], "x": [1]})})
    assert [element.tick for element in answer.elements] == [hours * HOUR]
    ticks = query.simulate({extent: frame({"at": [60], "x": [1]})})
    assert [element.tick for element in ticks.elements] == [60]


def test_tables_have_local_times_too() -> None:
    frame = pandas.DataFrame({"x": [1], "begins": [datetime(2025, 10, 25, 8)]})
    answer = transom.compile("SELECT x, begins FROM prijzen [SCAN 1 HOUR]", LOCAL).simulate({"prijzen": frame}, HOUR)
    assert next(row for window in answer.windows for row in window.rows) == (1, datetime(2025, 10, 25, 6, tzinfo=UTC))


@pytest.mark.parametrize(
    ("extent", "values", "words"),
    [
        (
            "fietsen",
            {"at": [datetime(2025, 10, 26, 2, 30)], "seen": [None]},
            "row 1 of fietsen: at: 2025-10-26 02:30:00 occurs twice in Europe/Amsterdam, where clocks go back",
        ),
        (
            "fietsen",
            {"at": [60], "seen": [datetime(2026, 3, 29, 2, 30)]},
            "row 1 of fietsen: seen: 2026-03-29 02:30:00 is skipped in Europe/Amsterdam, where clocks go forward",
        ),
        ("ritten", {"at": ["2025-10-25 08:00"]}, "at: '2025-10-25 08:00' is not written as %d-%m-%Y %H:%M"),
    ],
)
def test_a_local_time_without_an_instant_names_its_row(extent: str, values: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError) as caught:
        transom.compile(f"SELECT x FROM {extent}", LOCAL).simulate({extent: pandas.DataFrame(values | {"x": [1]})})
    assert words in str(caught.value)
    if "seen" in values:
        assert "tz_localize" in str(caught.value)


def test_the_index_of_pandas_is_a_column() -> None:
    expected = simulate(STREAM, a=[(60, 1, "p"), (120, 2, "q")])
    data = pandas.DataFrame({"x": [1, 2], "s": ["p", "q"]})
    times = pandas.to_datetime(["2024-05-01T00:01:00Z", "2024-05-01T00:02:00Z"])
    assert simulate(STREAM, a=data.set_index(times)) == expected
    assert simulate(STREAM, a=data.assign(tick=[60, 120]).set_index("tick")) == expected


def test_every_type_is_read() -> None:
    frame = pandas.DataFrame(
        {
            "tick": numpy.array([0, 1], "int8"),
            "f": numpy.array([1.5, numpy.nan], "float32"),
            "d": [Decimal("2.50"), None],
            "b": pandas.array([True, None], "boolean"),
            "z": [pandas.Timestamp("2024-05-01T02:00:00.123456789+02:00"), pandas.NaT],
        }
    )
    first, second = simulate("SELECT f, d, b, z FROM wide", wide=frame)
    assert first.row == (1.5, Decimal("2.5"), True, datetime(2024, 5, 1, 0, 0, 0, 123456, UTC))
    assert second.row == (None, None, None, None)


def test_integers_that_pandas_holds_as_floats_because_of_null_are_integers() -> None:
    frame = pandas.DataFrame({"tick": [0, 1], "x": [1, None], "s": pandas.Categorical(["p", "p"])})
    assert frame["x"].dtype == "float64"
    assert [element.row for element in simulate(STREAM, a=frame)] == [(1, "p"), (None, "p")]


def test_an_attribute_may_be_called_tick() -> None:
    frame = polars.DataFrame({"tick": [4]})
    assert list(simulate("SELECT tick FROM tick_too", tick_too=frame).records()) == [(4, 1, 4)]


def test_a_frame_without_rows_is_an_input() -> None:
    assert len(simulate(STREAM, a=pandas.DataFrame({"tick": [], "x": [], "s": []}))) == 0


def test_a_table_with_a_tick_column_has_versions() -> None:
    """As on Spark: a row whose `empty` is true only says that the table is empty from its tick on."""
    frame = polars.DataFrame({"tick": [0, 30, 60], "y": [1, 2, None], "empty": [False, False, True]})
    answer = simulate(TABLE, 60, t=frame)
    assert [(window.tick, window.rows) for window in answer] == [(0, ((1,),)), (30, ((2,),)), (60, ())]
    assert answer == simulate(TABLE, 60, t={0: pandas.DataFrame({"y": [1]}), 30: [(2,)], 60: []})


def test_statements_are_columns_s_p_and_o() -> None:
    query = transom.compile(
        "SELECT ?x ?y FROM STREAM <http://ex/s> WINDOW RANGE 10 S SLIDE WHERE { ?x :p ?y }", CATALOG, name="q.rq"
    )
    frame = pandas.DataFrame({"tick": [0, 5], "s": [":a", "<http://ex/b>"], "p": ":p", "o": [1, 2]})
    rows = [(0, ":a", ":p", 1), (5, ":b", ":p", 2)]
    assert query.simulate({"triples": frame}) == query.simulate({"triples": rows})
    stored = transom.compile("SELECT ?x WHERE { ?x :p 1 }", CATALOG, name="q.rq")
    answer = stored.simulate({"graph": polars.DataFrame({"s": [":a"], "p": [":p"], "o": [1]})})
    assert answer == stored.simulate({"graph": [(":a", ":p", 1)]})
    with pytest.raises(DataError, match="the data frame for triples has no column o"):
        query.simulate({"triples": frame.drop(columns="o")})


def message(text: str, **inputs: Any) -> str:
    with pytest.raises(DataError) as caught:
        simulate(text, **inputs)
    return f"{caught.value.message} | {caught.value.hint}"


GOOD = pandas.DataFrame({"tick": [0, 1], "x": [1, 2], "s": ["p", "q"]})


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (GOOD.rename(columns={"x": "X"}), "the data frame for a has no column x | rename X to x"),
        (GOOD.drop(columns="x"), "the data frame for a has no column x | its columns are tick, s"),
        (
            pyarrow.Table.from_arrays([pyarrow.array([0])] * 4, names=["tick", "x", "x", "s"]),
            "the data frame for a has more than one column x | its columns are tick, x, x, s",
        ),
        (
            GOOD.drop(columns="tick"),
            "the data frame for a has no time column | "
            "add a column `tick` of integers or timestamps, or name yours in the catalog (source: time)",
        ),
        (
            GOOD.assign(x=[1.0, 2.5]),
            "row 2 of a: x: 2.5 is not of type integer | write a whole number of at most 64 bits",
        ),
        (GOOD.assign(s=[1, 2]), "row 1 of a: s: 1 is not of type string | write text"),
        (
            GOOD.assign(x=numpy.array([1, 2**63], "uint64")),
            "row 2 of a: x: 9223372036854775808 is not of type integer | write a whole number of at most 64 bits",
        ),
        (
            GOOD.assign(tick=[MAY, None]),
            "row 2 of a: tick: nothing is neither a tick nor an instant | "
            "write a whole number, or ISO 8601 such as 2009-03-01T12:00:00Z",
        ),
        (
            GOOD.assign(tick=[1, -1]),
            "row 2 of a: tick: -1 lies before tick 0 | ticks are whole numbers from 0",
        ),
        (
            GOOD.assign(x=[1, "one"]),
            "the data frame for a cannot be read as Arrow data | let all values of a column have the same type",
        ),
        (
            polars.from_pandas(GOOD)["x"],
            "the data frame for a cannot be read as Arrow data | let all values of a column have the same type",
        ),
    ],
)
def test_errors_name_the_column_and_the_row(frame: Any, expected: str) -> None:
    assert message(STREAM, a=frame) == expected


def test_a_lazy_frame_has_no_rows_yet() -> None:
    assert message(STREAM, a=polars.from_pandas(GOOD).lazy()).endswith("not a list | call collect() first")


def test_instants_that_python_cannot_hold_are_refused_by_column() -> None:
    far = pyarrow.table({"tick": pyarrow.array([2**60], pyarrow.timestamp("us")), "x": [1], "s": ["p"]})
    assert message(STREAM, a=far).startswith("column tick of the data frame for a cannot be read")


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="reading a data frame needs pyarrow") as caught:
        simulate(STREAM, a=GOOD)
    assert "pip install" in str(caught.value.hint)
