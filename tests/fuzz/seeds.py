"""What the fuzzer starts from: queries and catalogs that are right, or wrong in an interesting way."""

from __future__ import annotations

from functools import cache

import yaml

from transom.catalog.catalog import Catalog
from transom.languages.cql.unparse import unparse as write_cql
from transom.languages.sneeql.unparse import unparse

from ..cases import golden_cases
from ..languages.cql_trees import CqlTrees
from ..languages.syntax_trees import Trees
from ..languages.test_error_messages import GOLDEN as ERRORS
from ..languages.test_error_messages import SECTIONS

CATALOG = """\
tick: 1 s
epoch: 2009-01-01T00:00:00Z
extents:
  road:
    declare: sensed (site:integer, time:integer, temp:integer, vibration:integer) RATE 1 MIN SITES (1, 2, 3)
    source: {files: {path: [data/road.csv, data/*.csv], format: csv}}
  traffic:
    kind: pushed
    attributes: {site: integer, time: time, weight: float, vehicle: string, at: timestamp, price: decimal, ok: boolean}
    rate: 20 per min
    order: [site]
    source:
      generate:
        seed: 7
        arrivals: {poisson: 12 per min}
        gaps: {chance: 0.05, spans: [{from: 10 min, to: 20 min}]}
        attributes:
          site: {choice: [1, 2]}
          weight: {walk: {start: 20, step: 1, min: 0, max: 40}}
          vehicle: {choice: {values: [car, lorry], weights: [4, 1]}}
          at: clock
          time: clock
          price: {sine: {mean: 1.5, amplitude: 1, period: 1 d, noise: 0.1}}
          ok: {constant: true}
  tempClass:
    kind: stored
    attributes: [temp:integer, "category:string"]
    rows: 100
    source: {table: {versions: {0: [[20, cool], [30, ~]], 600: [{temp: 1, category: warm}]}}}
  a: pushed (x:integer)
  b: pushed (x:integer, y:float)
  cars:
    kind: pushed
    attributes: {id: string, x: float, y: float, speed: integer}
    position: {x: x, y: y, unit: km}
    object: id
    max_speed: 200 km/h
  ships:
    kind: pushed
    attributes: {id: string, lon: float, lat: float}
    position: {lon: lon, lat: lat}
    keys: 100
regions:
  Zone: {polygon: [[0, 0], [10, 0], [10, 10]], on: plane}
  Sea: {wkt: "POLYGON ((120 25, 125 25, 125 30, 120 30, 120 25))", on: earth}
"""

_WINDOW = "[FROM NOW-5 TO NOW SLIDE 1 MIN]"
QUERIES = (
    "SELECT * FROM road",
    "SELECT site, temp + 1 AS next FROM road WHERE temp > 20 AND NOT vibration IS NULL -- why\n;",
    "SELECT tick, index, r.temp FROM road AS r WHERE r.site IN (1, 2) OR r.temp BETWEEN 1 AND 2",
    f"SELECT site, COUNT(*), AVG(temp) FROM road {_WINDOW} GROUP BY site HAVING COUNT(*) > 1",
    f"SELECT road.site, category FROM road {_WINDOW}, tempClass [SCAN 10 MIN] WHERE tempClass.temp = road.temp",
    "ISTREAM(SELECT vehicle, weight FROM traffic [FROM NOW-9 TO NOW SLIDE 2 ROWS] AS t WHERE t.ok)",
    f"SELECT s.n FROM (RSTREAM(SELECT COUNT(*) AS n FROM traffic {_WINDOW})) AS s WHERE s.n > 3",
    f"SELECT MAX(q.temp) FROM (SELECT temp FROM road WHERE temp % 2 = 0) AS q {_WINDOW}",
    "SELECT CASE WHEN weight > 3.5 THEN 'heavy' ELSE UPPER(vehicle) || '!' END AS kind FROM traffic",
    "SELECT CASE site WHEN 1 THEN 0.5 WHEN 2 THEN 1e3 END, CAST(price AS float), -weight FROM traffic",
    "SELECT YEAR(at), HOUR(time), TICK(at) - time FROM traffic WHERE at > '2009-03-01' AND time < TIME '2010-01-01'",
    f"SELECT SUM(price), MIN(vehicle), site + 1 FROM traffic {_WINDOW} GROUP BY site + 1",
    "SELECT l.x, r.x FROM a [FROM NOW TO NOW SLIDE 1 SEC] AS l, a [FROM NOW-1 TO NOW-1 SLIDE 1 SEC] AS r",
    "SELECT \"a\".\"x\", 'it''s', NULL IS NULL, COALESCE(x, 0) FROM a WHERE x NOT IN (NULL, 1)",
    "SELECT category FROM tempClass WHERE category LIKE 'c%' AND temp NOT BETWEEN -1 AND +1",
    f"SELECT 1, 'x' FROM a {_WINDOW} HAVING 1 = 1",
    f'SELECT "COUNT(*)", COUNT(*) FROM (RSTREAM(SELECT COUNT(*) FROM a {_WINDOW})) {_WINDOW} GROUP BY "COUNT(*)"',
    "DSTREAM(SELECT * FROM a [FROM NOW-3 TO NOW-1 SLIDE 1 HOUR], b [FROM NOW TO NOW SLIDE 1 ROW])",
)

_WAY = "[PARTITION BY id RANGE BY '50 km' RATTR SPACE, SLIDE BY '10 km' SATTR SPACE]"
CQL = (
    f"SELECT RStream (R.id, AvgSpd(R)) FROM R=cars {_WAY}",
    f"SELECT RStream(mycar, PathLength(R), COUNT(*) AS n) FROM R=cars {_WAY} HAVING COUNT(*) > 1 -- why",
    "SELECT RStream(Stamps(*)) FROM ships [RANGE BY Sea RATTR SPACE] WHERE id=‘o1’",
    "SELECT IStream(A.id, B.id) FROM A=cars [RANGE ‘60 minutes’, SLIDE ‘10 minutes’], B=ships [ROWS 2] WHERE A.id=B.id",
    "SELECT DStream(id, t) FROM cars [PARTITION BY id ROWS 1] WHERE inside(g, Zone) AND t > 5",
    "SELECT c.id, category FROM cars [ROWS 5 SLIDE 2] AS c LEFT JOIN tempClass ON c.speed = temp",
    "SELECT site FROM road [NOW] UNION ALL (SELECT x FROM a [UNBOUNDED] EXCEPT SELECT x FROM b [RANGE 5 s])",
    "SELECT DISTINCT RStream(x) FROM a [NOW] WHERE x IN (SELECT site FROM road [NOW]) AND NOT EXISTS "
    "(SELECT * FROM b [NOW] WHERE b.x = a.x)",
    "SELECT MAX(q.n) FROM (SELECT RStream(COUNT(*) AS n) FROM a [RANGE '1 min']) AS q [ROWS 10]",
    "SELECT RStream(id) FROM cars "
    "[RANGE BY Zone RATTR SPACE, RANGE BY '5 min' RATTR TIME, SLIDE BY '1 min' SATTR TIME]",
    "SELECT A.id, DISTANCE(A.g, B.g), HEADING(A.g, POINT(1, 2)) FROM A=cars [NOW], B=cars [NOW] "
    "WHERE within(A.g, B.g, '5 km') AND SPEED(A.g, A.t, B.g, B.t) > 1",
    "IStream(SELECT vehicle, weight FROM traffic [PARTITION BY site, vehicle RANGE UNBOUNDED] WHERE weight > 1.5)",
    "SELECT id FROM cars [PARTITION BY id RANGE BY '10 minutes' RATTR TIME, SLIDE BY ‘10 kms SATTR SPACE’]",
)

CATALOGS = (
    CATALOG,
    "road: sensed (site:integer, temp:float) RATE 1 MIN SITES (1, 2)\n"
    "traffic: pushed (site:integer) RATE 20 per min\n"
    "tempClass: stored (temp:integer, category:string)\n",
    "# a comment\n{tick: 500 ms, extents: {a: {kind: pushed, attributes: {x: integer}}, 'b': 'stored (y:string)'}}\n",
    "extents:\n  t:\n    declare: |\n      stored (x:integer,\n              y:string)\n    source:\n"
    "      files: {versions: {0: a.csv, 600: b.csv}}\n",
)


@cache
def query_seeds() -> tuple[str, ...]:
    """Right queries most of all, then generated ones and those of the golden files."""
    golden = [case.text for case in golden_cases()]
    generated = [unparse(Trees(seed).query(room=1 + seed % 4)) for seed in range(100)]
    return (*QUERIES * 8, *golden, *generated, *_errors("parse", "names", "types", "rules"))


@cache
def cql_seeds() -> tuple[str, ...]:
    """Right queries of CQL most of all, then generated ones and those of the golden file."""
    golden = [case.text for case in golden_cases("cql")]
    generated = [write_cql(CqlTrees(seed).query(room=1 + seed % 4)) for seed in range(60)]
    return (*CQL * 8, *golden, *generated, *_errors("cql"))


@cache
def catalog_seeds() -> tuple[str, ...]:
    """Right catalogs most of all, then the wrong ones of the golden file."""
    return (*CATALOGS * 8, *_errors("catalogs"))


@cache
def catalog() -> Catalog:
    """What mutated queries are asked over."""
    return Catalog.read(CATALOG)


def _errors(*sections: str) -> list[str]:
    content = yaml.safe_load(ERRORS.read_text("utf-8"))
    return [entry["text"] for section in SECTIONS if section in sections for entry in content[section]]
