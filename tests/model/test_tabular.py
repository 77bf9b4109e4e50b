"""Answers as tables of pyarrow, pandas and polars: types, NULL, instants, terms, and slices."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

import transom
from transom.errors import UsageError
from transom.model.answer import Answer
from transom.model.bag import Bag, Element
from transom.model.rdf.answer import RdfAnswer

EPOCH = "2024-05-01T00:00:00Z"
MAY = datetime(2024, 5, 1, tzinfo=UTC)
EVERY_TYPE = "pushed (i:integer, f:float, d:decimal, s:string, b:boolean, w:time, z:timestamp)"
NULLS: tuple[None, ...] = (None,) * 7


def answer_of(rows: list[tuple[Any, ...]], *, text: str = "SELECT i, f, d, s, b, w, z FROM a", **top: str) -> Answer:
    return transom.compile(text, {"extents": {"a": EVERY_TYPE}, **top}).simulate({"a": rows})


def solutions(text: str, **top: str) -> RdfAnswer:
    catalog = {"prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s"}}, **top}
    query = transom.compile(text, catalog, language="sparql")
    return query.simulate({"s": [(0, ":a", ":p", 1), (3, ":b", ":p", "'x'@en")]})


def test_every_type_has_an_arrow_type() -> None:
    answer = answer_of([(60, 1, 1.5, Decimal("2.5"), "x", True, 7, MAY), (61, *NULLS)])
    table = answer.to_arrow()
    assert {field.name: str(field.type) for field in table.schema} == {
        "tick": "int64",
        "index": "int64",
        "i": "int64",
        "f": "double",
        "d": "decimal128(38, 18)",
        "s": "string",
        "b": "bool",
        "w": "int64",
        "z": "timestamp[us, tz=UTC]",
    }
    first, second = table.to_pylist()
    assert list(first.values()) == [60, 1, 1, 1.5, Decimal("2.5"), "x", True, 7, MAY]
    assert list(second.values()) == [61, 2, *NULLS]


def test_types_do_not_depend_on_the_rows() -> None:
    full = answer_of([(60, 1, 1.5, Decimal("2.5"), "x", True, 7, MAY)]).to_arrow()
    for rows in ([], [(0, *NULLS)]):
        assert answer_of(rows).to_arrow().schema == full.schema


def test_schema_names_the_types_of_the_query_language() -> None:
    assert answer_of([]).schema == {
        "tick": "time",
        "index": "integer",
        "i": "integer",
        "f": "float",
        "d": "decimal",
        "s": "string",
        "b": "boolean",
        "w": "time",
        "z": "timestamp",
    }


def test_pandas_keeps_null_apart_from_values() -> None:
    frame = answer_of([(60, 1, 1.5, Decimal("2.5"), "x", True, 7, MAY), (61, *NULLS)]).to_pandas()
    assert [str(kind) for kind in frame.dtypes] == [
        *("Int64", "Int64", "Int64", "float64", "object", "object", "boolean", "Int64", "datetime64[us, UTC]"),
    ]
    assert frame["i"].tolist() == [1, pandas.NA]
    assert frame["z"][0] == pandas.Timestamp(MAY)
    assert frame.loc[1, "i":].isna().all()


def test_polars_has_the_same_values() -> None:
    answer = answer_of([(60, 1, 1.5, Decimal("2.5"), "x", True, 7, MAY), (61, *NULLS)])
    frame = answer.to_polars()
    assert frame.rows() == [(60, 1, 1, 1.5, Decimal("2.5"), "x", True, 7, MAY), (61, 2, *NULLS)]
    assert frame.schema["d"] == polars.Decimal(38, 18)


def test_whatever_reads_arrow_streams_takes_an_answer() -> None:
    answer = answer_of([(60, 1, 1.5, None, "x", True, 7, MAY)])
    assert polars.DataFrame(answer).shape == (1, 9)
    assert pyarrow.table(answer).equals(answer.to_arrow())
    with duckdb.connect() as connection:
        assert connection.sql("SELECT tick, i + 1 FROM answer").fetchall() == [(60, 2)]


def test_times_are_instants_if_the_catalog_has_an_epoch() -> None:
    answer = answer_of([(60, 1, None, None, None, None, 7, None)], epoch=EPOCH)
    [row] = answer.to_arrow().to_pylist()
    assert (row["tick"], row["w"]) == (
        datetime(2024, 5, 1, 0, 1, tzinfo=UTC),
        datetime(2024, 5, 1, 0, 0, 7, tzinfo=UTC),
    )
    assert answer.to_polars()["tick"].to_list() == [row["tick"]]
    assert answer.to_pandas()["tick"][0] == pandas.Timestamp(row["tick"])
    [row] = answer.to_arrow(instants=False).to_pylist()
    assert (row["tick"], row["w"]) == (60, 7)


def test_instants_can_be_asked_for_without_an_epoch() -> None:
    answer = answer_of([(60, *NULLS)])
    assert answer.to_arrow(instants=True)["tick"].to_pylist() == [datetime(1970, 1, 1, 0, 1, tzinfo=UTC)]
    assert transom.Catalog.read(f"epoch: {EPOCH}\na: pushed (i:integer)").calendar.has_epoch
    assert transom.Catalog.read("epoch: 1970-01-01T00:00:00Z\na: pushed (i:integer)").calendar.has_epoch
    assert not transom.Catalog.read("a: pushed (i:integer)").calendar.has_epoch


def test_ticks_beyond_64_bits_of_microseconds_are_no_instants() -> None:
    answer = answer_of([(2**62, *NULLS)])
    assert answer.to_arrow()["tick"].to_pylist() == [2**62]
    with pytest.raises(UsageError, match=f"column tick: tick {2**62} is no instant"):
        answer.to_arrow(instants=True)


def test_windows_give_a_row_per_tuple_and_mark_empty_windows() -> None:
    answer = answer_of([(0, 5, *NULLS[1:])], text="SELECT i FROM a [FROM NOW TO NOW SLIDE 1 SEC]")
    assert answer.to_arrow().to_pylist() == [{"tick": 0, "seq": 1, "empty": False, "i": 5}]
    later = transom.compile("SELECT i FROM a [FROM NOW TO NOW SLIDE 1 SEC]", {"extents": {"a": EVERY_TYPE}})
    assert later.simulate({"a": []}, until=1).to_arrow().to_pylist() == [
        {"tick": 0, "seq": 1, "empty": True, "i": None},
        {"tick": 1, "seq": 1, "empty": True, "i": None},
    ]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("99999999999999999999.5", "decimal128(38, 18)"),
        ("123456789012345678901234567890", "decimal256(76, 38)"),
        ("1E-38", "decimal256(76, 38)"),
    ],
)
def test_decimals_of_many_digits_get_a_wider_type(number: str, kind: str) -> None:
    answer = answer_of([(0, None, None, Decimal(number), *NULLS[3:]), (1, None, None, Decimal("1.5"), *NULLS[3:])])
    column = answer.to_arrow()["d"]
    assert str(column.type) == kind
    assert column.to_pylist() == [Decimal(number), Decimal("1.5")]
    if kind.startswith("decimal256"):
        with pytest.raises(UsageError, match="column d holds decimals with more digits than polars allows"):
            answer.to_polars()


def test_decimals_that_no_type_holds_are_refused_by_column() -> None:
    answer = answer_of([(0, None, None, Decimal("1E+38"), *NULLS[3:]), (1, None, None, Decimal("1E-38"), *NULLS[3:])])
    with pytest.raises(UsageError, match=r"column d: 1E\+38 has too many digits"):
        answer.to_pandas()


def test_positions_are_well_known_text() -> None:
    extent = {"declare": "pushed (x:float, y:float)", "position": {"x": "x", "y": "y", "unit": "km"}}
    query = transom.compile("SELECT RStream(g) FROM a [NOW]", {"extents": {"a": extent}}, language="cql")
    answer = query.simulate({"a": [(0, 1.0, 2.0)]})
    assert answer.schema["g"] == "point"
    assert answer.to_arrow()["g"].to_pylist() == ["POINT (1 2)"]


def test_an_answer_made_by_hand_infers_its_types() -> None:
    answer = Answer(("x", "y"), "windows", windows=(Bag(0, ((None, None),)), Bag(1, ((1.5, None),))))
    assert answer.schema == {"tick": "time", "seq": "integer", "empty": "boolean", "x": "float", "y": "null"}
    assert answer.to_arrow()["y"].to_pylist() == [None, None]
    with pytest.raises(UsageError, match="the length of a tick is not known"):
        answer.to_arrow(instants=True)


def test_slices_are_answers() -> None:
    answer = answer_of([(tick, tick, *NULLS[1:]) for tick in range(5)], text="SELECT i FROM a")
    assert answer[1] == Element(1, 2, (1,))
    assert answer[-1] == Element(4, 5, (4,))
    assert [element.tick for element in answer[1:3]] == [1, 2]
    assert answer[1:3].schema == answer.schema
    assert repr(answer[::2]) == "<Answer: 3 tagged-tuples (i)>"
    windows = answer_of([(1, 1, *NULLS[1:])], text="SELECT i FROM a [FROM NOW TO NOW SLIDE 1 SEC]")
    assert [window.tick for window in windows[1:]] == [1]
    assert windows[0] == Bag(0, ())
    with pytest.raises(IndexError):
        answer[9]


SOLUTIONS = "SELECT ?x ?n FROM STREAM <http://ex/s> WINDOW RANGE 10 S SLIDE WHERE { ?x :p ?n }"


def test_solutions_have_intervals_and_terms_in_ntriples() -> None:
    answer = solutions(SOLUTIONS)
    one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert answer.header == ("start", "end", "n", "x", "n_")
    assert answer.to_arrow().to_pylist() == [
        {"start": 0, "end": 10, "n": 1, "x": "<http://ex/a>", "n_": one},
        {"start": 3, "end": 13, "n": 1, "x": "<http://ex/b>", "n_": '"x"@en'},
    ]
    assert [row["n_"] for row in answer.to_arrow(terms="value").to_pylist()] == ["1", "x"]
    assert answer.to_polars(terms="value").rows()[0] == (0, 10, 1, "http://ex/a", "1")
    assert answer.to_pandas(terms="value")["x"].tolist() == ["http://ex/a", "http://ex/b"]
    assert polars.DataFrame(answer).shape == (2, 5)
    with pytest.raises(UsageError, match="terms cannot be written as 'turtle'"):
        answer.to_arrow(terms="turtle")  # type: ignore[arg-type]


def test_intervals_are_instants_if_the_catalog_has_an_epoch() -> None:
    row = solutions(SOLUTIONS, epoch=EPOCH).to_arrow().to_pylist()[0]
    assert (row["start"], row["end"]) == (MAY, datetime(2024, 5, 1, 0, 0, 10, tzinfo=UTC))
    assert solutions(SOLUTIONS, epoch=EPOCH).to_arrow(instants=False)["end"].to_pylist() == [10, 13]


@pytest.mark.parametrize(
    ("text", "header", "first"),
    [
        (
            "SELECT ?x FROM STREAM <http://ex/s> WINDOW RANGE 10 S SLIDE WHERE { ?x :p ?n } ORDER BY ?x",
            ("start", "end", "place", "x"),
            (0, 3, 0, "<http://ex/a>"),
        ),
        (
            "CONSTRUCT { ?x :q ?n } FROM STREAM <http://ex/s> WINDOW RANGE 10 S SLIDE WHERE { ?x :p ?n }",
            ("start", "end", "n", "s", "p", "o"),
            (0, 10, 1, "<http://ex/a>", "<http://ex/q>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ),
        (
            "ASK FROM STREAM <http://ex/s> WINDOW RANGE 10 S SLIDE WHERE { :b :p ?n }",
            ("start", "end", "ask"),
            (0, 3, False),
        ),
    ],
)
def test_every_kind_of_answer_over_rdf_is_a_table(text: str, header: tuple[str, ...], first: tuple[Any, ...]) -> None:
    answer = solutions(text)
    table = answer.to_arrow()
    assert tuple(table.column_names) == answer.header == tuple(answer.schema) == header
    assert tuple(table.to_pylist()[0].values()) == first
    assert table.num_rows == len(list(answer.records()))
    assert answer[0] == next(iter(answer))
    assert list(answer[:1]) == [answer[0]]
    assert repr(answer) == f"<RdfAnswer: {len(answer)} {answer.kind} ({', '.join(answer.columns)})>"


@pytest.mark.parametrize(
    ("method", "package"), [("to_arrow", "pyarrow"), ("to_pandas", "pandas"), ("to_polars", "polars")]
)
def test_a_missing_library_is_named(method: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"this conversion needs {package}") as caught:
        getattr(answer_of([]), method)()
    assert caught.value.hint == f"pip install {package}"
