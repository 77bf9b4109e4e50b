"""Declarations as the document writes them (S30, S39)."""

from __future__ import annotations

import pytest

from transom.catalog import Catalog, ExtentKind
from transom.model.schema import Attribute
from transom.model.time import Rate
from transom.model.types import Type

from .marked import says

DOCUMENT = """\
road: sensed (site:integer, time:integer, temp:integer, vibration:integer)
traffic: pushed (site:integer, time:integer, weight:integer, vehicle:integer)
tempClass: stored (temp:integer, category:string)
"""


def test_the_three_lines_of_the_document_are_a_catalog():
    catalog = Catalog.read(DOCUMENT)
    road, traffic, classes = catalog.extents.values()
    assert [extent.kind for extent in (road, traffic, classes)] == [
        ExtentKind.SENSED,
        ExtentKind.PUSHED,
        ExtentKind.STORED,
    ]
    assert road.names == ("site", "time", "temp", "vibration")
    assert (road.every, road.sites, road.site) == (1, (), "site")
    assert (traffic.every, traffic.site, traffic.rate) == (None, None, None)
    assert classes.schema.attributes == (
        Attribute("temp", Type.INTEGER, "tempClass"),
        Attribute("category", Type.STRING, "tempClass"),
    )
    assert "".join(f"{extent.declaration}\n" for extent in catalog.extents.values()) == DOCUMENT


def one(declaration: str):
    (extent,) = Catalog.read(f"tick: 1 s\nextents:\n  it: {declaration}\n").extents.values()
    return extent


def test_rate_and_sites():
    extent = one("sensed (site:integer, temp:float) RATE 1 MIN SITES (1, 2, -3)")
    assert (extent.every, extent.sites) == (60, (1, 2, -3))
    assert extent.arrival_rate == Rate(3, 60)


def test_sites_may_be_text():
    assert one("""sensed (site:string) sites ('a''b', "c")""").sites == ("a'b", "c")


def test_sites_may_be_of_any_type_and_need_no_attribute():
    assert one("sensed (site:float) SITES (1, 2.5)").sites == (1.0, 2.5)
    extent = one("sensed (temp:float) SITES ('n', 's')")
    assert (extent.sites, extent.site) == (("n", "s"), None)


def test_an_empty_list_of_sites_is_no_list():
    assert one("sensed (site:integer) SITES ()").sites == ()


@pytest.mark.parametrize("words", ["20 per min", "20/min", "20 PER 60 S"])
def test_a_pushed_extent_takes_a_rate(words):
    assert one(f"pushed (site:integer) RATE {words}").arrival_rate == Rate(20, 60)


def test_an_attribute_may_be_called_tick():
    assert one("pushed (tick:integer, index:time)").names == ("tick", "index")


@pytest.mark.parametrize(
    ("marked", "message", "hint"),
    [
        ("r: «sensd» (a:integer)", "expected sensed, pushed or stored, not 'sensd'", "did you mean sensed?"),
        ("r: sensed «site»:integer)", "expected '(', not 'site'", None),
        ("r: sensed (site:intege«r»", "expected ',' or ')', not the end", None),
        ("r: «sensed ()»", "this extent has no attributes", None),
        ("r: sensed (a «b»:integer)", "expected ':', not 'b'", None),
        ("r: sensed («5»:integer)", "expected the name of an attribute, not '5'", None),
        ("r: sensed (a:«5»)", "expected a type, not '5'", None),
        ("r: sensed (a:«int»)", "no type 'int'", "did you mean integer?"),
        ("r: sensed (a:«double»)", "no type 'double'", "did you mean float?"),
        ("r: sensed (a:«INTEGER»)", "no type 'INTEGER'", "did you mean integer?"),
        ("r: sensed (a:«null»)", "no type 'null'", "write one of integer"),
        ("r: sensed (a:integer, «A»:float)", "the attribute A is declared twice", "upper and lower case"),
        ("r: sensed («é»:integer)", "'é' cannot be the name of an attribute", "letters"),
        ("r: sensed (a:integer) «RAT» 1 MIN", "did not expect 'RAT'", "did you mean RATE?"),
        ("r: sensed (a:integer) RATE «1 MN» SITES (1)", "'1 MN' is not a length of time", "1 min"),
        ("r: sensed (a:integer) RATE «0 s»", "'0 s' is shorter than one tick", None),
        ("r: sensed (a:integer) RATE «20 per min»", "'20 per min' is not a length of time", None),
        ("r: pushed (a:integer) RATE «1 MIN»", "'1 MIN' is not a rate", "20 per min"),
        ("r: stored (a:integer) RATE «1 MIN»", "a stored extent has no RATE", "only sensed and pushed"),
        ("r: pushed (a:integer) «SITES» (1)", "a pushed extent has no SITES", "only sensed"),
        ("r: sensed (site:integer) SITES (1, «1»)", "the site 1 is listed twice", None),
        ("r: sensed (site:integer) SITES («a»)", "expected a site, not 'a'", "quotes"),
        (
            "r: sensed (site:integer) SITES («'a'»)",
            "'a' is not of type integer",
            "write a whole number of at most 64 bits, without quotes",
        ),
        ("r: sensed (site:string) SITES («5»)", "5 is not of type string", "quotes"),
        ("r: sensed (site:integer) SITES (1, «)»", "expected a site, not ')'", None),
        ("r: sensed (site:integer) SITES (1«,»", "expected a site, not the end", None),
        ("r: sensed (site:integer) SITES («" + "9" * 50 + "»)", "expected a site, not '" + "9" * 37 + "...'", None),
        ('r: "sensed (a:«int»)"', "no type 'int'", None),
        ('r: «"sensed (a:\\x69nt)"»', "no type 'int'", None),
    ],
)
def test_the_word_that_does_not_belong_is_underlined(marked, message, hint):
    says(marked, message, hint)
