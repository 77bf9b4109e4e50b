"""One query for every gap of the planner: docs/engines.md shows them, and a test compiles each."""

from __future__ import annotations

from pathlib import Path

import transom
from transom.physical import gaps
from transom.physical.gaps import Gap
from transom.query import Query

CATALOG = """
epoch: 2026-01-01T00:00:00Z
extents:
  car:
    declare: pushed (id:string, x:float, y:float, speed:integer, price:decimal)
    position: {x: x, y: y, unit: m}
    object: id
  van: pushed (id:string, speed:integer)
  zone: {declare: "stored (id:string, fee:integer)", source: {table: [[a, 1]]}}
  tariff:
    declare: stored (id:string, price:decimal)
    source: {postgresql: {url: "postgresql://eng@db:5432/plant", table: tariff, every: 1 h}}
  warm: {declare: "pushed (sensor:string, temp:float)", source: {query: warm.rq}}
prefixes: {"": http://example.org/}
rdf:
  rooms: {stream: "http://example.org/rooms"}
  house: {graph: "http://example.org/house"}
"""
FILES = {
    "warm.rq": "SELECT ?s ?t FROM STREAM <http://example.org/rooms> WINDOW RANGE 10 S SLIDE WHERE { ?s :temp ?t }",
}
STREAM = "FROM STREAM <http://example.org/rooms> WINDOW RANGE 10 S SLIDE"
GRAPH = "FROM <http://example.org/house>"

ROWS: dict[Gap, str] = {
    gaps.ROW_ORDER: "SELECT RStream(MAX(fee)) "
    "FROM (SELECT RStream(zone.fee) FROM car [ROWS 9] JOIN zone ON car.id = zone.id) AS paid [ROWS 5]",
    gaps.TRACK_ORDER: "SELECT RStream(AvgSpd(car)) FROM car [RANGE '1 min'] JOIN zone ON car.id = zone.id",
    gaps.FOLLOWED_ORDER: "SELECT MAX(price) "
    "FROM (RSTREAM(SELECT price FROM tariff [SCAN 1 MIN])) AS prices [FROM NOW-4 TO NOW SLIDE 1 ROW]",
    gaps.FOLLOWED_WITHOUT_SCAN: "SELECT zone.fee, tariff.price FROM zone, tariff",
    gaps.PERIODS_BY_KEY: "SELECT RStream(id) "
    "FROM car [PARTITION BY id RANGE '1 day', SLIDE '1 day' AT 'Europe/Berlin']",
    gaps.LONG_DECIMAL: "SELECT id FROM car WHERE price > CAST('0.0000000000000000001' AS decimal)",
    gaps.RESULT_ORDER: "SELECT RStream(sensor) FROM warm [ROWS 10]",
}
"""In CQL where there is a converter, else in SNEEql."""

RDF: dict[Gap, str] = {
    gaps.VOLATILE_FUNCTION: f"SELECT ?s ?now {GRAPH} WHERE {{ ?s :in ?r BIND (NOW() AS ?now) }}",
    gaps.VARIABLE_PATTERN: f"SELECT ?s {STREAM} WHERE {{ ?s :name ?n ; :like ?p FILTER REGEX(?n, ?p) }}",
    gaps.UNTRANSLATABLE_PATTERN: f"SELECT ?s {STREAM} WHERE {{ ?s :name ?n FILTER REGEX(?n, '[\\\\W]') }}",
    gaps.RELATIVE_IRI: f"BASE <http://example.org/> SELECT ?i {STREAM} WHERE {{ ?s :name ?n BIND (IRI(?n) AS ?i) }}",
}
"""In SPARQL."""


def compiled(gap: Gap, folder: Path) -> Query:
    """The example of a gap as a query, with the files of its catalog in a folder."""
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    catalog = transom.Catalog.read(CATALOG, folder=folder)
    if gap in RDF:
        return transom.compile(RDF[gap], catalog, language="sparql")
    return transom.compile(ROWS[gap], catalog, language="cql" if "Stream(" in ROWS[gap] else "sneeql")
