"""The entries of a catalog file: what they mean, and what is refused where."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from transom.catalog import Catalog
from transom.errors import CatalogError
from transom.model.time import Calendar, Rate
from transom.model.types import Type

from .marked import CLASSES, ROAD, TRAFFIC, says

EXTENTS = "extents:\n"


def test_the_calendar():
    catalog = Catalog.read("tick: 100 ms\nepoch: 2009-01-01T01:00:00+01:00\nroad: sensed (a:integer) RATE 1 s\n")
    assert catalog.calendar == Calendar(100_000, datetime(2009, 1, 1, tzinfo=UTC))
    assert catalog.calendar.has_epoch
    assert catalog.extent("road").every == 10


def test_a_calendar_without_entries():
    assert Catalog.read("road: sensed (a:integer)\n").calendar == Calendar()
    assert not Catalog.read("road: sensed (a:integer)\n").calendar.has_epoch
    assert Catalog.read("epoch: 1970-01-01\nroad: sensed (a:integer)\n").calendar.has_epoch


@pytest.mark.parametrize("epoch", ["2009-01-01", "2009-01-01 00:00", '"2009-01-01T00:00:00Z"'])
def test_an_epoch_without_a_zone_is_utc(epoch):
    catalog = Catalog.read(f"epoch: {epoch}\nroad: sensed (a:integer)\n")
    assert catalog.calendar.epoch == datetime(2009, 1, 1, tzinfo=UTC)


def test_a_declaration_with_entries():
    road = Catalog.read(
        "extents:\n  road:\n    declare: sensed (node:integer, temp:float)\n"
        "    every: 1 min\n    sites: [4, 2]\n    site: node\n"
    ).extent("road")
    assert (road.every, road.sites, road.site, road.arrival_rate) == (60, (4, 2), "node", Rate(2, 60))


def test_kind_and_attributes():
    catalog = Catalog.read(
        EXTENTS + TRAFFIC + "    rate: 20/min\n    order: [name, site]\n" + CLASSES + "    rows: 9\n"
    )
    traffic, classes = catalog.extents.values()
    assert [attribute.type for attribute in traffic.schema] == [Type.INTEGER, Type.STRING, Type.TIMESTAMP]
    assert (traffic.arrival_rate, traffic.order) == (Rate(20, 60), ("name", "site"))
    assert (classes.rows, classes.arrival_rate) == (9, None)


@pytest.mark.parametrize(
    "attributes", ["{on: integer, b: string}", "[on:integer, 'b : string']", "[{on: integer}, b:string]"]
)
def test_attributes_in_every_form(attributes):
    extent = Catalog.read(f"extents: {{it: {{kind: pushed, attributes: {attributes}}}}}").extent("it")
    assert [(a.name, a.type, a.qualifier) for a in extent.schema] == [
        ("on", Type.INTEGER, "it"),
        ("b", Type.STRING, "it"),
    ]


def test_a_sensed_extent_without_sites_has_no_known_rate():
    assert Catalog.read("road: sensed (site:integer)\n").extent("road").arrival_rate is None


@pytest.mark.parametrize(
    ("marked", "message", "hint"),
    [
        ("«»", "the catalog is empty", "road: sensed"),
        ("«- a»\n", "expected a catalog, not a list", "road: sensed"),
        ("«hello»\n", "expected a catalog, not 'hello'", None),
        ("«tick: 1 s»\n", "the catalog declares no extent", "road: sensed"),
        ("«extent»:\n  road: sensed (a:integer)\n", "unknown entry 'extent'", "did you mean extents?"),
        ("«road»:\n  kind: sensed\n", "unknown entry 'road'", "put 'road' under extents"),
        ("«tock»: 1 s\n", "unknown entry 'tock'", "did you mean tick?"),
        ("extents: «5»\n", "expected entries, not 5", "under extents"),
        ("tick: «5»\nr: sensed (a:integer)\n", "expected text, not 5", "1 s"),
        ("tick: «0 s»\nr: sensed (a:integer)\n", "a tick is between 1 us and 366 d long", None),
        ("tick: «367 d»\nr: sensed (a:integer)\n", "a tick is between 1 us and 366 d long", None),
        ("tick: «a while»\nr: sensed (a:integer)\n", "'a while' is not a length of time", "1 s"),
        ("epoch: «soon»\nr: sensed (a:integer)\n", "'soon' is not an instant", "2009"),
        ("epoch: «[1]»\nr: sensed (a:integer)\n", "a list is not an instant", None),
        ("r: sensed (a:integer)\n«R»: sensed (a:integer)\n", "'R' and 'r' are the same name", "case"),
        ("«r»: sensed (a:integer)\nextents: {r: sensed (a:integer)}\n", "'r' is declared twice", None),
        ("«my road»: sensed (a:integer)\n", "'my road' cannot be the name of an extent", "letters"),
        ("extents:\n  «7th»: sensed (a:integer)\n", "'7th' cannot be the name of an extent", None),
        ("extents:\n  road: «[1]»\n", "expected entries, not a list", None),
        ("extents:\n  «road»: {}\n", "kind is missing", "add kind"),
        ("extents:\n  «road»:\n    kind: sensed\n", "attributes is missing", "add attributes"),
        ("extents: {r: {kind: «sensd», attributes: {}}}", "expected sensed, pushed or stored, not 'sensd'", "sensed?"),
        ("extents: {r: {kind: «5», attributes: {}}}", "expected sensed, pushed or stored, not 5", None),
        ("extents: {r: {kind: pushed, «atributes»: {}}}", "unknown entry 'atributes'", "did you mean attributes?"),
        ("extents: {r: {kind: pushed, «<<»: {}}}", "unknown entry '<<'", "write one of declare"),
        ("extents: {r: {kind: pushed, attributes: «{}»}}", "this extent has no attributes", None),
        ("extents: {r: {kind: pushed, attributes: «5»}}", "expected attributes, not 5", "[site:integer"),
        ("extents: {r: {kind: pushed, attributes: [«a»]}}", "expected name:type, not 'a'", "site:integer"),
        ("extents: {r: {kind: pushed, attributes: [«5»]}}", "expected name:type, not 5", None),
        ("extents: {r: {kind: pushed, attributes: [a:«bool»]}}", "no type 'bool'", "boolean"),
        ("extents: {r: {kind: pushed, attributes: {a: «text»}}}", "no type 'text'", "string"),
        ("extents: {r: {kind: pushed, attributes: {a: «5»}}}", "expected a type, not 5", "integer, float"),
        ("extents: {r: {kind: pushed, attributes: {«a b»: text}}}", "'a b' cannot be the name of an attribute", None),
        ("extents: {r: {kind: pushed, attributes: [a:time, «a»:time]}}", "the attribute a is declared twice", None),
        (
            "extents: {r: {declare: 'pushed (a:integer)', «kind»: pushed}}",
            "kind is in the declaration already",
            "leave out",
        ),
        (
            "extents: {r: {declare: sensed (a:integer) RATE 1 s, «every»: 1 s}}",
            "every is given twice",
            "leave out every or RATE",
        ),
        ("extents: {r: {declare: sensed (a:integer) SITES (1), «sites»: [1]}}", "sites is given twice", "SITES"),
        ("extents: {r: {declare: pushed (a:integer) RATE 1/s, «rate»: 1/s}}", "rate is given twice", "RATE"),
        ("extents: {r: {declare: «5»}}", "expected text, not 5", None),
        (EXTENTS + TRAFFIC + "    «every»: 1 s\n", "a pushed extent has no every", "rate: 20 per min"),
        (EXTENTS + TRAFFIC + "    «sites»: [1]\n", "a pushed extent has no sites", "only sensed"),
        (EXTENTS + TRAFFIC + "    «site»: site\n", "a pushed extent has no site", "only sensed"),
        (EXTENTS + TRAFFIC + "    «rows»: 5\n", "a pushed extent has no rows", "only stored"),
        (EXTENTS + ROAD + "    «rate»: 1/s\n", "a sensed extent has no rate", "every: 1 min"),
        (EXTENTS + CLASSES + "    «rate»: 1/s\n", "a stored extent has no rate", "only pushed"),
        (EXTENTS + CLASSES + "    «order»: [temp]\n", "a stored extent has no order", "no order"),
        (EXTENTS + ROAD + "    «order»: [temp]\n", "an extent with sites has no order", "sites"),
        (EXTENTS + TRAFFIC + "    order: [«Site»]\n", "no attribute 'Site'", "did you mean site?"),
        (EXTENTS + TRAFFIC + "    order: [site, «site»]\n", "site is listed twice", None),
        (EXTENTS + TRAFFIC + "    order: «site»\n", "expected a list, not 'site'", "[site]"),
        (EXTENTS + TRAFFIC + "    order: [«5»]\n", "expected text, not 5", None),
        (EXTENTS + TRAFFIC + "    rate: «5 min»\n", "'5 min' is not a rate", "20 per min"),
        (EXTENTS + TRAFFIC + "    rate: «5 per 1 ms»\n", "'1 ms' is not a whole number of ticks of 1 s", None),
        (EXTENTS + ROAD + "    site: «sight»\n", "no attribute 'sight'", "did you mean site?"),
        (EXTENTS + ROAD + "    every: «1500 ms»\n", "'1500 ms' is not a whole number of ticks of 1 s", None),
        (EXTENTS + ROAD + "    every: «60»\n", "expected text, not 60", "1 min"),
        (EXTENTS + CLASSES + "    rows: «0»\n", "expected at least 1, not 0", None),
        (EXTENTS + CLASSES + "    rows: «many»\n", "expected a whole number, not 'many'", None),
        (EXTENTS + CLASSES + "    rows: «true»\n", "expected a whole number, not true", None),
        (
            "extents: {r: {declare: sensed (site:integer), sites: [1, «x»]}}",
            "'x' is not of type integer",
            "whole number",
        ),
        ("extents: {r: {declare: sensed (site:integer), sites: [«~»]}}", "nothing cannot be a site", None),
        ("extents: {r: {declare: sensed (a:integer), sites: [«[1]»]}}", "a list cannot be a site", None),
        ("extents: {r: {declare: sensed (a:integer), sites: [«.inf»]}}", "inf cannot be a site", None),
        ("extents: {r: {declare: sensed (a:integer), sites: «1»}}", "expected a list, not 1", "[1, 2, 3]"),
    ],
)
def test_what_does_not_fit_is_underlined(marked, message, hint):
    says(marked, message, hint)


@pytest.mark.parametrize(("entry", "kind"), [("stream", "csv"), ("graph", "ttl")])
def test_two_extents_of_one_iri(entry: str, kind: str) -> None:
    lines = "".join(f"  {name}: {{{entry}: 'http://ex/one', files: {name}.{kind}}}\n" for name in "ab")
    with pytest.raises(CatalogError, match=f"two {entry}s have the same IRI"):
        Catalog.read(f"rdf:\n{lines}")
