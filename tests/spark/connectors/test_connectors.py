"""Sources on Spark give what the plain readers give: the same ticks, values and order, in batches and in streams."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import functions as F

from tests.catalog.test_time_formats import TEXTS
from tests.gate.thin import thinned
from tests.spark.connectors.reading import Folder, fails, ordered, plain, plain_table, same
from transom.catalog import Catalog
from transom.catalog.time_formats import read_time_format
from transom.errors import DataError, UsageError
from transom.spark.input.time_formats import iso_text

ALL = "pushed (i:integer, f:float, d:decimal, s:string, b:boolean, t:time, at:timestamp)"
FEW = "pushed (s:string, x:integer)"
ROAD = "sensed (site:integer, temp:float)"


@pytest.fixture
def folder(spark, tmp_path) -> Folder:
    return Folder(spark, tmp_path)


def test_csv_with_every_type(folder):
    folder.write(
        a__csv="\ufefftick, more,i,f,d,s,b,t,at\n"
        '60,x,1,2,2.50,"a,""b"" é",TRUE,7,2009-01-01T01:01:00+01:00\n'
        "\n"
        "2009-01-01T00:01:00Z,x,,,,,,,\n"
        '0,x, 3.0 ,nan, NaN ," b ", false ,-2.,2009-01-02\r\n'
        "2009-01-01T00:00:59.999999,,-1,-1e3,-0.000000001, b ,true,0,20090101T0203\n"
        '1,x,,,,"",,,\n'
    )
    rows = same(folder, folder.catalog(ALL, "a.csv"))
    assert rows[0] == (0, 3, None, None, " b ", False, -2, datetime(2009, 1, 2, tzinfo=UTC))
    assert [row[0] for row in rows] == [0, 1, 59, 60, 60]


@pytest.mark.parametrize("delimiter", thinned([";", "\t", "|"], 3))
def test_csv_marks(folder, delimiter):
    lines = [
        "tick;f;i;d;s;at",
        '60; 1,5;3,0;-0,25;"a;b, c.d";2009-01-01T01:01:00+01:00',
        "0;-1e3;-2;7;x.y;2009-01-02",
        "1;;;;;",
        '2;nan;0;NaN;"";',
        "2009-01-01T00:00:03,5Z;+0,125;4,;,5;1,5;",
    ]
    folder.write(a__csv="\n".join(lines).replace(";", delimiter))
    files = {"path": "a.csv", "delimiter": delimiter, "decimal": ","}
    declared = "pushed (f:float, i:integer, d:decimal, s:string, at:timestamp)"
    rows = same(folder, folder.catalog(declared, files))
    assert [row[0] for row in rows] == [0, 1, 2, 3, 60]
    assert rows[4][1:5] == (1.5, 3, Decimal("-0.25"), f"a{delimiter}b, c.d")
    assert rows[3][1:5] == (0.125, 4, Decimal("0.5"), "1,5")
    assert rows[1][1:] == (None,) * 5


@pytest.mark.parametrize("cell", ["1.5", "1.234,5", "1,2,3", "1.000", "1 5"])
def test_csv_marks_refuse_other_numbers(folder, cell):
    folder.write(a__csv=f"tick;f\n0;{cell}\n")
    files = {"path": "a.csv", "delimiter": ";", "decimal": ","}
    with pytest.raises(DataError, match="is not of type float"):
        plain(folder.catalog("pushed (f:float)", files))
    fails(folder, "pushed (f:float)", files, "is not of type float")


def test_json_lines_with_every_type(folder):
    folder.write(
        a__jsonl='{"more": [], "tick": 60, "i": 1, "f": 2, "d": "2.50", "s": "é", "b": true, "t": 7,'
        ' "at": "2009-01-01T00:01"}\n\n'
        '{"at": null, "tick": "2009-01-01", "i": 3.0, "f": NaN, "d": 2.5, "s": null, "b": null, "t": null}\n'
        '{"at": "2009-01-01", "tick": 2.0, "i": -1e3, "f": 0.1, "d": 7, "s": "{\\"a\\": 1}\\n", "b": false, "t": 0}\r\n'
        '{"at": null, "tick": "3", "i": 9007199254740993, "f": -0.0, "d": 0.1, "s": "", "b": null, "t": null}'
    )
    rows = same(folder, folder.catalog(ALL, "a.jsonl"))
    assert [row[0] for row in rows] == [0, 2, 3, 60]


def test_parquet_with_every_type(folder, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    at = datetime(2009, 3, 8, 2, 30, 0, 123456)
    columns = {
        "tick": pa.array([60, 3, 2], pa.int32()),
        "i": pa.array([1.0, None, float("nan")], pa.float64()),
        "f": pa.array([2, None, -1], pa.int16()),
        "d": pa.array([0.1, None, 2.5], pa.float64()),
        "s": pa.array(["é", None, ""]),
        "b": pa.array([True, None, False]),
        "t": pa.array([Decimal("7.00"), None, Decimal("0.00")], pa.decimal128(10, 2)),
        "at": pa.array([at, None, at], pa.timestamp("us")),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    columns["tick"] = pa.array([at, None, at], pa.timestamp("ms", "UTC")).fill_null(at.replace(microsecond=0))
    columns["at"] = pa.array([date(2009, 1, 1), None, date(2010, 1, 1)])
    columns["f"] = pa.array([float("nan"), -0.0, 1.5], pa.float32())
    parquet.write_table(pa.table(columns), tmp_path / "b.parquet")
    same(folder, folder.catalog(ALL, "a.parquet"))
    same(folder, folder.catalog(ALL, "b.parquet"))
    both = folder.catalog(ALL, "*.parquet")
    assert ordered(folder.frame(both).collect(), both.extent("it")) == plain(both)
    with pytest.raises(DataError, match="different columns"):
        folder.frame(both, live=True)


@pytest.mark.nightly
def test_columns_with_other_names_and_times_in_another_format(folder):
    folder.write(
        a__csv="Time,Device ID,Speed [kn],s\n"
        "01/05/2009 08:00:00,a,1,no\n1/5/2009 8:0:7,b,2,no\n 3/5/2009 23:59:59 ,c,,no\n",
        b__jsonl='{"Time": "May 1, 09 8:05 PM", "Device ID": "a", "Speed [kn]": 1, "s": 5}\n'
        '{"Time": "may 2, 09 12:00 am", "Device ID": null, "Speed [kn]": 2, "s": 5}\n',
        c__csv="Time,s,x\n31/02/2009 08:00:00,a,1\n",
        d__csv="Time,s,x\n2009-05-01,a,1\n",
    )
    fields = {"s": "Device ID", "x": "Speed [kn]"}
    first = {"path": "a.csv", "time": "Time", "time_format": "%d/%m/%Y %H:%M:%S", "fields": fields}
    rows = same(folder, folder.catalog(FEW, first))
    assert [row[1:] for row in rows] == [("a", 1), ("b", 2), ("c", None)]
    second = {"path": "b.jsonl", "time": "Time", "time_format": "%b %d, %y %I:%M %p", "fields": fields}
    assert [row[1:] for row in same(folder, folder.catalog(FEW, second))] == [("a", 1), (None, 2)]
    for path, words in (("c.csv", "is not written as"), ("d.csv", "is not written as")):
        fails(folder, folder.catalog(FEW, {**first, "path": path, "fields": {}}), words)


def test_time_formats_are_read_as_in_plain_python(spark):
    texts = [text for _, text in TEXTS] + [f"01/05/2024 08:00:00{end}" for end in ("Z", " +02:00 ", "+0200", "  Z")]
    frame = spark.createDataFrame([(number, text) for number, text in enumerate(texts)], "n int, x string")
    formats = [read_time_format(text) for text in dict.fromkeys(form for form, _ in TEXTS)]
    formats += [written.with_optional_offset for written in formats]
    columns = [iso_text(F.col("x"), written).alias(f"f{place}") for place, written in enumerate(formats)]
    for row in frame.select("n", *columns).collect():
        assert [row[f"f{place}"] for place in range(len(formats))] == [one.iso(texts[row.n]) for one in formats]


def test_several_files_by_wildcard_in_the_order_of_their_names(folder):
    folder.write(
        c__csv="tick,s,x\n0,c1,1\n1,c2,2\n0,c3,3\n",
        a__csv="tick,s,x\n1,a1,1\n0,a2,2\n",
        b__csv="tick,s,x\n" + "".join(f"{n % 3},b{n},{n}\n" for n in range(12)),
    )
    (folder.path / "b.csv").rename(folder.path / "b +é[1].csv")
    rows = same(folder, folder.catalog(FEW, "*.csv"), per_batch=1)
    assert folder.batches == 3
    assert [row[1] for row in rows[:7]] == ["a2", "b0", "b3", "b6", "b9", "c1", "c3"]
    same(folder, folder.catalog(FEW, ["c.csv", "[!c]*.csv"]))
    overlapping = folder.catalog(FEW, ["c.csv", "*.csv"])
    assert ordered(folder.frame(overlapping).collect(), overlapping.extent("it")) == plain(overlapping)
    with pytest.raises(DataError, match="covers a file that another path covers"):
        folder.frame(overlapping, live=True)


def test_columns_go_by_name_file_by_file(folder):
    folder.write(a__csv="tick,s,x\n0,a,1\n", b__csv='x,more,"s", tick\n2,,b,1\n')
    catalog = folder.catalog(FEW, "*.csv")
    assert ordered(folder.frame(catalog).collect(), catalog.extent("it")) == plain(catalog)
    with pytest.raises(DataError, match="different columns"):
        folder.frame(catalog, live=True)


@pytest.mark.nightly
def test_a_named_time_column_that_is_an_attribute_too(folder):
    folder.write(a__csv="at,x\n2009-01-01T00:00:05Z,1\n", a__jsonl='{"x": 2, "at": "2009-01-01T00:00:07"}\n')
    for name in ("a.csv", "a.jsonl"):
        same(folder, folder.catalog("pushed (x:integer, at:timestamp)", {"path": name, "time": "at"}))


@pytest.mark.nightly
def test_folders_that_look_like_partitions(folder):
    for day in (1, 2):
        (folder.path / f"day={day}").mkdir()
        (folder.path / f"day={day}" / "a.csv").write_text(f"tick,s,x\n{day},a,{day}\n")
    same(folder, folder.catalog(FEW, "day=*/a.csv"))
    same(folder, folder.catalog("pushed (x:integer)", "*/*.csv"))
    deep = folder.catalog(FEW, "**/a.csv")
    assert len(folder.frame(deep).collect()) == 2
    with pytest.raises(UsageError, match="does not follow"):
        folder.frame(deep, live=True)


def test_sensed_rows_stand_in_the_order_of_the_sites(folder):
    folder.write(a__csv="tick,site,temp\n10,7,1\n0,7,2\n0,3,3\n10,3,4.5\n0,5,\n")
    more = {"every": "10 s", "sites": [7, 5, 3]}
    rows = same(folder, folder.catalog(ROAD, "a.csv", **more))
    assert [row[:2] for row in rows] == [(0, 7), (0, 5), (0, 3), (10, 7), (10, 3)]


@pytest.mark.nightly
def test_declared_order_beats_the_file(folder):
    folder.write(a__csv="tick,s,x\n0,b,1\n0,a,2\n0,,3\n0,a,1\n0,é,0\n0,Z,0\n")
    rows = same(folder, folder.catalog(FEW, "a.csv", order=["s"]))
    assert [row[1] for row in rows] == [None, "Z", "a", "a", "b", "é"]


def test_rows_of_sensed_extents_are_checked(folder):
    folder.write(a__csv="tick,site,temp\n5,7,1\n", b__csv="tick,site,temp\n0,8,1\n", c__csv="tick,site,temp\n0,,1\n")
    more = {"every": "10 s", "sites": [7]}
    fails(folder, ROAD, "a.csv", "it: tick: '5' is no multiple of 10 ticks", **more)
    fails(folder, ROAD, "b.csv", "it: site: '8' is not a site", **more)
    fails(folder, ROAD, "c.csv", "it: site: nothing is not a site", **more)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "one"), ("integer", "1.5"), ("integer", "9223372036854775808"), ("float", "1_0"),
        ("float", "inf"), ("boolean", "yes"), ("timestamp", "2009-02-30"), ("decimal", "x"), ("time", "1e3"),
    ],
)  # fmt: skip
def test_a_cell_that_says_no_value_fails(folder, kind, text):
    folder.write(a__csv=f"tick,x\n0,\n1,{text}\n")
    fails(folder, f"pushed (x:{kind})", "a.csv", f"it: x: '{text}' is not of type {kind}")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", '"1"'), ("integer", "1.5"), ("integer", "true"), ("float", '"1"'), ("float", "Infinity"),
        ("string", "1"), ("boolean", '"true"'), ("timestamp", "5"), ("decimal", "true"), ("string", "[1]"),
    ],
)  # fmt: skip
def test_a_json_value_of_another_type_fails(folder, kind, text):
    folder.write(a__jsonl=f'{{"tick": 0, "x": null}}\n{{"tick": 1, "x": {text}}}\n')
    fails(folder, f"pushed (x:{kind})", "a.jsonl", "it: x: ", f"is not of type {kind}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "it: tick: 'x' is neither a tick nor an instant"),
        ("", "it: tick: nothing is neither a tick nor an instant"),
        ("-1", "it: tick: '-1' lies before tick 0"),
        ("2008-12-31", "it: tick: '2008-12-31' lies before tick 0"),
        ("99999999999999999999", "neither a tick nor an instant"),
        ("1,2", "it: not the 2 cells of the header: 1,2,5"),
        ('"1', "it: a quote is not closed"),
    ],
)
def test_a_line_that_is_wrong_fails(folder, text, words):
    folder.write(a__csv=f"tick,x\n{text},5\n")
    fails(folder, "pushed (x:integer)", "a.csv", words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("oops", "it: the line is no JSON object: oops"),
        ('[{"tick": 1, "x": 2}]', "it: the line is no JSON object"),
        ('{"tick": 1}', "it: no value for x"),
        ('{"x": 1}', "it: no value for tick"),
        ('{"tick": null, "x": 1}', "is neither a tick nor an instant"),
        ('{"tick": true, "x": 1}', "'true' is neither a tick nor an instant"),
    ],
)
def test_a_json_line_that_is_wrong_fails(folder, line, words):
    folder.write(a__jsonl='{"tick": 0, "x": 1}\n' + line)
    fails(folder, "pushed (x:integer)", "a.jsonl", words)


def test_a_line_break_in_a_cell_is_refused(folder):
    folder.write(a__csv='tick,s\n0,"a\n5,b"\n')
    fails(folder, "pushed (s:string)", "a.csv", "a cell holds a line break")


def test_files_that_do_not_fit_are_refused_at_once(folder):
    folder.write(a__csv="tick,y\n", b__csv="when,x\n", _c__csv="tick,x\n")
    for name, words in (
        ("a.csv", "no column x for it"),
        ("b.csv", "no column tick for it"),
        ("_c.csv", "does not read a file"),
        ("none.csv", "no file none.csv"),
        ("*.parquet", "no file"),
    ):
        for live in (True, False):
            with pytest.raises(DataError, match=words):
                folder.frame(folder.catalog("pushed (x:integer)", name), live=live)


@pytest.mark.covers("source:files")
def test_a_live_run_goes_on_with_files_that_come_later(folder):
    folder.write(a__csv="tick,s,x\n0,a,1\n")
    catalog = folder.catalog(FEW, "*.csv")
    frame = folder.frame(catalog, live=True)
    out = str(folder.path / "out")
    for rows in (1, 2):
        writer = frame.writeStream.format("parquet").option("checkpointLocation", str(folder.path / "_check"))
        writer.trigger(availableNow=True).start(out).awaitTermination()
        assert folder.spark.read.parquet(out).count() == rows
        folder.write(b__csv="tick,s,x\n1,b,2\n")
    folder.write(c__csv="tick,x,s\n1,2,b\n")
    with pytest.raises(Exception, match="the header is not that of the first file"):
        writer.trigger(availableNow=True).start(out).awaitTermination()


def test_a_live_run_over_json_lines_begins_without_files(folder):
    catalog = folder.catalog(FEW, "*.jsonl")
    frame = folder.frame(catalog, live=True, position=False)
    assert folder.drained(frame) == []
    folder.write(a__jsonl='{"tick": 1, "s": "a", "x": 2}\n')
    assert len(folder.drained(frame)) == 1


TABLE = "stored (a:integer, s:string)"


def rows_of_table(folder: Folder, catalog: Catalog) -> tuple[list[tuple], list[int]]:
    rows = folder.frame(catalog).collect()
    found = ordered([row for row in rows if not row["is_version"]], catalog.extent("it"), "version")
    return found, sorted(row["version"] for row in rows if row["is_version"])


def test_tables_in_files(folder):
    folder.write(a__csv="a,s\n2,y\n1,x\n", b__csv="tick,a,s\n5,3,z\n0,,\n", c__jsonl='{"a": 4, "s": "w"}\n')
    for files in ("a.csv", "b.csv", "*.csv", {"path": "b.csv", "time": "tick"}, "c.jsonl"):
        catalog = folder.catalog(TABLE, files)
        assert rows_of_table(folder, catalog) == (plain_table(catalog), [])


def test_a_table_with_an_attribute_tick(folder):
    folder.write(a__csv="tick,s\n9,y\n")
    catalog = folder.catalog("stored (tick:integer, s:string)", "a.csv")
    assert rows_of_table(folder, catalog)[0] == plain_table(catalog) == [(0, 9, "y")]


@pytest.mark.nightly
def test_versions_in_files_even_empty_ones(folder):
    folder.write(a__csv="a,s\n2,y\n1,x\n", b__csv="a,s\n")
    catalog = folder.catalog(TABLE, {"versions": {0: "a.csv", 7: "b.csv", 9: "a.csv"}})
    assert rows_of_table(folder, catalog) == (plain_table(catalog), [0, 7, 9])


@pytest.mark.covers("source:table")
def test_an_inline_table(folder):
    entry = {"declare": "stored (d:decimal, at:timestamp, s:string)"}
    rows = [["2.50", "2009-01-01T01:00:00Z", "é"], [None, None, None]]
    entry["source"] = {"table": {"versions": {0: rows, 3: [], 9: rows[:1]}}}
    catalog = Catalog.from_dict({"extents": {"it": entry}})
    assert rows_of_table(folder, catalog) == (plain_table(catalog), [0, 3, 9])
