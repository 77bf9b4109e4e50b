"""AIS, GPX and GeoJSON on Spark give what the plain readers give."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pyspark")

from tests.connectors.test_tracks import FRONT, GPX, LINE, POINTS, SHIPS, sentence, sentences
from tests.spark.connectors.reading import Folder, fails, same


@pytest.fixture
def folder(spark, tmp_path) -> Folder:
    return Folder(spark, tmp_path)


def test_ais(folder):
    parts = sentences(msg_type=5, shipname="ANNA")
    lines = [FRONT + parts[0], FRONT + sentence(msg_type=1), FRONT + parts[1], FRONT + sentence(msg_type=18, lon=181)]
    folder.write(a__nmea="\ufeff" + "\r\n".join(lines), b__nmea=f"{sentence(msg_type=3)},1230768061\n")
    rows = same(folder, folder.catalog(SHIPS, "*.nmea"))
    assert [row[0] for row in rows] == [60, 60, 61]
    assert rows[1][3] is None
    folder.write(c__nmea="!AIVDM,1,1,,A,11mg=5@01s8d;e0@g:d3MBl;P000,0*00")
    fails(folder, SHIPS, "c.nmea", "line 1: a damaged sentence")


@pytest.mark.nightly
def test_gpx(folder):
    folder.write(first__gpx=GPX, second__gpx=GPX.replace("morning", "evening"))
    rows = same(
        folder, folder.catalog("pushed (track:string, segment:integer, lon:float, ele:float, file:string)", "*.gpx")
    )
    assert len(rows) == 8
    assert {row[-1] for row in rows} == {"first", "second"}


def test_geojson(folder):
    folder.write(a__geojson=json.dumps(POINTS), b__geojson=json.dumps(LINE))
    rows = same(folder, folder.catalog("pushed (lon:float, lat:float, name:string)", ["a.geojson", "b.geojson"]))
    assert [row[0] for row in rows] == [1, 2, 3, 3]
