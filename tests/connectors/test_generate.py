"""Made-up rows: reproducible, and the same however far they are run."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

import pytest

from transom.catalog import Catalog
from transom.catalog.sources import Generator
from transom.connectors import open_stream
from transom.connectors.generate.draws import exponential, make_draw, normal, weighted_index
from transom.connectors.generate.read import read_generated
from transom.errors import UsageError
from transom.model.time import Calendar

WALK = {"walk": {"start": 20, "step": 2, "min": 15, "max": 25}}


def generate(declaration: str, until: int, sites: list[object] | None = None, tick: str = "1 s", **settings: object):
    entry = {"declare": declaration, "source": {"generate": {"seed": 7, **settings}}}
    if sites is not None:
        entry["sites"] = sites
    catalog = Catalog.from_dict({"tick": tick, "epoch": "2009-01-01", "extents": {"it": entry}})
    return open_stream(catalog.extent("it"), catalog.calendar, None, until)


def shape(stream):
    return [(element.tick, element.index, *element.row) for element in stream]


def test_golden_readings():
    """These values may never change: people compare what they see with what others saw."""
    stream = generate(
        "sensed (site:integer, time:integer, temp:integer, wind:float) RATE 1 MIN",
        120,
        [2, 1],
        attributes={
            "temp": WALK,
            "wind": {"sine": {"mean": 5, "amplitude": 3, "period": "4 min", "noise": 0.5}},
        },
    )
    assert shape(stream) == GOLDEN_READINGS


def test_golden_arrivals():
    """Neither may these."""
    stream = generate(
        "pushed (vehicle:string, weight:decimal)",
        20,
        arrivals={"poisson": "15 per min"},
        gaps=0.2,
        attributes={
            "vehicle": {"choice": {"values": ["car", "lorry"], "weights": [3, 1]}},
            "weight": {"sine": {"mean": 2, "amplitude": 0, "period": "1 s", "noise": 0.5}},
        },
    )
    assert shape(stream) == GOLDEN_ARRIVALS


SENSED = ("sensed (site:string, time:time, temp:float) RATE 5 s", ["n", "s"], {"attributes": {"temp": WALK}})
PUSHED = (
    "pushed (a:float, b:string)",
    None,
    {"attributes": {"a": WALK, "b": {"choice": ["x", "y"]}}, "arrivals": {"poisson": "40 per min"}},
)


@pytest.mark.parametrize(("declaration", "sites", "settings"), [SENSED, PUSHED])
@pytest.mark.parametrize("gaps", [0, 0.3])
def test_a_shorter_run_is_the_beginning_of_a_longer_one(declaration, sites, settings, gaps):
    long = generate(declaration, 1000, sites, gaps=gaps, **settings)
    for until in (-1, 0, 1, 99, 100, 500):
        short = generate(declaration, until, sites, gaps=gaps, **settings)
        assert short == [element for element in long if element.tick <= until]


@pytest.mark.parametrize(("declaration", "sites", "settings"), [SENSED, PUSHED])
def test_gaps_change_no_other_row(declaration, sites, settings):
    whole = [(e.tick, e.row) for e in generate(declaration, 1000, sites, **settings)]
    spans = [{"from": "100 s", "to": "200 s"}, {"from": "900 s", "to": "1 h"}]
    holed = [(e.tick, e.row) for e in generate(declaration, 1000, sites, gaps=spans, **settings)]
    assert holed == [row for row in whole if not (100 <= row[0] < 200 or row[0] >= 900)]
    thinned = [(e.tick, e.row) for e in generate(declaration, 1000, sites, gaps=0.25, **settings)]
    assert set(thinned) < set(whole)
    assert 0.6 < len(thinned) / len(whole) < 0.9
    assert generate(declaration, 1000, sites, gaps=1, **settings) == []


def test_an_attribute_is_not_disturbed_by_others():
    one = generate("sensed (site:integer, temp:float)", 50, [1], attributes={"temp": WALK})
    two = generate("sensed (site:integer, temp:float, x:float)", 50, [3, 1], attributes={"temp": WALK, "x": WALK})
    assert [e.row[1] for e in one] == [e.row[1] for e in two if e.row[0] == 1]
    assert [e.row[1] for e in two] != [e.row[2] for e in two]


def test_seeds_differ():
    one = generate("pushed (x:float)", 20, arrivals={"every": "5 s"}, attributes={"x": WALK})
    two = generate("pushed (x:float)", 20, arrivals={"every": "5 s"}, attributes={"x": WALK}, seed=8)
    assert [e.tick for e in one] == [e.tick for e in two] == [0, 5, 10, 15, 20]
    assert one != two


def test_a_walk_stays_within_its_bounds():
    wild = {"walk": {"start": 0, "step": 10, "min": -1, "max": 1}}
    values = [e.row[0] for e in generate("pushed (x:float)", 500, arrivals={"every": "1 s"}, attributes={"x": wild})]
    assert values[0] == 0
    assert all(-1 <= value <= 1 for value in values)
    assert len(set(values)) > 10
    free = {"walk": {"start": 0, "step": 1, "max": 0.5}}
    values = [e.row[0] for e in generate("pushed (x:float)", 500, arrivals={"every": "1 s"}, attributes={"x": free})]
    assert max(values) <= 0.5
    assert max(abs(b - a) for a, b in pairwise(values)) <= 1


def test_a_wave_without_noise():
    wave = {"sine": {"mean": 10, "amplitude": 4, "period": "4 s"}}
    stream = generate("pushed (x:integer)", 4, arrivals={"every": "1 s"}, attributes={"x": wave})
    assert [e.row[0] for e in stream] == [10, 14, 10, 6, 10]


def test_clocks_and_constants():
    stream = generate(
        "pushed (time:time, at:timestamp, i:integer, one:decimal, none:string)",
        2,
        tick="1 min",
        arrivals={"every": "2 min"},
        attributes={"at": "clock", "i": {"clock": True}, "one": {"constant": "1.50"}, "none": {"constant": None}},
    )
    assert shape(stream) == [
        (0, 1, 0, datetime(2009, 1, 1, tzinfo=UTC), 0, Decimal("1.50"), None),
        (2, 2, 2, datetime(2009, 1, 1, 0, 2, tzinfo=UTC), 2, Decimal("1.50"), None),
    ]


def test_a_clock_ends_with_the_calendar():
    arrivals, attributes = {"every": "3660000 d"}, {"at": "clock"}
    assert len(generate("pushed (at:timestamp)", 9_999, tick="366 d", arrivals=arrivals, attributes=attributes)) == 1
    with pytest.raises(UsageError, match="lies after the year 9999"):
        generate("pushed (at:timestamp)", 10_000, tick="366 d", arrivals=arrivals, attributes=attributes)


def test_arrivals_have_the_rate_that_was_asked_for():
    stream = generate(
        "pushed (x:integer)", 59_999, arrivals={"poisson": "12 per min"}, attributes={"x": {"constant": 1}}
    )
    assert abs(len(stream) - 12_000) < 400
    assert any(a.tick == b.tick for a, b in pairwise(stream))


def test_draws_have_the_right_shape():
    draw = make_draw(1, "it", "", "x")
    values = [normal(draw) for _ in range(5000)]
    assert abs(sum(values) / 5000) < 0.05
    assert abs(sum(v * v for v in values) / 5000 - 1) < 0.1
    assert abs(sum(exponential(draw, 3) for _ in range(5000)) / 5000 - 3) < 0.2
    picks = [weighted_index(draw, (0, 1, 3, 0)) for _ in range(4000)]
    assert set(picks) == {1, 2}
    assert 800 < picks.count(1) < 1200


def test_a_draw_at_the_very_end_picks_something():
    assert weighted_index(lambda: 1.0, (1, 2, 0)) == 1
    assert weighted_index(lambda: 0.0, (0, 2, 1)) == 1


def test_arrivals_are_needed():
    extent = Catalog.read("it: pushed (x:integer)\n").extent("it")
    with pytest.raises(UsageError, match="nothing says when rows of it arrive"):
        read_generated(extent, Generator(1, ()), Calendar(), 5)


GOLDEN_READINGS = [
    (0, 1, 2, 0, 20, 4.317584),
    (0, 2, 1, 0, 20, 4.704957),
    (60, 3, 2, 60, 21, 8.716139),
    (60, 4, 1, 60, 19, 8.353352),
    (120, 5, 2, 120, 21, 4.77004),
    (120, 6, 1, 120, 21, 5.033535),
]
GOLDEN_ARRIVALS = [
    (1, 1, "car", Decimal("1.770229")),
    (3, 2, "lorry", Decimal("2.131393")),
    (4, 3, "car", Decimal("2.38736")),
    (5, 4, "car", Decimal("2.364534")),
    (11, 5, "car", Decimal("3.223239")),
    (17, 6, "car", Decimal("2.607031")),
]
