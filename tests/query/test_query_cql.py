"""CQL through the facade: the language by name and by ending, parameters, answers, every stage, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from transom.catalog.catalog import Catalog
from transom.errors import CatalogError, LanguageRule, NameProblem, TransomError, UsageError
from transom.model.answer import Answer

CATALOG = Catalog.read(
    """
extents:
  cars:
    kind: pushed
    attributes: {id: string, x: float, y: float, speed: integer}
    position: {x: x, y: y, unit: km}
    object: id
  ships:
    kind: pushed
    attributes: {id: string, x: float, y: float, kind: string}
    position: {x: x, y: y, unit: km}
  owners:
    kind: stored
    attributes: {id: string, name: string}
regions:
  Zone: {polygon: [[0, 0], [10, 0], [10, 10], [0, 10]]}
"""
)
ROWS: dict[str, Any] = {
    "cars": [
        *((0, "a", 0, 0, 10), (0, "b", 5, 5, 20), (1, "a", 3, 4, 11)),
        *((2, "a", 6, 8, 12), (3, "b", 50, 5, 30), (4, "a", 9, 12, 13)),
    ],
    "ships": [(1, "a", 1, 1, "N"), (2, "c", 2, 2, "S"), (3, "a", 20, 20, "N")],
    "owners": {0: [("a", "Ann")], 3: [("a", "Ann"), ("b", "Bob")]},
}


def compiled(text: str, **options: Any) -> transom.Query:
    return transom.compile(text, CATALOG, language="cql", **options)


def rows(text: str, **options: Any) -> list[tuple[Any, ...]]:
    """The answer: tick and values, with None for an empty relation."""
    answer = compiled(text, **options).simulate(ROWS, until=5)
    if answer.kind == "windows":
        return [(w.tick, *row) for w in answer.windows for row in sorted(w.rows) or [(None,)]]
    assert answer.kind == "stream"
    return [(e.tick, *e.row) for e in answer.elements]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT RStream(id, speed) FROM cars [PARTITION BY id ROWS 1]",
            [(0, "a", 10), (0, "b", 20), (1, "a", 11), (2, "a", 12), (3, "b", 30), (4, "a", 13)],
        ),
        (
            "SELECT IStream(c.id, name) FROM c=cars [PARTITION BY id ROWS 1] LEFT JOIN owners ON c.id = owners.id",
            [(0, "a", "Ann"), (0, "b", None), (3, "b", "Bob")],
        ),
        (
            "SELECT IStream(c.id, name) FROM c=cars [PARTITION BY id ROWS 1] JOIN owners ON c.id = owners.id",
            [(0, "a", "Ann"), (3, "b", "Bob")],
        ),
        ("SELECT DStream(id) FROM cars [PARTITION BY id ROWS 1] WHERE inside(g, Zone)", [(3, "b"), (4, "a")]),
        ("SELECT IStream(id) FROM cars [PARTITION BY id ROWS 1] WHERE inside(g, Zone)", [(0, "a"), (0, "b")]),
        (
            "SELECT RStream(id) FROM cars [PARTITION BY id ROWS 1] FIRST 1 BY DISTANCE(g, POINT(6, 5))",
            [(0, "b"), (1, "b"), (2, "b"), (3, "a"), (4, "a")],
        ),
        (
            "SELECT IStream(c.id, s.id AS other) "
            "FROM c=cars [PARTITION BY id ROWS 1], s=ships [PARTITION BY id ROWS 1] "
            "FIRST 1 PER c.id BY DISTANCE(c.g, s.g)",
            [(1, "a", "a"), (1, "b", "a"), (2, "a", "c"), (2, "b", "c"), (3, "b", "a")],
        ),
        (
            "SELECT RStream(id, COUNT(*), WKT(PLACE(c))) FROM c=cars [UNBOUNDED] GROUP BY id FIRST 1 BY -COUNT(*)",
            [
                *((0, "a", 1, "POINT (0 0)"), (1, "a", 2, "POINT (3 4)"), (2, "a", 3, "POINT (6 8)")),
                *((3, "a", 3, "POINT (6 8)"), (4, "a", 4, "POINT (9 12)")),
            ],
        ),
        (
            "SELECT RStream(id, COUNT(*)) FROM c=cars [UNBOUNDED] GROUP BY id "
            "FIRST 1 BY DISTANCE(POINT(5, 6), PLACE(c))",
            [(0, "b", 1), (1, "b", 1), (2, "b", 1), (3, "a", 3), (4, "a", 4)],
        ),
        (
            "SELECT RStream(id, INSIDE(PLACE(c), Zone), WKT(TRAJECTORY(c))) FROM c=cars [PARTITION BY id ROWS 2]",
            [
                *((0, "a", True, "POINT (0 0)"), (0, "b", True, "POINT (5 5)")),
                *((1, "a", True, "LINESTRING (0 0, 3 4)"), (2, "a", True, "LINESTRING (3 4, 6 8)")),
                *((3, "b", False, "LINESTRING (5 5, 50 5)"), (4, "a", False, "LINESTRING (6 8, 9 12)")),
            ],
        ),
        (
            "SELECT id FROM cars [NOW] UNION SELECT id FROM ships [NOW]",
            [(0, "a"), (0, "b"), (1, "a"), (2, "a"), (2, "c"), (3, "a"), (3, "b"), (4, "a"), (5, None)],
        ),
        (
            "SELECT id FROM cars [NOW] UNION ALL SELECT id FROM ships [NOW]",
            [(0, "a"), (0, "b"), (1, "a"), (1, "a"), (2, "a"), (2, "c"), (3, "a"), (3, "b"), (4, "a"), (5, None)],
        ),
        (
            "IStream(SELECT id FROM cars [UNBOUNDED] EXCEPT SELECT id FROM ships [UNBOUNDED])",
            [(0, "a"), (0, "b")],
        ),
        (
            "IStream(SELECT id FROM cars [UNBOUNDED] INTERSECT SELECT id FROM ships [UNBOUNDED])",
            [(1, "a")],
        ),
        (
            "SELECT IStream(id, speed) FROM cars [RANGE '3 seconds'] WHERE id IN (SELECT id FROM ships [UNBOUNDED])",
            [(1, "a", 10), (1, "a", 11), (2, "a", 12), (4, "a", 13)],
        ),
        (
            "SELECT IStream(id, speed) FROM cars [NOW] "
            "WHERE id NOT IN (SELECT id FROM ships [UNBOUNDED]) AND speed > 10",
            [(0, "b", 20), (3, "b", 30)],
        ),
        (
            "SELECT IStream(id) FROM cars [NOW] "
            "WHERE NOT EXISTS (SELECT * FROM ships [UNBOUNDED] WHERE ships.id = cars.id)",
            [(0, "a"), (0, "b"), (3, "b")],
        ),
        (
            "SELECT IStream(c.id, c.t) FROM c=cars [UNBOUNDED] "
            "WHERE EXISTS (SELECT * FROM ships [NOW] WHERE within(ships.g, c.g, '2 km'))",
            [(1, "a", 0)],
        ),
        (
            "SELECT RStream(id, AvgSpd(R), COUNT(*)) "
            "FROM R=cars [PARTITION BY id RANGE BY '10 km' RATTR SPACE, SLIDE BY '5 km' SATTR SPACE]",
            [(1, "a", 18000.0, 2), (2, "a", 18000.0, 3), (4, "a", 12000.0, 3)],
        ),
        (
            "SELECT RStream(speed / 10, COUNT(*)) FROM cars [PARTITION BY id ROWS 1] GROUP BY speed / 10",
            [
                *((0, 1.0, 1), (0, 2.0, 1), (1, 1.1, 1), (1, 2.0, 1), (2, 1.2, 1), (2, 2.0, 1)),
                *((3, 1.2, 1), (3, 3.0, 1), (4, 1.3, 1), (4, 3.0, 1)),
            ],
        ),
        ("SELECT RStream(DISTINCT kind) FROM ships [UNBOUNDED]", [(1, "N"), (2, "N"), (2, "S"), (3, "N"), (3, "S")]),
        (
            "SELECT RStream(n) FROM (SELECT RStream(COUNT(*) AS n) FROM cars [RANGE '3 s']) AS q [ROWS 2 SLIDE 2]",
            [(1, 2), (1, 3), (3, 4), (3, 5), (5, 4), (5, 3)],
        ),
        (
            "SELECT MAX(n) FROM (SELECT id, COUNT(*) AS n FROM cars [RANGE '3 seconds'] GROUP BY id) AS q",
            [(0, 1), (1, 2), (2, 3), (3, 3), (4, 3), (5, 2)],
        ),
        (
            "SELECT IStream(t) FROM (SELECT IStream(x, y) FROM cars [NOW]) AS q "
            "[RANGE BY Zone RATTR SPACE, RANGE BY '2 seconds' RATTR TIME]",
            [(0, 0), (0, 0), (1, 1), (2, 2)],
        ),
        (
            "SELECT RStream(X(g), DISTANCE(g, POINT(1, 2))) FROM ships [NOW] WHERE inside(g, Zone)",
            [(1, 1.0, 1000.0), (2, 2.0, 1000.0)],
        ),
    ],
)
@pytest.mark.parametrize("optimize", [True, False], ids=["optimised", "as-written"])
def test_answers(text: str, expected: list[tuple[Any, ...]], optimize: bool) -> None:
    assert rows(text, optimize=optimize) == expected


def test_a_parameter_has_a_value() -> None:
    text = "SELECT IStream(speed, mycar) FROM cars [NOW] WHERE id = mycar"
    assert rows(text, parameters={"mycar": "b"}) == [(0, 20, "b"), (3, 30, "b")]
    assert not compiled(text, parameters={"mycar": "b"}).warnings
    with pytest.raises(NameProblem, match="no attribute is called mycar") as caught:
        compiled(text)
    assert caught.value.hint == (
        "there are cars.id, cars.x, cars.y, cars.speed; "
        "if mycar is a parameter, set it: --parameter mycar=VALUE, or `parameters` in the catalog"
    )


@pytest.mark.parametrize(
    "text", ["SELECT RStream(id, sped) FROM cars [NOW]", "SELECT id FROM cars [NOW] WHERE id = idd"]
)
def test_a_misspelt_attribute_is_no_constant(text: str) -> None:
    with pytest.raises(NameProblem, match="no attribute is called") as caught:
        compiled(text)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean cars.")
    assert caught.value.span is not None


def test_parameters_of_the_catalog() -> None:
    """A name in a list stands for itself, as in the document (C8); a value that is given comes first."""
    text = "SELECT RStream(a, b) FROM s [NOW]"
    entries = {"extents": {"s": {"declare": "pushed (id:string)"}}}
    declared: list[tuple[Any, tuple[Any, ...]]] = [(["a", "b"], ("a", "b")), ({"a": 7, "b": True}, (7, True))]
    for parameters, expected in declared:
        catalog = Catalog.from_dict(entries | {"parameters": parameters})
        answer = transom.compile(text, catalog, language="cql").simulate({"s": [(0, "x")]})
        assert [e.row for e in answer.elements] == [expected]
        answer = transom.compile(text, catalog, language="cql", parameters={"b": "c"}).simulate({"s": [(0, "x")]})
        assert [e.row for e in answer.elements] == [(expected[0], "c")]
    for wrong in ({"a": [1]}, {"a b": 1}, ["1a"], "a"):
        with pytest.raises(CatalogError):
            Catalog.from_dict(entries | {"parameters": wrong})


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"mycar": "a", "mycaz": "a"}, "no parameter mycaz"),
        ({"mycar": None}, "mycar is None"),
        ("mycar", "values by name"),
    ],
)
def test_parameters_that_do_not_fit(parameters: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compiled("SELECT id FROM cars [NOW] WHERE id = mycar", parameters=parameters)


def test_sneeql_has_no_parameters() -> None:
    with pytest.raises(UsageError, match="no parameters"):
        transom.compile("SELECT id FROM cars", CATALOG, parameters={"x": 1})


def test_the_ending_names_the_language() -> None:
    assert transom.compile("SELECT id FROM cars [NOW]", CATALOG, name="now.cql").language == "cql"
    assert transom.compile("SELECT id FROM cars", CATALOG, name="all.sneeql").language == "sneeql"
    assert transom.compile("SELECT id FROM cars", CATALOG).language == "sneeql"


def test_every_stage() -> None:
    query = compiled("-- why\nselect rstream(id,avgspd(r)) from r=cars[partition by id range 10 km slide 5 km]")
    assert query.result_kind == "stream"
    assert query.columns == ("id", "AvgSpd(r)")
    assert "PARTITION" not in query.explain("syntax")
    assert "TrackAggregation" in query.explain("algebra")
    assert "Window(slide=every 5 km distance" in query.explain("optimized")
    assert query.format().startswith("-- why\nSELECT RStream(id, AvgSpd(r))\nFROM cars [PARTITION BY id RANGE '10 km'")
    assert transom.compile(query.format(), CATALOG, language="cql").algebra == query.algebra


def test_answers_of_streams_have_no_index() -> None:
    answer = compiled("SELECT IStream(id) FROM ships [NOW]").simulate(ROWS, until=2)
    assert answer.header == ("tick", "id")
    assert list(answer.csv_lines()) == ["tick,id", "1,a", "2,c"]
    assert next(answer.json_lines()) == '{"tick": 1, "values": {"id": "a"}}'
    assert len(answer) == 2


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("SELECT id FROM cars", LanguageRule, "this stream needs a window"),
        ("SELECT id FROM owners [NOW]", LanguageRule, "owners is a table, and windows are for streams"),
        ("SELECT id FROM cars [RANGE '5 km', SLIDE '1 km']", LanguageRule, "a window by distance needs PARTITION BY"),
        ("SELECT id FROM cars [RANGE BY Zon RATTR SPACE]", NameProblem, "no region is called Zon"),
        ("SELECT id FROM cars [RANGE '5 parsecs']", NameProblem, "no unit is called parsecs"),
        ("SELECT id FROM cars [RANGE '1500 ms']", LanguageRule, "1500 ms is not a whole number of ticks"),
        ("SELECT id FROM cars [ROWS 0]", LanguageRule, "a window cannot have 0 rows"),
        ("SELECT id FROM cars [ROWS 1 SLIDE 0]", LanguageRule, "a slide cannot be 0"),
        ("SELECT id FROM cars [RANGE '1 s' SLIDE 2 ROWS]", LanguageRule, "a slide in rows needs a range in rows"),
        ("SELECT id FROM cars [RANGE '1 s', RANGE '2 s']", LanguageRule, "these ranges cannot be combined"),
        ("SELECT id FROM cars [PARTITION BY no ROWS 1]", LanguageRule, "no attribute is called no"),
        ("SELECT id FROM cars [NOW] WHERE AvgSpd(cars) > 1", LanguageRule, "an aggregate is not allowed in WHERE"),
        ("SELECT id FROM cars [NOW] WHERE spead > 1", NameProblem, "no attribute is called spead"),
        ("SELECT id, AvgSpd(cars) FROM cars [NOW]", LanguageRule, "id is neither grouped nor aggregated"),
        ("SELECT AvgSpd(owners) FROM owners", LanguageRule, "owners has no positions"),
        (
            "SELECT Stamps(*) AS s FROM cars [NOW]",
            LanguageRule,
            "Stamps gives two columns, g and t, so one AS cannot name it",
        ),
        ("SELECT Stamps(*) FROM cars [NOW], ships [NOW]", LanguageRule, "Stamps(*) could mean several sources"),
        ("SELECT g FROM cars [NOW], ships [NOW]", NameProblem, "ambiguous attribute g"),
        ("SELECT cars.z FROM cars [NOW]", NameProblem, "no attribute is called cars.z"),
        (
            "RStream(RStream(SELECT id FROM cars [NOW]))",
            LanguageRule,
            "RStream needs a relation, and RStream has already made a stream",
        ),
        (
            "SELECT RStream(id) FROM cars [NOW] UNION SELECT id FROM ships [NOW]",
            LanguageRule,
            "UNION needs relations, and this side is a stream",
        ),
        (
            "SELECT id FROM cars [NOW] UNION SELECT id, x FROM ships [NOW]",
            LanguageRule,
            "the sides of UNION have 1 and 2 columns",
        ),
        (
            "SELECT id FROM cars [NOW] UNION SELECT x FROM ships [NOW]",
            LanguageRule,
            "id is a string on one side of UNION and a float on the other",
        ),
        ("SELECT id FROM cars [NOW] WHERE x > 1 OR id IN (SELECT id FROM owners)", LanguageRule, None),
        (
            "SELECT id FROM cars [NOW] WHERE id IN (SELECT id, name FROM owners)",
            LanguageRule,
            "IN compares with one column, not 2",
        ),
        ("SELECT id FROM cars [NOW] WHERE inside(g, Nowhere)", NameProblem, "no region is called Nowhere"),
        (
            "SELECT id FROM cars [NOW] WHERE inside(Zone, g)",
            LanguageRule,
            "the arguments of INSIDE are swapped: Zone is a region",
        ),
        (
            "SELECT id FROM cars [NOW] WHERE inside(Zone, POINT(x, 0))",
            LanguageRule,
            "the arguments of INSIDE are swapped: Zone is a region",
        ),
        ("SELECT id FROM cars [NOW] WHERE inside(id, Zone)", TransomError, "id is a string, not a position"),
    ],
)
def test_refusals(text: str, kind: type[TransomError], words: str | None) -> None:
    with pytest.raises(kind) as caught:
        compiled(text)
    if words is not None:
        assert caught.value.message == words
    assert caught.value.span is not None
    assert caught.value.hint


@pytest.mark.parametrize(
    "window",
    [
        "[RANGE '5 km', SLIDE '1 km']",
        "[RANGE '5 km']",
        "[RANGE BY '10 km' RATTR SPACE, SLIDE BY '1 km' SATTR SPACE]",
        "[RANGE BY '5.000000000000000000 km' RATTR SPACE, SLIDE BY '1.000000000000000000 km' SATTR SPACE]",
    ],
)
def test_the_window_of_a_hint_compiles(window: str) -> None:
    """It has PARTITION BY with the object that the catalog declares."""
    with pytest.raises(LanguageRule) as caught:
        compiled(f"SELECT id FROM cars {window}")
    hint = str(caught.value.hint)
    example = hint[hint.index("[") :]
    assert example.startswith("[PARTITION BY id RANGE ")
    compiled(f"SELECT RStream(id) FROM cars {example}")


def test_rstream_of_keys_and_of_their_relation() -> None:
    """RStream follows the instants of each key (C14); the relation itself, and RStream of DISTINCT, hold all keys."""
    catalog = Catalog.read('extents:\n  cars: {declare: "pushed (id:string, load:integer)"}\n')
    rows = [(0, "a", 3), (0, "b", 5), (60, "b", 4), (120, "a", 2)]
    window = "FROM cars [PARTITION BY id ROWS 1]"

    def answered(text: str) -> Answer:
        return transom.compile(text, catalog, language="cql").simulate({"cars": rows})

    keyed = answered(f"SELECT RStream(id, load) {window}")
    assert [(e.tick, *e.row) for e in keyed.elements] == rows
    relation = [(w.tick, row) for w in answered(f"SELECT id, load {window}").windows for row in w.rows]
    whole = answered(f"SELECT RStream(DISTINCT id, load) {window}")
    assert [(e.tick, e.row) for e in whole.elements] == relation
    assert [tick for tick, _ in relation] == [0, 0, 60, 60, 120, 120]
