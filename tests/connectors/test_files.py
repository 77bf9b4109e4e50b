"""Rows in CSV, JSON lines and Parquet files."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from transom.catalog import Catalog
from transom.connectors import open_stream, open_table
from transom.connectors.files.read import REJECT_HINT
from transom.errors import DataError, UsageError
from transom.model.bag import Element, TableVersion

ALL = "pushed (i:integer, f:float, d:decimal, s:string, b:boolean, t:time, at:timestamp)"
AT = datetime(2009, 1, 1, 0, 1, tzinfo=UTC)


@pytest.fixture
def read(tmp_path):
    def read(declaration: str, files: object, until: int | None = None, **contents: str | bytes):
        for name, content in contents.items():
            path = tmp_path / name.replace("__", ".")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        catalog = Catalog.from_dict(
            {"epoch": "2009-01-01", "extents": {"it": {"declare": declaration, "source": {"files": files}}}},
            folder=tmp_path,
        )
        extent = catalog.extent("it")
        opened = open_table if declaration.startswith("stored") else open_stream
        return opened(extent, catalog.calendar, catalog.folder, until)

    return read


def refused(read, *args, **contents) -> DataError:
    with pytest.raises(DataError) as caught:
        read(*args, **contents)
    return caught.value


def test_csv_with_every_type(read):
    text = (
        "\ufefftick, more,i,f,d,s,b,t,at\n"
        '60,x,1,2,2.50,"a,\n""b""",TRUE,7,2009-01-01T01:01:00+01:00\n'
        "\n"
        "2009-01-01T00:01:00Z,x,,,,,,,\n"
    )
    assert read(ALL, "a.csv", a__csv=text) == [
        Element(60, 1, (1, 2.0, Decimal("2.50"), 'a,\n"b"', True, 7, AT)),
        Element(60, 2, (None,) * 7),
    ]


def test_json_lines_with_every_type(read):
    text = (
        '{"more": [], "tick": 60, "i": 1, "f": 2, "d": "2.50", "s": "a", "b": true, "t": 7, "at": "2009-01-01T00:01"}\n'
        "\n"
        '{"at": null, "tick": "2009-01-01", "i": 3.0, "f": NaN, "d": 2.5, "s": null, "b": null, "t": null}\n'
    )
    assert read(ALL, "a.jsonl", a__jsonl=text) == [
        Element(0, 1, (3, None, Decimal("2.5"), None, None, None, None)),
        Element(60, 2, (1, 2.0, Decimal("2.50"), "a", True, 7, AT)),
    ]


def test_csv_blanks_after_commas_do_not_count(read):
    text = 'tick, s, x\n0, a, 1\n1, " b", 2.0\n2,   , \n'
    stream = read("pushed (s:string, x:integer)", "a.csv", a__csv=text)
    assert [element.row for element in stream] == [("a", 1), (" b", 2), (None, None)]


def test_csv_nan_is_null_and_whole_floats_are_integers(read):
    text = "tick,f,d,i,t\n0,nan,NaN,1.0,-2.\n1, NAN ,nan,10.00,3\n"
    stream = read("pushed (f:float, d:decimal, i:integer, t:time)", "a.csv", a__csv=text)
    assert [element.row for element in stream] == [(None, None, 1, -2), (None, None, 10, 3)]


def test_parquet_with_every_type(read, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table(
        {
            "i": arrow.array([1, None], arrow.int32()),
            "f": arrow.array([2.0, None], arrow.float32()),
            "d": arrow.array([Decimal("2.50"), None]),
            "s": arrow.array(["a", None]),
            "b": arrow.array([True, None]),
            "t": arrow.array([7, None]),
            "at": arrow.array([1230768060_000000001, None], arrow.timestamp("ns", "UTC")),
            "when": arrow.array([datetime(2009, 1, 1, 0, 1), datetime(2009, 1, 1)]),
        }
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    assert read(ALL, {"path": "a.parquet", "time": "when"}) == [
        Element(0, 1, (None,) * 7),
        Element(60, 2, (1, 2.0, Decimal("2.50"), "a", True, 7, AT)),
    ]


ODD = "pushed (device:integer, speed:float)"


def test_columns_with_other_names(read):
    text = "tick,Device ID,Speed [kn],device\n5,7,1.5,x\n"
    fields = {"device": "Device ID", "speed": "Speed [kn]"}
    assert read(ODD, {"path": "a.csv", "fields": fields}, a__csv=text) == [Element(5, 1, (7, 1.5))]
    lines = '{"tick": 5, "Device ID": 7, "Speed [kn]": 1.5, "device": "x"}\n'
    assert read(ODD, {"path": "a.jsonl", "fields": fields}, a__jsonl=lines) == [Element(5, 1, (7, 1.5))]
    both = "stored (device:integer, speed:float)"
    [version] = read(both, {"versions": {0: "a.csv"}, "fields": fields}, a__csv=text)
    assert version.rows == ((7, 1.5),)


def test_missing_column_is_named_with_the_way_to_map_it(read):
    error = refused(read, "pushed (device:integer)", "a.csv", a__csv="tick,Device\n5,7\n")
    assert error.hint == "did you mean Device? then write fields: {device: 'Device'}"
    error = refused(read, ODD, {"path": "a.csv", "fields": {"speed": "Speed"}}, a__csv="tick,device,Velocity\n5,7,1\n")
    assert error.message == "no column Speed for it"


def test_times_in_another_format(read):
    files = {"path": "a.csv", "time": "Time", "time_format": "%d/%m/%Y %H:%M:%S"}
    text = "Time,device,speed\n01/01/2009 00:01:00,1,2\n1/1/2009 0:0:7,1,3\n"
    assert [element.tick for element in read(ODD, files, a__csv=text)] == [7, 60]
    error = refused(read, ODD, files, a__csv="Time,device,speed\n2009-01-01 00:01:00,1,2\n")
    assert "Time: '2009-01-01 00:01:00' is not written as %d/%m/%Y %H:%M:%S" in error.message
    assert "is not an instant" in refused(read, ODD, files, a__csv="Time,device,speed\n31/02/2009 0:0:0,1,2\n").message
    lines = {"path": "a.jsonl", "time": "Time", "time_format": "%Y%m%d"}
    number = '{"Time": 20090101, "device": 1, "speed": 2}'
    assert "20090101 is not written as %Y%m%d" in refused(read, ODD, lines, a__jsonl=number).message
    assert [e.tick for e in read(ODD, lines, a__jsonl=number.replace("20090101", '"20090101"'))] == [0]


def test_files_come_in_order_of_their_names_and_lists_in_their_own(read):
    contents = {"a2__csv": "tick,x\n5,1\n5,2\n", "a1__csv": "tick,x\n5,3\n4,4\n"}
    assert [e.row[0] for e in read("pushed (x:integer)", "a*.csv", **contents)] == [4, 3, 1, 2]
    assert [e.row[0] for e in read("pushed (x:integer)", ["a2.csv", "a*.csv"])] == [4, 1, 2, 3]
    assert [e.row[0] for e in read("pushed (x:integer)", ["a2.csv", "a*.csv"], until=4)] == [4]


def test_names_with_brackets_are_names_first(read):
    assert read("pushed (x:integer)", "a[1].csv", **{"a[1]__csv": "tick,x\n5,1\n"}) == [Element(5, 1, (1,))]


def test_a_column_may_be_the_tick_and_an_attribute(read):
    stream = read("pushed (time:integer)", {"path": "a.csv", "time": "time"}, a__csv="time\n9\n3\n")
    assert stream == [Element(3, 1, (3,)), Element(9, 2, (9,))]
    assert read("pushed (tick:time)", "b.csv", b__csv="tick\n3\n") == [Element(3, 1, (3,))]


def test_absolute_paths_and_no_folder(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("tick,x\n0,1\n")
    monkeypatch.chdir(tmp_path)
    for path in ("a.csv", "*.csv", str(tmp_path / "a.csv")):
        catalog = Catalog.from_dict({"extents": {"it": {"declare": "pushed (x:integer)", "source": {"files": path}}}})
        assert len(open_stream(catalog.extent("it"), catalog.calendar)) == 1
    gone = Catalog.from_dict({"extents": {"it": {"declare": "pushed (x:integer)", "source": {"files": "b.csv"}}}})
    with pytest.raises(DataError) as caught:
        open_stream(gone.extent("it"), gone.calendar)
    assert caught.value.hint == f"paths are relative to {tmp_path}"


def test_a_stored_table_in_one_file(read):
    text = "temp,category\n20,cool\n30,\n"
    assert read("stored (temp:integer, category:string)", "a.csv", a__csv=text) == [
        TableVersion(0, ((20, "cool"), (30, None)))
    ]
    assert read("stored (temp:integer)", "b.csv", b__csv="temp\n") == [TableVersion(0, ())]
    assert read("stored (temp:integer)", "b.jsonl", b__jsonl="") == [TableVersion(0, ())]


def test_a_stored_table_with_a_column_of_ticks(read):
    text = "temp,tick\n1,600\n2,0\n3,600\n"
    assert read("stored (temp:integer)", "a.csv", a__csv=text) == [
        TableVersion(0, ((2,),)),
        TableVersion(600, ((1,), (3,))),
    ]
    assert read("stored (temp:integer)", "a.csv", 599) == [TableVersion(0, ((2,),))]
    assert read("stored (tick:integer)", "a.csv") == [TableVersion(0, ((600,), (0,), (600,)))]
    assert read("stored (temp:integer)", {"path": "a.csv", "time": "temp"}) == [
        TableVersion(tick, ((tick,),)) for tick in (1, 2, 3)
    ]


def test_a_stored_table_with_a_file_for_each_version(read):
    found = read(
        "stored (x:integer)", {"versions": {600: "b.csv", 0: "a.csv"}}, a__csv="x\n1\n", b__csv="tick,x\n7,2\n"
    )
    assert found == [TableVersion(0, ((1,),)), TableVersion(600, ((2,),))]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "tick,x\n0,1\n5,warm\n", "line 3 of it: x: 'warm' is not of type integer"),
        ("a.csv", "tick,x\n0,99999999999999999999\n", "line 2 of it: x: '99999999999999999999' is not of type integer"),
        ("a.csv", "tick,x\nsoon,1\n", "line 2 of it: tick: 'soon' is not an instant"),
        ("a.csv", "tick,x\n,1\n", "line 2 of it: tick: nothing is neither a tick nor an instant"),
        ("a.csv", "tick,x\n-5,1\n", "line 2 of it: tick: '-5' lies before tick 0"),
        ("a.csv", "tick,x\n1\n", "line 2: 1 cells, the header has 2"),
        ("a.csv", "tick,y\n1,1\n", "no column x for it"),
        ("a.csv", "x,time\n1,1\n", "no column tick for it"),
        ("a.csv", "tick,x,x\n1,1,1\n", "two columns are called x"),
        ("a.csv", "", "no header"),
        ("a.csv", 'tick,x\n"1"2,1\n', "line 2 is not CSV"),
        ("a.csv", 'tick,x\n0,1\n\n0,"1\n0,2\n', "line 4: a quote is not closed"),
        ("a.csv", '"tick,x\n0,1\n', "line 1: a quote is not closed"),
        ("a.csv", "tick,x\n0,1.5\n", "line 2 of it: x: '1.5' is not of type integer"),
        ("a.csv", b"tick,x\n\xff,1\n", "the file is not UTF-8 text"),
        ("a.jsonl", '{"tick": 0, "x": 1}\n{"tick": 0}\n', "line 2 of it: no value for x"),
        ("a.jsonl", '{"tick": 0}\n', "no column x for it"),
        ("a.jsonl", '{"tick": 0, "x": "1"}\n', "line 1 of it: x: '1' is not of type integer"),
        ("a.jsonl", "{\n", "line 1 is not JSON"),
        ("a.jsonl", "[1]\n", "line 1 is not a JSON object"),
        ("a.jsonl", b"\xff\n", "the file is not UTF-8 text"),
        ("a.parquet", "nothing of the kind", "cannot read the file as Parquet"),
    ],
)
def test_files_that_do_not_fit(read, tmp_path, name, content, message):
    error = refused(read, "pushed (x:integer)", name, **{name.replace(".", "__"): content})
    assert error.message == message
    assert error.hint
    assert error.source == str(tmp_path / name)
    assert str(error).startswith(f"{tmp_path / name}: {message}")


def test_a_column_that_is_missing_has_a_hint(read):
    error = refused(read, "pushed (temp:integer)", "a.csv", a__csv="tick,tmp\n0,1\n")
    assert error.hint == "did you mean tmp? then write fields: {temp: 'tmp'}"
    assert error.detail == "the columns are tick, tmp"
    error = refused(read, "pushed (x:integer)", "b.csv", b__csv="time,x\n0,1\n")
    assert "time: COLUMN" in str(error.hint)


@pytest.mark.parametrize(
    ("declaration", "content", "hint"),
    [
        ("(x:integer)", "tick;x\n0;1\n", "the cells seem to be separated by semicolons: write delimiter: ';'"),
        ("(x:integer)", "tick\tx\n0\t1\n", r'the cells seem to be separated by tabs: write delimiter: "\t"'),
        (
            "(x:integer)",
            "tick,y,z\n0,1,1\n",
            "every attribute of it has a column; fields: says how it is called, if not x",
        ),
        ("(x:integer)", "tick,x\nsoon,1\n", "write a whole number, or ISO 8601 such as 2009-03-01T12:00:00Z"),
        ("(x:integer)", "tick,x\n2008-12-31,1\n", "set `epoch` in the catalog earlier"),
        ("(x:integer)", "tick,x\n-1,1\n", "ticks are whole numbers from 0"),
        ("(x:integer)", "tick,x\n0,warm\n", "write a whole number of at most 64 bits"),
        ("(x:boolean)", "tick,x\n0,yes\n", "write true or false"),
        ("(x:timestamp)", "tick,x\n0,noon\n", "write ISO 8601 such as 2009-03-01T12:00:00Z"),
        ("(x:float)", 'tick,x\n0,"1,5"\n', "write a number such as 1.5"),
        ("(x:integer)", b"tick,x\n\xff,1\n", "save it as UTF-8"),
    ],
)
def test_hints(read, declaration, content, hint):
    found = str(refused(read, f"pushed {declaration}", "a.csv", a__csv=content).hint)
    assert found.removesuffix(REJECT_HINT) == hint


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_csv_with_other_marks(read, delimiter):
    content = 'tick;f;i;d;s;at\n3; 1,5;3,0;-0,25;"a;b, c.d";2009-01-02\n4;;;;;\n'.replace(";", delimiter)
    declared = "pushed (f:float, i:integer, d:decimal, s:string, at:timestamp)"
    files = {"path": "a.csv", "delimiter": delimiter, "decimal": ","}
    first, second = read(declared, files, a__csv=content)
    expected = (3, 1.5, 3, Decimal("-0.25"), f"a{delimiter}b, c.d", datetime(2009, 1, 2, tzinfo=UTC))
    assert (first.tick, *first.row) == expected
    assert (second.tick, *second.row) == (4, None, None, None, None, None)


@pytest.mark.parametrize("cell", ["1.5", "1.234,5", "1,2,3", "1.000"])
def test_a_number_with_another_decimal_mark_is_refused(read, cell):
    files = {"path": "a.csv", "delimiter": ";", "decimal": ","}
    error = refused(read, "pushed (f:float)", files, a__csv=f"tick;f\n0;{cell}\n")
    assert error.message == f"line 2 of it: f: '{cell}' is not of type float"
    assert str(error.hint).startswith("the decimal mark is a comma: write a number such as 1,5")


def test_a_folder_instead_of_a_file(read, tmp_path):
    (tmp_path / "data.csv").mkdir()
    error = refused(read, "pushed (x:integer)", "data.csv")
    assert error.message == "data.csv for it is a folder, not a file"
    assert error.hint == "write data.csv/*.csv for all CSV files in it"


def test_a_path_without_a_file(read, tmp_path):
    error = refused(read, "pushed (x:integer)", "none/*.csv")
    assert error.message == "no file none/*.csv for it"
    assert error.hint == f"paths are relative to {tmp_path}"


def test_a_file_that_cannot_be_opened(read, monkeypatch):
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("os.path.isfile", lambda path: True)
    error = refused(read, "pushed (x:integer)", "a.csv")
    assert (error.message, error.detail) == ("cannot read the file", "not yours")


def test_parquet_without_pyarrow(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="needs pyarrow") as caught:
        read("pushed (x:integer)", "a.parquet", a__parquet="x")
    assert caught.value.hint == "in a checkout of Transom: pip install '.[parquet]'"
