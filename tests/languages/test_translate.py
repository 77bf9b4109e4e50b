"""What queries mean: names, types, operators, and what the language forbids."""

from __future__ import annotations

import pytest

from transom.algebra.expressions.expression import Column, Tag
from transom.algebra.relations import WindowAggregation, WindowCrossProduct, WindowProject
from transom.algebra.sources import StoredTable, StreamAcquire
from transom.algebra.streams import Renumber
from transom.algebra.tree import walk
from transom.algebra.windows import AtStart, Bound, Coordinate, CoordinateRange, Every, TableContent, Window
from transom.errors import LanguageRule, NameProblem, TypeProblem
from transom.model.schema import Attribute
from transom.model.types import Type

from .asking import W, columns, item, kinds, plan_of, refused


class TestOperators:
    """Section 5: which text becomes which operators."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("SELECT temp FROM road", "StreamProject StreamAcquire"),
            ("SELECT site FROM traffic WHERE ok", "StreamProject StreamSelect StreamReceive"),
            ("SELECT temp FROM tempClass", "WindowProject Window StoredTable"),
            (f"SELECT temp FROM road {W} WHERE temp > 1", "WindowProject WindowSelect Window StreamAcquire"),
            (f"SELECT MAX(temp) FROM road {W}", "WindowAggregation Window StreamAcquire"),
            (f"SELECT MAX(temp) + 1 FROM road {W}", "WindowProject WindowAggregation Window StreamAcquire"),
            (f"SELECT site FROM road {W} GROUP BY site", "WindowAggregation Window StreamAcquire"),
            (
                f"SELECT site FROM road {W} GROUP BY site HAVING COUNT(*) > 1",
                "WindowProject WindowSelect WindowAggregation Window StreamAcquire",
            ),
            (
                f"SELECT 1 AS one FROM road {W} HAVING TRUE",
                "WindowProject WindowSelect WindowAggregation Window StreamAcquire",
            ),
            (
                f"ISTREAM(SELECT * FROM road {W} AS r, tempClass)",
                "IStream WindowProject WindowCrossProduct Window StreamAcquire Window StoredTable",
            ),
            (
                f"SELECT s.temp FROM (SELECT temp FROM road WHERE temp > 1) AS s {W}",
                "WindowProject Window StreamProject StreamProject StreamSelect StreamAcquire",
            ),
        ],
    )
    def test_translation(self, text: str, expected: str) -> None:
        assert " ".join(kinds(text)) == expected

    def test_sensed_extents_bring_interval_and_sites(self) -> None:
        acquire = list(walk(plan_of("SELECT temp FROM road")))[-1]
        assert isinstance(acquire, StreamAcquire)
        assert (acquire.extent, acquire.every, acquire.sites) == ("road", 60, (1, 2))

    def test_products_fold_to_the_left(self) -> None:
        plan = plan_of(f"SELECT a.temp FROM road {W} AS a, road {W} AS b, tempClass AS c")
        assert isinstance(plan, WindowProject)
        assert isinstance(plan.input, WindowCrossProduct)
        assert isinstance(plan.input.left, WindowCrossProduct)
        assert isinstance(plan.input.right, Window)

    @pytest.mark.parametrize(
        ("window", "slide", "reach"),
        [
            ("[FROM NOW-5 TO NOW SLIDE 1 MIN]", Every(Coordinate.TICK, 60, 0), (Coordinate.TICK, 60, -300, 0)),
            (
                "[FROM NOW-2 TO NOW-1 SLIDE 3 HOUR]",
                Every(Coordinate.TICK, 10800, 0),
                (Coordinate.TICK, 10800, -7200, -3600),
            ),
            ("[FROM NOW-0 TO NOW SLIDE 1 SEC]", Every(Coordinate.TICK, 1, 0), (Coordinate.TICK, 1, 0, 0)),
            ("[FROM NOW-9 TO NOW SLIDE 2 ROWS]", Every(Coordinate.INDEX, 2, 2), (Coordinate.INDEX, 2, -9, 0)),
        ],
    )
    def test_windows(self, window: str, slide: Every, reach: tuple[Coordinate, int, int, int]) -> None:
        """One unit for all three numbers (S3), both ends inclusive (S4), rows from the first slide on (S6)."""
        found = next(op for op in walk(plan_of(f"SELECT temp FROM road {window}")) if isinstance(op, Window))
        coordinate, step, low, high = reach
        assert found.slide == slide
        assert found.range == CoordinateRange(coordinate, Bound(step, low), Bound(step, high))

    @pytest.mark.parametrize(("window", "slide"), [("", AtStart()), ("[SCAN 10 MIN]", Every(Coordinate.TICK, 600, 0))])
    def test_scans(self, window: str, slide: Every | AtStart) -> None:
        found = next(op for op in walk(plan_of(f"SELECT temp FROM tempClass {window}")) if isinstance(op, Window))
        assert (found.slide, found.range) == (slide, TableContent())
        assert isinstance(found.input, StoredTable)

    def test_row_windows_count_the_rows_of_a_subquery(self) -> None:
        """A filtered stream is numbered anew, a projected one is dense as it is (S15)."""
        rows = "[FROM NOW-9 TO NOW SLIDE 1 ROWS]"
        assert "Renumber" in kinds(f"SELECT temp FROM (SELECT temp FROM road WHERE temp > 1) {rows}")
        assert "Renumber" not in kinds(f"SELECT temp FROM (SELECT temp FROM road) {rows}")
        assert "Renumber" not in kinds(f"SELECT temp FROM (RSTREAM(SELECT temp FROM road {W})) {rows}")
        assert Renumber in map(type, walk(plan_of(f"SELECT * FROM (SELECT temp FROM road WHERE temp > 1) {rows}")))


class TestNames:
    """S21, S35: what a name means."""

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("SELECT temp FROM road", ["temp:integer"]),
            ("SELECT road.temp FROM road", ["road.temp:integer"]),
            ("SELECT r.temp, temp AS t FROM road AS r", ["r.temp:integer", "t:integer"]),
            ("SELECT temp + 1, temp+2 FROM road", ["temp + 1:integer", "temp + 2:integer"]),
            ("SELECT (temp) FROM road", ["temp:integer"]),
            ("SELECT 'it''s' FROM road", ["'it''s':string"]),
            (f"SELECT max( temp ), count(*) FROM road {W}", ["MAX(temp):integer", "COUNT(*):integer"]),
            ("SELECT * FROM road", ["site:integer", "temp:integer", "level:float"]),
            ("SELECT * FROM road AS r", ["site:integer", "temp:integer", "level:float"]),
            (
                f"SELECT * FROM road {W} AS r, tempClass",
                [
                    "r.site:integer",
                    "r.temp:integer",
                    "r.level:float",
                    "tempClass.temp:integer",
                    "tempClass.category:string",
                ],
            ),
            ("SELECT * FROM (SELECT temp AS t, road.site FROM road)", ["t:integer", "site:integer"]),
            ("SELECT s.t FROM (SELECT temp AS t FROM road) AS s", ["s.t:integer"]),
            ("SELECT road.temp FROM (SELECT road.temp FROM road)", ["road.temp:integer"]),
            (f"SELECT road.temp, category FROM road {W}, tempClass", ["road.temp:integer", "category:string"]),
            (f"SELECT site, site + 1 FROM road {W} GROUP BY site + 1, site", ["site:integer", "site + 1:integer"]),
            (f"SELECT site + 1 AS n FROM road {W} GROUP BY site", ["n:integer"]),
            (f"SELECT road.site FROM road {W} GROUP BY site", ["road.site:integer"]),
        ],
    )
    def test_columns(self, text: str, expected: list[str]) -> None:
        assert columns(text) == expected

    def test_a_unique_name_needs_no_qualifier(self) -> None:
        plan = plan_of(f"SELECT category FROM road {W}, tempClass")
        assert isinstance(plan, WindowProject)
        assert plan.items[0].expression == Column(Attribute("category", Type.STRING, "tempClass"))

    def test_tick_and_index_of_a_stream(self) -> None:
        assert item("tick") == Tag("tick")
        assert item("traffic.index") == Tag("index")
        assert columns("SELECT tick, index FROM road") == ["tick:integer", "index:integer"]

    def test_tick_of_a_tuple_in_a_window(self) -> None:
        """A window keeps the tags that the query reads, and no others."""
        window = next(op for op in walk(plan_of(f"SELECT r.tick FROM road {W} AS r")) if isinstance(op, Window))
        assert window.tags == (Attribute("tick", Type.INTEGER, "r"),)
        assert all(not op.tags for op in walk(plan_of(f"SELECT temp FROM road {W}")) if isinstance(op, Window))

    def test_a_declared_tick_hides_the_implicit_one(self) -> None:
        assert columns("SELECT tick, index FROM tagged") == ["tick:string", "index:integer"]

    def test_a_selected_tick_becomes_an_attribute(self) -> None:
        assert columns("SELECT s.tick FROM (SELECT tick FROM road) AS s") == ["s.tick:integer"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("SELECT nothing FROM road", "no attribute is called nothing"),
            ("SELECT traffic.temp FROM road", "no attribute is called traffic.temp"),
            ("SELECT road.temp FROM road AS r", "no attribute is called road.temp"),
            ("SELECT Temp FROM road", "no attribute is called Temp"),
            ("SELECT road.temp FROM (SELECT temp FROM road)", "no attribute is called road.temp"),
            ("SELECT s.x FROM (SELECT temp FROM road) AS s", "no attribute is called s.x"),
            (f"SELECT temp FROM road {W}, tempClass", "ambiguous attribute temp"),
            (f"SELECT tick FROM road {W}, traffic {W}", "ambiguous attribute tick"),
            ("SELECT index FROM tempClass", "no attribute is called index"),
            (f"SELECT road.site FROM road {W}, road {W}", "two sources are called road"),
            (f"SELECT site FROM road {W} AS a, tempClass AS a", "two sources are called a"),
            (
                f"SELECT t FROM (SELECT temp AS t FROM road) {W}, (SELECT level AS t FROM road) {W}",
                "two sources have a column t",
            ),
            ("SELECT temp, temp FROM road", "two columns are called temp"),
            ('SELECT road.temp, site AS "road.temp" FROM road', "two columns are called road.temp"),
            ("SELECT s.t FROM (SELECT temp, road.temp FROM road) AS s", "two columns of s are called temp"),
            ("SELECT temp AS t FROM road WHERE t > 1", "no attribute is called t"),
            ("SELECT x FROM nowhere", "no extent 'nowhere' in the catalog"),
            ("SELECT F(temp) FROM road", "no function is called F"),
            ("SELECT CAST(temp AS text) FROM road", "no type is called text"),
        ],
    )
    def test_refused(self, text: str, words: str) -> None:
        refused(text, NameProblem, words)

    def test_groups_and_aggregates_may_share_a_name(self) -> None:
        counted = f"(RSTREAM(SELECT COUNT(*) FROM road {W}))"
        text = f'SELECT "COUNT(*)" AS a, COUNT(*) AS b FROM {counted} {W} GROUP BY "COUNT(*)"'
        assert columns(text) == ["a:integer", "b:integer"]


class TestGroups:
    """S14, S16, S26: aggregates, GROUP BY and HAVING."""

    def aggregation(self, text: str) -> WindowAggregation:
        return next(op for op in walk(plan_of(text)) if isinstance(op, WindowAggregation))

    def test_each_aggregate_is_computed_once(self) -> None:
        text = f"SELECT MAX(temp), MAX(road.temp) + 1, MIN(temp) FROM road {W} HAVING MAX(temp) > 1"
        assert [str(a) for a in self.aggregation(text).aggregates] == ["MAX(road.temp)", "MIN(road.temp)"]

    def test_each_group_is_made_once(self) -> None:
        text = f"SELECT site FROM road {W} GROUP BY site, road.site, site + 1"
        assert [str(g.expression) for g in self.aggregation(text).groups] == ["road.site", "(road.site + 1)"]

    def test_having_alone_makes_one_group(self) -> None:
        aggregation = self.aggregation(f"SELECT 1 AS one FROM road {W} HAVING TRUE")
        assert aggregation.groups == ()
        assert [str(a) for a in aggregation.aggregates] == ["COUNT(*)"]

    @pytest.mark.parametrize(
        ("aggregate", "kind"),
        [
            ("COUNT(*)", "integer"),
            ("COUNT(vehicle)", "integer"),
            ("COUNT(NULL)", "integer"),
            ("SUM(site)", "integer"),
            ("SUM(price)", "decimal"),
            ("SUM(site * 0.5)", "float"),
            ("AVG(site)", "float"),
            ("AVG(price)", "float"),
            ("MIN(vehicle)", "string"),
            ("MAX(since)", "time"),
            ("MAX(at)", "timestamp"),
            ("MIN(ok)", "boolean"),
        ],
    )
    def test_types_of_aggregates(self, aggregate: str, kind: str) -> None:
        assert columns(f"SELECT {aggregate} AS it FROM traffic {W}") == [f"it:{kind}"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (f"SELECT site, COUNT(*) FROM road {W}", "site is neither grouped nor aggregated"),
            (f"SELECT site + 2 FROM road {W} GROUP BY site + 1", "site is neither grouped nor aggregated"),
            (f"SELECT site FROM road {W} GROUP BY site HAVING temp > 1", "temp is neither grouped nor aggregated"),
            (f"SELECT * FROM road {W} GROUP BY site", "SELECT * cannot be used with GROUP BY, HAVING or aggregates"),
            (f"SELECT * FROM road {W} HAVING TRUE", "SELECT * cannot be used with GROUP BY, HAVING or aggregates"),
            (f"SELECT temp FROM road {W} WHERE MAX(temp) > 1", "an aggregate is not allowed in WHERE"),
            (f"SELECT 1 AS x FROM road {W} GROUP BY MAX(temp)", "an aggregate is not allowed in GROUP BY"),
            (f"SELECT SUM(1 + COUNT(*)) FROM road {W}", "an aggregate is not allowed inside an aggregate"),
            (f"SELECT SUM(*) FROM road {W}", "SUM takes one argument"),
            (f"SELECT COUNT() FROM road {W}", "COUNT takes one argument"),
            (f"SELECT COUNT(temp, site) FROM road {W}", "COUNT takes one argument"),
            ("SELECT COUNT(*) FROM road", "COUNT needs a window, and this stream has none"),
            ("SELECT temp FROM road WHERE MAX(temp) > 1", "MAX needs a window, and this stream has none"),
            ("SELECT site FROM road GROUP BY site", "GROUP BY and HAVING need windows"),
            ("SELECT site FROM road HAVING TRUE", "GROUP BY and HAVING need windows"),
        ],
    )
    def test_refused(self, text: str, words: str) -> None:
        refused(text, LanguageRule, words)

    @pytest.mark.parametrize("function", ["SUM", "AVG"])
    @pytest.mark.parametrize("argument", ["vehicle", "since", "at", "ok"])
    def test_only_numbers_have_a_sum(self, function: str, argument: str) -> None:
        with pytest.raises(TypeProblem, match=f"{function} does not take a "):
            plan_of(f"SELECT {function}({argument}) FROM traffic {W}")
