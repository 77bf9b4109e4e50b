"""Examples for the tables of the documentation: one expression per function, one operator per form of window."""

from __future__ import annotations

from transom import compile
from transom.algebra.cql_windows import (
    distance_window,
    last_rows_window,
    recent_region_window,
    recent_window,
    recent_window_by_distance,
    region_window,
    table_window,
    unbounded_window,
)
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.sources import StoredTable, StreamReceive
from transom.algebra.tree import walk
from transom.algebra.windows import (
    Bound,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    Window,
    row_window,
    scan_window,
    time_window,
)
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import Rdf, rdf_stream
from transom.model.geometry.shapes import from_wkt
from transom.model.geometry.space import Position
from transom.model.periods import LocalDays, PeriodUnit
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type

FUNCTION_EXAMPLES = {
    "AND": "TRUE AND NULL",
    "OR": "TRUE OR NULL",
    "NOT": "NOT FALSE",
    "IS NULL": "NULL IS NULL",
    "=": "2 = 2.0",
    "<>": "'a' <> 'b'",
    "<": "1 < 2",
    "<=": "2 <= 2",
    ">": "'b' > 'a'",
    ">=": "TIME '2024-06-01T06:01:00Z' >= 60",
    "IN": "2 IN (1, 2, NULL)",
    "LIKE": "'lorry' LIKE 'l_r%'",
    "+": "1 + 0.5",
    "-": "TIMESTAMP '2024-06-01' - TIMESTAMP '2024-05-31'",
    "*": "6 * 7",
    "/": "7 / 2",
    "%": "-7 % 3",
    "NEG": "-(2 + 3)",
    "ABS": "ABS(-2.5)",
    "SIGN": "SIGN(-3)",
    "FLOOR": "FLOOR(-2.5)",
    "CEIL": "CEIL(-2.5)",
    "ROUND": "ROUND(2.345, 2)",
    "DIV": "DIV(-7, 2)",
    "SQRT": "SQRT(9)",
    "POWER": "POWER(2, 10)",
    "EXP": "EXP(0)",
    "LN": "LN(1)",
    "LOG10": "LOG10(1000)",
    "GREATEST": "GREATEST(3, NULL, 7)",
    "LEAST": "LEAST(3, NULL, 7)",
    "COALESCE": "COALESCE(NULL, 5)",
    "NULLIF": "NULLIF(5, 5)",
    "||": "'A' || '-' || '1'",
    "CONCAT": "CONCAT('A', '-', '1')",
    "UPPER": "UPPER('ab')",
    "LOWER": "LOWER('AB')",
    "LENGTH": "LENGTH('lorry')",
    "TRIM": "'<' || TRIM('  a ') || '>'",
    "LTRIM": "'<' || LTRIM('  a ') || '>'",
    "RTRIM": "'<' || RTRIM('  a ') || '>'",
    "SUBSTRING": "SUBSTRING('lorry', 2, 3)",
    "LEFT": "LEFT('lorry', 2)",
    "RIGHT": "RIGHT('lorry', 2)",
    "REPLACE": "REPLACE('a-b-c', '-', '.')",
    "POSITION": "POSITION('lorry', 'rr')",
    "STARTS_WITH": "STARTS_WITH('lorry', 'lo')",
    "ENDS_WITH": "ENDS_WITH('lorry', 'lo')",
    "INSTANT": "INSTANT(90)",
    "TICK": "TICK(TIMESTAMP '2024-06-01T06:01:30Z')",
    "YEAR": "YEAR(TIMESTAMP '2024-06-01T06:01:30Z')",
    "MONTH": "MONTH(TIMESTAMP '2024-06-01T06:01:30Z')",
    "DAY": "DAY(TIMESTAMP '2024-06-01T06:01:30Z')",
    "HOUR": "HOUR(INSTANT(90))",
    "MINUTE": "MINUTE(TIME '2024-06-01T06:01:30Z')",
    "SECOND": "SECOND(TIMESTAMP '2024-06-01T06:01:30Z')",
}
"""One expression per function; a test checks that none is missing."""

_KEY = Attribute("car", Type.INTEGER, "s")
_STREAM = StreamReceive("s", Schema((_KEY,)))
_LINE = Position("car", None, unit=1_000_000_000)
_HARBOUR = from_wkt("harbour", "POLYGON ((0 -1, 5 -1, 5 1, 0 1, 0 -1))")
_KM = 1_000_000_000
_TABLE = StoredTable("t", Schema((Attribute("x", Type.INTEGER, "t"),)))
_BERLIN = LocalDays.of("Europe/Berlin", Calendar())
TICK, INDEX, DISTANCE = Coordinate.TICK, Coordinate.INDEX, Coordinate.DISTANCE

_RDF = Catalog(Calendar(1000), rdf=Rdf({"s": rdf_stream("s", "http://s")}))


def _of_sparql(written: str) -> Window:
    """The window that a SPARQL text is translated to."""
    query = compile(f"SELECT * FROM STREAM <http://s> WINDOW {written} WHERE {{ ?x ?p ?y }}", _RDF, language="sparql")
    (window,) = (op for op in walk(query.algebra) if isinstance(op, Window))
    return window


WINDOW_FORMS = {
    "SNEEql `[FROM NOW-5 TO NOW-1 SLIDE 2 SEC]`": time_window(_STREAM, 5, 1, 2),
    "SNEEql `[FROM NOW-5 TO NOW-1 SLIDE 2 ROWS]`": row_window(_STREAM, 5, 1, 2),
    "SNEEql `[FROM NOW-1 TO NOW SLIDE 1 DAY AT 'Europe/Berlin']`": Window(
        _STREAM, EveryPeriod(PeriodUnit.DAY, 1, _BERLIN), PeriodRange(PeriodUnit.DAY, 1, 0, _BERLIN)
    ),
    "CQL `[RANGE '3 months', SLIDE '1 month' AT 'Europe/Berlin']`": Window(
        _STREAM, EveryPeriod(PeriodUnit.MONTH, 1, _BERLIN), PeriodRange(PeriodUnit.MONTH, 3, 0, _BERLIN)
    ),
    "SNEEql `[SCAN 10 SEC]`": scan_window(_TABLE, 10),
    "SNEEql table without `SCAN`": scan_window(_TABLE, None),
    "CQL `[RANGE '60 s', SLIDE '10 s']`": time_window(_STREAM, 60, 0, 10),
    "CQL `[ROWS 3]`": Window(_STREAM, OnArrival(), CoordinateRange(INDEX, Bound(1, -2), Bound(1, 0))),
    "CQL `[ROWS 3 SLIDE 2]`": last_rows_window(_STREAM, 3, 2),
    "CQL `[NOW]`": recent_window(_STREAM, 0),
    "CQL `[UNBOUNDED]`": unbounded_window(_STREAM),
    "CQL table without a window": table_window(_TABLE),
    "CQL window by region": region_window(_STREAM, _LINE, _HARBOUR),
    "CQL window by region, with a slide by time": region_window(_STREAM, _LINE, _HARBOUR, Every(TICK, 10)),
    "CQL window by region, with a slide by distance": region_window(
        _STREAM, _LINE, _HARBOUR, Every(DISTANCE, 10 * _KM)
    ),
    "CQL window by region and by time": recent_region_window(_STREAM, _LINE, _HARBOUR, 60),
    "CQL window by distance, with a slide by distance": distance_window(
        _STREAM, _LINE, 50 * _KM, Every(DISTANCE, 10 * _KM)
    ),
    "CQL window by distance, with a slide by time": distance_window(_STREAM, _LINE, 50 * _KM, Every(TICK, 10)),
    "CQL window by time, with a slide by distance": recent_window_by_distance(_STREAM, _LINE, 60, 10 * _KM),
    "CQL `[PARTITION BY car ROWS 3]`": last_rows_window(_STREAM, 3, key=(_KEY,)),
    "CQL `[PARTITION BY car RANGE '60 s', SLIDE '10 s']`": recent_window(_STREAM, 60, 10, (_KEY,)),
    "SPARQL `RANGE 10 SLIDE 5`": _of_sparql("RANGE 10 SLIDE 5"),
    "SPARQL `ELEMS 3`": _of_sparql("ELEMS 3"),
}
"""Every form of window of the three languages, as the one operator."""
