"""The sources that a catalog may give an extent."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from transom.catalog import Catalog
from transom.catalog.sources import (
    ChoiceSignal,
    ClockSignal,
    ConstantSignal,
    Files,
    FileVersions,
    Format,
    Gaps,
    Generator,
    PoissonArrivals,
    RegularArrivals,
    SineSignal,
    SiteSignal,
    Table,
    WalkSignal,
)
from transom.model.bag import TableVersion
from transom.model.time import Rate

from .marked import CLASSES, ROAD, TRAFFIC, says


def source(extent: str, words: str):
    (found,) = Catalog.read(f"extents:\n{extent}    source: {words}\n").extents.values()
    return found.source


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("{files: a.csv}", Files(("a.csv",), Format.CSV)),
        ("{files: [a.csv, 'b/*.CSV']}", Files(("a.csv", "b/*.CSV"), Format.CSV)),
        ("{files: {path: a.ndjson, time: at}}", Files(("a.ndjson",), Format.JSONL, "at")),
        ("{files: {path: [a.txt, b.csv], format: csv}}", Files(("a.txt", "b.csv"), Format.CSV)),
        ("{files: a.parquet}", Files(("a.parquet",), Format.PARQUET)),
    ],
)
def test_files(words, expected):
    assert source(ROAD, words) == expected


def test_versions_in_files():
    words = "{files: {versions: {600: b.csv, 1970-01-01T00:00:00Z: a.csv}}}"
    assert source(CLASSES, words) == FileVersions(((0, "a.csv"), (600, "b.csv")), Format.CSV)


@pytest.mark.parametrize(
    "words",
    [
        "[[20, cool], [30, ~]]",
        "{rows: [{temp: 20, category: cool}, [30, null]]}",
        "{versions: {0: [[20, cool], [30, ]]}}",
    ],
)
def test_tables(words):
    words = words.replace("[30, ]", "[30, ~]")
    assert source(CLASSES, f"{{table: {words}}}") == Table((TableVersion(0, ((20, "cool"), (30, None))),))


def test_tables_with_versions_are_in_order():
    found = source(CLASSES, "{table: {versions: {600: [], 0: [[20, on]]}}}")
    assert found == Table((TableVersion(0, ((20, "on"),)), TableVersion(600, ())))


def test_generated_readings():
    found = source(ROAD, "{generate: {seed: 7, gaps: 0.5, attributes: {temp: {walk: {start: 1, step: 2, min: 0}}}}}")
    assert found == Generator(7, (SiteSignal(), ClockSignal(), WalkSignal(1, 2, 0, None)), None, Gaps(0.5))


def test_generated_arrivals():
    words = """
      generate:
        arrivals: {poisson: 12 per min}
        gaps: [{from: 10 min, to: 20 min}]
        attributes: {site: {constant: ~}, name: {choice: [on, off]}, at: {clock: true}}"""
    assert source(TRAFFIC, words) == Generator(
        0,
        (ConstantSignal(None), ChoiceSignal(("on", "off"), (1, 1)), ClockSignal()),
        PoissonArrivals(Rate(12, 60)),
        Gaps(0, ((600, 1200),)),
    )


def test_every_signal():
    extent = (
        "  it:\n    kind: pushed\n"
        "    attributes: {a: float, b: decimal, c: timestamp, d: boolean, time: time, e: integer}\n"
    )
    words = """
      generate:
        arrivals: {every: 5 s}
        gaps: {chance: 1, spans: [{from: 0 s, to: 1 h}]}
        attributes:
          a: {sine: {mean: 1, amplitude: 2, period: 1 min, noise: 3}}
          b: {choice: {values: [1, 2.5, "3.10"], weights: [0, 1, 2.5]}}
          c: {constant: 2009-01-01}
          d: {choice: [true]}
          e: clock"""
    assert source(extent, words) == Generator(
        0,
        (
            SineSignal(1, 2, 60, 3),
            ChoiceSignal((Decimal(1), Decimal("2.5"), Decimal("3.10")), (0, 1, 2.5)),
            ConstantSignal(datetime(2009, 1, 1, tzinfo=UTC)),
            ChoiceSignal((True,), (1,)),
            ClockSignal(),
            ClockSignal(),
        ),
        RegularArrivals(5),
        Gaps(1, ((0, 3600),)),
    )


def test_no_source_at_all():
    assert source(ROAD, "") is None


WALK = "temp: {walk: {start: 1, step: 1}}"


@pytest.mark.parametrize(
    ("extent", "marked", "message", "hint"),
    [
        (
            ROAD,
            "«{}»",
            "a source is one of files, generate, table, query and the servers, not 0 of them",
            "files: PATH",
        ),
        (ROAD, "«a.csv»", "expected entries, not 'a.csv'", "{files: data/road.csv}"),
        (
            CLASSES,
            "«{files: a.csv, table: []}»",
            "a source is one of files, generate, table, query and the servers, not 2 of them",
            None,
        ),
        (ROAD, "{«redis»: x}", "unknown entry 'redis'", "write one of files, generate, table"),
        (ROAD, "{files: «5»}", "expected entries, not 5", None),
        (ROAD, "{files: «{}»}", "files take either a path or versions", "files: data/road.csv"),
        (ROAD, "{files: «{path: []}»}", "the list of paths is empty", None),
        (ROAD, "{files: «''»}", "'' is not a path", None),
        (ROAD, '{files: [a.csv, «"\\0.csv"»]}', "'\\x00.csv' is not a path", None),
        (ROAD, "{files: «a.xlsx»}", "cannot tell the format of 'a.xlsx'", "add format"),
        (ROAD, "{files: «[a.csv, a.jsonl]»}", "the files are of different formats", "add format"),
        (
            ROAD,
            "{files: {path: a.csv, format: «cvs»}}",
            "expected csv, jsonl, parquet, ais, gpx or geojson, not 'cvs'",
            "csv?",
        ),
        (ROAD, "{files: {path: [«5»]}}", "expected text, not 5", None),
        (ROAD, "{files: {«versions»: {0: a.csv}}}", "a sensed extent has no versions", None),
        (CLASSES, "{files: {versions: {0: a.csv}, «time»: a}}", "versions have their ticks already", None),
        (CLASSES, "{files: {versions: {«x»: a.csv}}}", "'x' is not an instant", "the tick at which"),
        (CLASSES, "{files: {versions: {«-1»: a.csv}}}", "'-1' lies before tick 0", None),
        (CLASSES, "{files: {«versions»: {0: a.csv, 00: b.csv}}}", "two versions begin at the same tick", None),
        (CLASSES, "{files: {versions: {0: «a»}}}", "cannot tell the format of 'a'", None),
        (ROAD, "{«table»: []}", "a sensed extent has no table", "files or generate"),
        (CLASSES, "{table: «{}»}", "a table takes either rows or versions", "table: {rows"),
        (CLASSES, "{table: [«5»]}", "expected a row, not 5", "[temp, category]"),
        (
            CLASSES,
            "{table: [[1, a], «[1]»]}",
            "this row has 1 value, and the extent has 2 attributes",
            "temp, category",
        ),
        (CLASSES, "{table: [[«x», a]]}", "'x' is not of type integer", "write a whole number of at most 64 bits"),
        (CLASSES, "{table: {rows: [[1, «5»]]}}", "5 is not of type string", "quotes"),
        (CLASSES, "{table: [«{temp: 1}»]}", "expected the entries temp, category", None),
        (CLASSES, "{table: [{temp: «x», category: a}]}", "'x' is not of type integer", None),
        (CLASSES, "{table: {«versions»: {0: [], 00: []}}}", "two versions begin at the same tick", None),
        (
            CLASSES + "    rows: 1\n",
            "{table: {rows: «[[1, a], [2, b]]»}}",
            "2 rows, but at most 1 are declared",
            "declare rows: 2 or more",
        ),
        (CLASSES, "{«generate»: {}}", "a stored extent cannot be generated", "table: {rows"),
        (ROAD, "{generate: {«sed»: 1}}", "unknown entry 'sed'", "did you mean seed?"),
        (ROAD, "{generate: {seed: «x»}}", "expected a whole number, not 'x'", None),
        (ROAD, "{«generate»: {}}", "nothing says how to generate temp", "add temp: {walk"),
        (
            ROAD,
            "{generate: {«attributes»: {}}}",
            "nothing says how to generate temp",
            None,
        ),
        (
            TRAFFIC,
            "{generate: {«attributes»: {site: {constant: 1}}}}",
            "nothing says how to generate name",
            "{choice: [a, b]}",
        ),
        (ROAD, "{generate: {attributes: {«tmp»: {constant: 1}}}}", "no attribute 'tmp'", "did you mean temp?"),
        (
            ROAD,
            "{generate: {attributes: {«site»: {constant: 1}}}}",
            "site is filled with the sites of the extent",
            "leave out",
        ),
        (
            ROAD,
            f"{{generate: {{attributes: {{{WALK}}}, «arrivals»: {{every: 1 s}}}}}}",
            "a sensed extent has no arrivals",
            None,
        ),
        (
            ROAD,
            "{generate: {attributes: {temp: «{}»}}}",
            "expected one of constant, walk, sine, choice, clock, not 0 of them",
            None,
        ),
        (ROAD, "{generate: {attributes: {temp: {«walk»: }}}}", "walk is empty", None),
        (ROAD, "{generate: {attributes: {temp: {«wlk»: 1}}}}", "unknown entry 'wlk'", "did you mean walk?"),
        (ROAD, "{generate: {attributes: {temp: {«walk»: {start: 1}}}}}", "step is missing", None),
        (ROAD, "{generate: {attributes: {temp: {walk: {start: «x», step: 1}}}}}", "expected a number, not 'x'", None),
        (
            ROAD,
            "{generate: {attributes: {temp: {walk: {start: «.nan», step: 1}}}}}",
            "expected a finite number, not nan",
            None,
        ),
        (ROAD, "{generate: {attributes: {temp: {walk: {start: 1, step: «-1»}}}}}", "expected at least 0, not -1", None),
        (
            ROAD,
            "{generate: {attributes: {temp: {walk: {start: «1e13», step: 1}}}}}",
            "expected at most 1e+12, not 10000000000000.0",
            None,
        ),
        (
            ROAD,
            "{generate: {attributes: {temp: {walk: {start: 1, step: 1, min: «2», max: 1}}}}}",
            "min is larger than max",
            None,
        ),
        (
            ROAD,
            "{generate: {attributes: {temp: {walk: {start: «1», step: 1, min: 2}}}}}",
            "start is not between min and max",
            None,
        ),
        (
            ROAD,
            "{generate: {attributes: {temp: {walk: {start: «3», step: 1, max: 2}}}}}",
            "start is not between min and max",
            None,
        ),
        (
            ROAD,
            "{generate: {attributes: {temp: {sine: {mean: 1, amplitude: 1, period: «x»}}}}}",
            "'x' is not a length of time",
            "1 min",
        ),
        (ROAD, "{generate: {attributes: {temp: {choice: «[]»}}}}", "expected at least one value, not a list", None),
        (ROAD, "{generate: {attributes: {temp: {choice: [1, «x»]}}}}", "'x' is not of type float", None),
        (
            ROAD,
            "{generate: {attributes: {temp: {choice: {values: [1], weights: «[1, 2]»}}}}}",
            "2 weights for 1 values",
            None,
        ),
        (
            ROAD,
            "{generate: {attributes: {temp: {choice: {values: [1], weights: [«-1»]}}}}}",
            "a weight is 0 or more",
            None,
        ),
        (ROAD, "{generate: {attributes: {temp: {choice: {values: [1], weights: «[0]»}}}}}", "all weights are 0", None),
        (ROAD, "{generate: {attributes: {temp: {clock: «false»}}}}", "expected True, not false", "clock: true"),
        (
            ROAD,
            "{generate: {attributes: {temp: {«clock»: true}}}}",
            "temp is float, a clock makes integer, time, timestamp",
            None,
        ),
        (ROAD, "{generate: {attributes: {temp: {constant: «x»}}}}", "'x' is not of type float", None),
        (
            TRAFFIC,
            "{generate: {attributes: {site: {constant: 1}, name: {«walk»: {start: 1, step: 1}}}}}",
            "name is string, a walk makes integer, float, decimal",
            None,
        ),
        (
            TRAFFIC,
            "{generate: {attributes: {site: {constant: 1}, name: {«sine»: {mean: 1, amplitude: 1, period: 1 s}}}}}",
            "name is string, a sine makes integer, float, decimal",
            None,
        ),
        (ROAD, f"{{generate: {{attributes: {{{WALK}}}, gaps: «2»}}}}", "expected at most 1, not 2", None),
        (ROAD, f"{{generate: {{attributes: {{{WALK}}}, gaps: «often»}}}}", "expected entries, not 'often'", "0.05"),
        (
            ROAD,
            f"{{generate: {{attributes: {{{WALK}}}, gaps: [{{from: 2 s, to: «1 s»}}]}}}}",
            "a span cannot end before it has begun",
            None,
        ),
        (
            ROAD,
            f"{{generate: {{attributes: {{{WALK}}}, gaps: [{{from: «x», to: 1 s}}]}}}}",
            "'x' is not a length of time",
            None,
        ),
        (
            ROAD,
            f"{{generate: {{attributes: {{{WALK}}}, gaps: {{spans: [«{{from: 1 s}}»]}}}}}}",
            "to is missing",
            "20 min",
        ),
    ],
)
def test_what_does_not_fit_is_underlined(extent, marked, message, hint):
    says(f"extents:\n{extent}    source: {marked}\n", message, hint)


GENERATED = "{generate: {attributes: {site: {constant: 1}, name: {constant: a}, at: clock}%s}}"


@pytest.mark.parametrize(
    ("marked", "message", "hint"),
    [
        (GENERATED.replace("generate", "«generate»", 1) % "", "arrivals is missing", "poisson: 12 per min"),
        (GENERATED % ", arrivals: «{}»", "arrivals take either poisson or every", None),
        (GENERATED % ", arrivals: «5 s»", "expected entries, not '5 s'", "{every: 5 s}"),
        (GENERATED % ", arrivals: {poisson: «often»}", "'often' is not a rate", "20 per min"),
        (GENERATED % ", arrivals: {poisson: «100001 per s»}", "more than 100000 rows per tick", None),
        (GENERATED % ", arrivals: {every: «0 s»}", "'0 s' is shorter than one tick", None),
    ],
)
def test_arrivals_that_do_not_fit(marked, message, hint):
    says(f"extents:\n{TRAFFIC}    source: {marked}\n", message, hint)


def test_readings_need_sites():
    road = "  road:\n    kind: sensed\n    attributes: {site: integer}\n"
    says(
        f"extents:\n{road}    source: {{«generate»: {{}}}}\n",
        "readings cannot be generated without sites",
        "sites: [1, 2]",
    )
