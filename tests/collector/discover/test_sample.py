"""First catalogs from files; those of servers are in tests/servers."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import transom
from transom.catalog import Catalog
from transom.catalog.extent import ExtentKind
from transom.cli.app import app
from transom.collector.discover.infer import (
    ABSENT,
    infer_clock,
    infer_decimal,
    infer_time_column,
    infer_type,
    near_time_column,
    parse_cell,
)
from transom.collector.discover.names import valid_name
from transom.collector.discover.servers import discover_catalog
from transom.connectors import open_stream
from transom.connectors.kafka import read as kafka_read
from transom.connectors.kafka.settings import python_settings
from transom.errors import DataError, UsageError

START = datetime(2024, 6, 1, 6, tzinfo=UTC)
ROWS = "at,line,machine,watts,on\n" + "".join(
    f"2024-06-01T06:00:{n:02}Z,{'ab'[n % 2]},{n:03},{n / 4 if n else ''},{str(n % 2 == 0).lower()}\n" for n in range(10)
)


def extent_of(text):
    [extent] = Catalog.read(text).extents.values()
    return extent


def answered(text, query, folder):
    """What a query over a first catalog gives."""
    return transom.compile(query, Catalog.read(text, folder=folder)).simulate()


def test_a_stream_in_a_file(tmp_path):
    (tmp_path / "power.csv").write_text(ROWS)
    text = discover_catalog(str(tmp_path / "power.csv"))
    extent = extent_of(text)
    assert extent.declaration == "power: pushed (line:string, machine:string, watts:float, on:boolean)"
    assert extent.source.time == "at"
    assert extent.keys == 2
    assert extent.rate.rows == 134
    assert text.count("guess") == 6  # tick, epoch, types, rate, keys, time
    assert Catalog.read(text).calendar.epoch == datetime(2024, 6, 1, tzinfo=UTC)
    windows = "SELECT COUNT(*) AS n FROM power [FROM NOW-4 TO NOW SLIDE 5 SEC]"
    assert [w.rows for w in answered(text, windows, tmp_path).windows][-1] == ((5,),)


def test_a_table_in_a_file(tmp_path):
    (tmp_path / "9 classes.jsonl").write_text('{"temp": 1, "name": "cold"}\n{"temp": 2.5, "name": null}\n')
    text = discover_catalog(str(tmp_path / "9 classes.jsonl"))
    assert extent_of(text).declaration == "_9_classes: stored (temp:float, name:string)"
    found = answered(text, "RSTREAM(SELECT temp, name FROM _9_classes [SCAN 1 SEC])", tmp_path)
    assert {e.row for e in found.elements} == {(1.0, "cold"), (2.5, None)}


def test_parquet_of_many_types(tmp_path):
    count = 8
    columns = {
        "ts": pa.array([START + timedelta(seconds=30 * n) for n in range(count)], pa.timestamp("us", "UTC")),
        "sensor_id": pa.array([n % 2 for n in range(count)], pa.int64()),
        "price": pa.array([Decimal("1.25")] * count),
        "day": pa.array([date(2024, 6, 1)] * count),
        "none": pa.array([None] * count, pa.string()),
        "tags": pa.array([["a"]] * count),
        "not a name": pa.array([1] * count),
        "huge": pa.array([2**64 - 1] * count, pa.uint64()),
    }
    pq.write_table(pa.table(columns), tmp_path / "many.parquet")
    text = discover_catalog(str(tmp_path / "many.parquet"))
    declared = "sensor_id:integer, price:decimal, day:timestamp, none:string, not_a_name:integer, huge:decimal"
    assert extent_of(text).declaration == f"many: pushed ({declared})"
    assert extent_of(text).keys == 2
    assert "# left out: tags" in text
    assert extent_of(text).source.fields == (("not_a_name", "not a name"),)
    found = answered(text, "SELECT sensor_id, price, day, none, huge FROM many", tmp_path).elements
    assert [e.tick for e in found] == [6 * 3600 + 30 * n for n in range(count)]
    assert found[1].row == (1, Decimal("1.25"), datetime(2024, 6, 1, tzinfo=UTC), None, Decimal(2**64 - 1))


def test_moving_objects_have_an_object(tmp_path):
    """Without `object` a path would jump between vehicles."""
    rows = "".join(f"2024-06-01T06:00:{n:02}Z,{'ab'[n % 2]},v{n % 2},8.{n},47.{n},{n}\n" for n in range(10))
    (tmp_path / "gps.csv").write_text("time,line,vehicle_id,longitude,latitude,speed_kmh\n" + rows)
    extent = extent_of(discover_catalog(str(tmp_path / "gps.csv")))
    assert (extent.position.x, extent.position.y, extent.object) == ("longitude", "latitude", "vehicle_id")
    one = "".join(f"2024-06-01T06:00:{n:02}Z,219000001,8.{n},47.{n}\n" for n in range(10))
    (tmp_path / "ship.csv").write_text("time,MMSI,Gps Lon,Gps Lat\n" + one)
    extent = extent_of(discover_catalog(str(tmp_path / "ship.csv")))
    assert (extent.position.x, extent.position.y, extent.object) == ("Gps_Lon", "Gps_Lat", "MMSI")
    (tmp_path / "lone.csv").write_text("time,lon,lat\n2024-06-01T06:00:00Z,8.5,47.5\n2024-06-01T06:00:01Z,8.6,47.5\n")
    text = discover_catalog(str(tmp_path / "lone.csv"))
    assert extent_of(text).object is None
    assert "# note: no column seems to name the moving object" in text


def test_odd_headers_and_times_make_a_stream(tmp_path):
    """No measurement is lost because of the name of its column, and no stream because of the format of its time."""
    rows = [f"01/05/2024 08:00:{n:02},{n % 2 + 1},40001,{n / 2}" for n in range(10)]
    (tmp_path / "meters.csv").write_text("\n".join(["Time,Device ID,register,raw value", *rows]) + "\n")
    text = discover_catalog(str(tmp_path / "meters.csv"))
    extent = extent_of(text)
    assert extent.declaration == "meters: pushed (Device_ID:integer, register:integer, raw_value:float)"
    assert "time_format: '%d/%m/%Y %H:%M:%S'  # a guess, by the values; %m/%d/%Y %H:%M:%S fits as well" in text
    assert Catalog.read(text).calendar.epoch == datetime(2024, 5, 1, tzinfo=UTC)
    found = answered(text, "SELECT Device_ID, raw_value FROM meters WHERE Device_ID = 2", tmp_path).elements
    assert [(e.tick - 8 * 3600, e.row) for e in found][:2] == [(1, (2, 0.5)), (3, (2, 1.5))]
    (tmp_path / "us.csv").write_text("when,x\n5/13/2024 8:05 PM,1\n5/1/2024 8:06 PM,2\n")
    assert "time_format: '%m/%d/%Y %I:%M %p'  # a guess, by the values\n" in discover_catalog(str(tmp_path / "us.csv"))


def test_file_without_a_time_is_said_to_be_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("Time,raw value\nnoon,1\nlater,2\n")
    done = CliRunner().invoke(app, ["init", "t.csv"])
    assert done.exit_code == 0, done.output
    assert "note: no column has a time that is recognised, so this is a table" in done.output
    assert (
        extent_of((tmp_path / "catalog.yaml").read_text()).declaration == "t: stored (Time:string, raw_value:integer)"
    )


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        (
            ["Time,x", "01/05/2024 08:00:00,1", "02/05/2024 08:00:00,2", "noon,3"],
            "Time looks like %d/%m/%Y %H:%M:%S, but 'noon' does not match",
        ),
        (["Time,x", "01/05/2024 08:00:00,1", ",2"], "Time looks like %d/%m/%Y %H:%M:%S, but 1 of 2 rows have none"),
        (
            ["read,x", "2024-05-01T08:00:00Z,1", "2024-05-01T08:00:01Z,1", "soon,2"],
            "read looks like ISO 8601, but 'soon' does not match",
        ),
        (["Time,x", "8 sharp,1"], "Time is called like a time, but the format of '8 sharp' is unknown"),
        (["made,sold", "2024-05-01,2024-05-02"], "made, sold: each may be the time; choose one as time: COLUMN"),
    ],
)
def test_the_column_that_is_nearly_the_time_is_named(tmp_path, monkeypatch, lines, note):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(app, ["init", "t.csv"])
    assert done.exit_code == 0, done.output
    assert f"note: {note}\n" in done.output
    assert extent_of((tmp_path / "catalog.yaml").read_text()).kind is ExtentKind.STORED


def test_no_column_is_nearly_the_time():
    assert near_time_column({"x": [1, 2], "name": ["a", "b"], "none": [None, None]}) is None


def test_a_source_without_time_formats_says_so():
    columns = {"at": ["01/05/2024 08:00", "02/05/2024 08:00"]}
    expected = "at looks like %d/%m/%Y %H:%M, but only CSV and JSON lines have a time_format"
    assert near_time_column(columns, has_time_format=False) == expected


def test_lines_out_of_order_and_with_gaps(tmp_path):
    rows = [{"ts": (START + timedelta(seconds=s)).isoformat(), "x": s, "y": "a"} for s in (0, 10, 4, 20)]
    del rows[2]["y"]
    (tmp_path / "late.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = discover_catalog(str(tmp_path / "late.jsonl"))
    assert extent_of(text).declaration == "late: pushed (x:integer)"
    assert extent_of(text).lateness == 12
    assert "y, which 1 of 4 do not have" in text
    assert [e.row for e in answered(text, "SELECT x FROM late", tmp_path).elements] == [(0,), (4,), (10,), (20,)]


@pytest.mark.parametrize(("length", "factor"), [("1 s", 1), ("1 ms", 1000), ("1 us", 1_000_000)])
def test_numbers_since_1970(tmp_path, length, factor):
    seconds = [int(START.timestamp()) + n for n in (0, 1, 3)]
    (tmp_path / "n.csv").write_text("ts,x\n" + "".join(f"{s * factor},{s}\n" for s in seconds))
    text = discover_catalog(str(tmp_path / "n.csv"))
    assert f"tick: {length}  # a guess" in text
    catalog = Catalog.read(text, folder=tmp_path)
    found = transom.compile("SELECT x FROM n", catalog).simulate().elements
    assert [catalog.calendar.instant_of(e.tick).timestamp() for e in found] == seconds
    assert extent_of(text).rate is not None


def test_ticks_stay_ticks(tmp_path):
    (tmp_path / "n.csv").write_text("x,tick\n1,0\n2,5\n")
    text = discover_catalog(str(tmp_path / "n.csv"))
    assert "epoch" not in text
    assert [e.tick for e in answered(text, "SELECT x FROM n", tmp_path).elements] == [0, 5]


def test_a_track(tmp_path):
    points = "".join(f'<trkpt lat="47.5{n}" lon="8.25"><time>2024-06-01T06:00:1{n}Z</time></trkpt>' for n in range(3))
    (tmp_path / "tour.gpx").write_text(f'<gpx version="1.1"><trk><trkseg>{points}</trkseg></trk></gpx>')
    text = discover_catalog(str(tmp_path / "tour.gpx"))
    assert "position: {lon: lon, lat: lat}  # a guess" in text
    assert len(answered(text, "SELECT lon, lat FROM tour", tmp_path).elements) == 3


def test_the_catalog_names_the_file_from_where_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for number in range(2):
        (tmp_path / "data" / f"{number}.csv").write_text(f"tick,x\n{number},{number}\n")
    (tmp_path / "catalogs").mkdir()
    done = CliRunner().invoke(app, ["init", "data/*.csv", "-o", "catalogs/first.yaml"])
    assert done.exit_code == 0, done.output
    found = transom.compile("SELECT x FROM data", Catalog.load(tmp_path / "catalogs/first.yaml")).simulate()
    assert [e.row for e in found.elements] == [(0,), (1,)]


@pytest.mark.parametrize(
    "place",
    [
        "nothing.csv",
        "redis://a/b",
        "notes.txt",
        "kafka://a:9092",
        "kafka://u:${P}@a:9092/t",
        "mqtt://eng:sesame@a/t",
        "postgresql://eng:sesame@a/d/t",
        "postgresql://eng:se/sesame@a/d/t",
        "postgresql://eng@a/d/t?password=sesame",
        "mqtt://a:port/t",
        "postgresql://a/d",
    ],
)
def test_refused(place):
    with pytest.raises(UsageError) as caught:
        discover_catalog(place)
    assert "sesame" not in str(caught.value)


def test_reasons_for_what_cannot_be_looked_at(tmp_path, monkeypatch):
    (tmp_path / "a.nt").write_text("<http://ex/a> <http://ex/b> 1 .\n")
    with pytest.raises(UsageError, match="holds RDF, which has no columns"):
        discover_catalog(str(tmp_path / "a.nt"))
    monkeypatch.setattr(kafka_read, "_PATIENCE", 2.0)
    with pytest.raises(DataError, match=r"cannot read the topic t at 127\.0\.0\.1:1"):
        discover_catalog("kafka://127.0.0.1:1/t")


@pytest.mark.parametrize("place", ["postgresql://eng:{}@127.0.0.1:1/d/t", "mqtt://eng:{}@127.0.0.1:1/t/@x/+"])
def test_a_secret_in_a_file(place, tmp_path):
    with pytest.raises(UsageError, match=r"cannot read .*/none"):
        discover_catalog(place.format(f"${{file:{tmp_path}/none}}"), 0.1)
    (tmp_path / "pw").write_text("sesame")
    with pytest.raises(UsageError, match=r"127\.0\.0\.1") as caught:
        discover_catalog(place.format(f"${{file:{tmp_path}/pw}}"), 0.1)
    assert "sesame" not in str(caught.value)


def test_refused_options(tmp_path):
    with pytest.raises(UsageError, match=r"the option ssl\.key\.password is a secret"):
        discover_catalog("kafka://a:9092/t", kafka_options={"ssl.key.password": "sesame"})
    with pytest.raises(UsageError, match="options are for Kafka"):
        discover_catalog("mqtt://a/t", kafka_options={"x": "1"})
    for words in ("ssl", "=1"):
        done = CliRunner().invoke(app, ["init", "kafka://a:9092/t", "-o", str(tmp_path / "no"), "--option", words])
        assert done.exit_code != 0
        assert not (tmp_path / "no").exists()
    (tmp_path / "empty.csv").write_text("tick,x\n")
    with pytest.raises(UsageError, match="has no rows"):
        discover_catalog(str(tmp_path / "empty.csv"))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None, 3], "integer"),
        ([1, 2.5], "float"),
        ([1, 2**70], "decimal"),
        ([Decimal("1.5"), 2], "decimal"),
        ([True, False], "boolean"),
        ([True, 1], None),
        ([1, "a"], None),
        (["2024-06-01T06:00:00Z", "2024-06-01"], "timestamp"),
        (["2024-06-01T06:00:00Z", "soon"], "string"),
        (["1717221600000"], "string"),
        ([None, ABSENT], "string"),
        ([[1]], None),
        ([float("inf")], None),
    ],
)
def test_types(values, kind):
    assert infer_type(values) == kind


def test_words():
    assert [parse_cell(cell) for cell in ("007", "7", "-0.5", "1e3", "TRUE", "nan", "a", None)] == [
        "007", 7, -0.5, 1000.0, True, "nan", "a", None,
    ]  # fmt: skip
    assert valid_name("A", ["a", "a_2"]) == "A_3"
    assert (
        infer_time_column({"x": [1], "meta.ts": ["2024-06-01T06:00:00Z"], "other": ["2024-06-01T06:00:00Z"]})
        == "meta.ts"
    )
    assert infer_time_column({"created_at": ["2024-06-01T06:00:00Z"], "b": ["2024-06-01T06:00:00Z"]}) == "created_at"
    assert infer_time_column({"a": ["2024-06-01T06:00:00Z"], "b": ["2024-06-01T06:00:00Z"]}) is None
    assert infer_time_column({"time": [None, 1], "when": [-1, 2], "x": [2, 3]}) is None
    assert infer_clock([5, 6]).epoch is None


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Getriebeöl_Temp", "Getriebeoel_Temp"),
        ("Tür", "Tuer"),
        ("Tu\u0308r", "Tuer"),
        ("Ölstand", "Oelstand"),
        ("ÖLSTAND", "OELSTAND"),
        ("Straße", "Strasse"),
        ("température", "temperature"),
        ("Łódź", "Lodz"),
        ("Dauer [µs]", "Dauer_us"),
        ("m³/h", "m3_h"),
        ("温度", "source"),
    ],
)
def test_letters_beyond_ascii_are_spelled(header, name):
    assert valid_name(header) == name


def test_options_of_kafka_as_the_library_knows_them(monkeypatch):
    """Java has one text for user and password, librdkafka has two settings."""
    monkeypatch.setenv("JAAS", r'org.apache.PlainLoginModule required username="eng" password="a\"b";')
    source = (
        Catalog.from_dict(
            {
                "extents": {
                    "it": {
                        "declare": "pushed (x:string)",
                        "source": {
                            "kafka": {
                                "servers": "a:1",
                                "topic": "t",
                                "options": {"sasl.jaas.config": "${JAAS}", "security.protocol": "SASL_SSL"},
                            }
                        },
                    }
                }
            }
        )
        .extents["it"]
        .source
    )
    found = python_settings(source)
    login = {"security.protocol": "SASL_SSL", "sasl.username": "eng", "sasl.password": 'a"b'}
    assert found == {"bootstrap.servers": "a:1", **login}


@pytest.mark.parametrize(
    ("columns", "decimal"),
    [
        ({"a": ["1,5", "2", None]}, ","),
        ({"a": ["1.5", "2"]}, "."),
        ({"a": ["1,5"], "b": ["2.5"]}, "."),
        ({"a": ["1,5", "x"]}, "."),
        ({"a": ["1"]}, "."),
        ({"a": ["01.05.2024"], "b": ["-0,25"]}, ","),
        ({"a": ["1.234,5"]}, "."),
    ],
)
def test_the_decimal_mark_is_that_of_columns_of_numbers(columns, decimal):
    assert infer_decimal(columns) == decimal


def test_a_file_with_semicolons_and_decimal_commas(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("tick;site;temp;note\n0;1;21,5;1.5\n1;2;19,0;x\n", "utf-8")
    text = discover_catalog(str(path), catalog_folder=tmp_path)
    assert "declare: pushed (site:integer, temp:float, note:string)" in text
    assert "delimiter: ';'  # a guess, by the first lines" in text
    assert "decimal: ','  # a guess, by the numbers" in text
    catalog = Catalog.read(text, folder=tmp_path)
    rows = [element.row for element in open_stream(catalog.extent("m"), catalog.calendar, tmp_path)]
    assert rows == [(1, 21.5, "1.5"), (2, 19.0, "x")]
