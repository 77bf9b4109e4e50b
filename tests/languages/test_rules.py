"""What parses and is forbidden, or allowed and probably not meant."""

from __future__ import annotations

import pytest

from transom.algebra.tree import is_stream, walk
from transom.algebra.windows import Coordinate, Every, Window
from transom.catalog.catalog import Catalog
from transom.errors import LanguageRule, NameProblem, ParseError
from transom.languages.sneeql.parse import parse
from transom.languages.sneeql.translate import translate
from transom.languages.sql.select import MAX_SOURCES

from ..cases import Case, catalog_of, golden_cases
from .asking import CATALOG, EXTENTS, W, plan_of, refused

WITH_ANSWER = [case for case in golden_cases() if case.expected["kind"] != "error"]
REFUSED = {case.name: case for case in golden_cases() if case.expected["kind"] == "error"}


@pytest.mark.parametrize("case", WITH_ANSWER, ids=lambda case: case.name)
def test_golden_queries_are_taken(case: Case) -> None:
    """Each has the kind of answer and the columns that were derived by hand."""
    plan = plan_of(case.text, catalog_of(case.schema))
    assert [attribute.label for attribute in plan.schema] == case.expected["columns"]
    assert is_stream(plan) == (case.expected["kind"] == "tagged-tuples")


SUBQUERY = "a subquery in FROM has to give a stream, and this one "


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("x01-stream-query-with-two-streams", LanguageRule, "a stream joined with other sources needs a window"),
        ("x02-aggregate-over-a-stream", LanguageRule, "MAX needs a window, and this stream has none"),
        ("x03-time-window-on-a-table", LanguageRule, "t is a table, but FROM .. TO windows are for streams"),
        ("x04-scan-on-a-stream", LanguageRule, "SCAN is for tables, and a is a stream"),
        ("x05-ambiguous-attribute", NameProblem, "ambiguous attribute x"),
    ],
)
def test_golden_queries_are_refused(name: str, kind: type, words: str) -> None:
    refused(REFUSED[name].text, kind, words, catalog_of(REFUSED[name].schema))
    assert len(REFUSED) == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT category FROM road, tempClass", "a stream joined with other sources needs a window"),
        ("SELECT category FROM tempClass, (SELECT * FROM road)", "a stream joined with other sources needs a window"),
        ("ISTREAM(SELECT temp FROM road)", "ISTREAM needs windows, and this query gives a stream"),
        (
            f"DSTREAM(RSTREAM(SELECT temp FROM road {W}))",
            "DSTREAM needs windows, and RSTREAM has already made a stream",
        ),
        (f"SELECT temp FROM (SELECT temp FROM road {W})", SUBQUERY + "gives windows"),
        (f"SELECT temp FROM (SELECT temp FROM road {W}) {W}", SUBQUERY + "gives windows"),
        ("SELECT temp FROM (SELECT temp FROM tempClass) AS t [SCAN 1 SEC]", SUBQUERY + "reads a table"),
        (
            f"SELECT temp FROM (RSTREAM(SELECT temp FROM road {W})) [SCAN 1 SEC]",
            "SCAN is for tables, and the subquery is a stream",
        ),
        (f"SELECT temp FROM tempClass {W}", "tempClass is a table, but FROM .. TO windows are for streams"),
        (
            "SELECT temp FROM tempClass [FROM NOW-1 TO NOW SLIDE 1 ROWS]",
            "tempClass is a table, but FROM .. TO windows are for streams",
        ),
        ("SELECT temp FROM tempClass [SCAN 5 ROWS]", "SCAN counts time, not rows"),
        ("SELECT temp FROM tempClass [SCAN 0 SEC]", "a scan interval cannot be 0"),
        ("SELECT temp FROM road [FROM NOW-1 TO NOW SLIDE 0 SEC]", "a slide cannot be 0"),
        ("SELECT temp FROM road [FROM NOW-1 TO NOW SLIDE 0 ROWS]", "a slide cannot be 0"),
        ("SELECT ABS(*) FROM road", "ABS does not take *"),
    ],
)
def test_refused(text: str, words: str) -> None:
    refused(text, LanguageRule, words)


@pytest.mark.parametrize(
    "window",
    [
        "[FROM NOW-10 ROWS TO NOW SLIDE 1 MIN]",
        "[FROM NOW-10 MIN TO NOW SLIDE 1 ROWS]",
        "[FROM NOW-10 TO NOW-1 MIN SLIDE 1 MIN]",
    ],
)
def test_units_do_not_mix(window: str) -> None:
    """A window has one unit, in one place (S34)."""
    with pytest.raises(ParseError) as caught:
        parse(f"SELECT temp FROM road {window}")
    assert caught.value.hint == "a window has one unit, written after SLIDE"


def test_subqueries_nest() -> None:
    """Window queries come into FROM through a converter, stream queries as they are."""
    inner = f"RSTREAM(SELECT MAX(s.temp) AS top FROM (SELECT temp FROM road WHERE site = 1) AS s {W})"
    plan = plan_of(f"SELECT t.top FROM ({inner}) AS t WHERE t.top > 20")
    assert is_stream(plan)
    assert not is_stream(plan_of(f"SELECT t.top FROM ({inner}) AS t {W}"))


class TestWarnings:
    """What is legal and probably not meant."""

    def warnings(self, window: str) -> list[str]:
        text = f"SELECT temp FROM road {window}"
        found = translate(parse(text), CATALOG).warnings
        assert {text[remark.span.start : remark.span.end] for remark in found} <= {window}
        return [remark.message for remark in found]

    @pytest.mark.parametrize("unit", ["SEC", "ROWS"])
    def test_from_later_than_to(self, unit: str) -> None:
        """Every window is empty, and the author is told (S19)."""
        assert self.warnings(f"[FROM NOW TO NOW-5 SLIDE 1 {unit}]") == [
            "FROM is later than TO, so every window is empty"
        ]

    def test_rows_in_no_window(self) -> None:
        assert self.warnings("[FROM NOW-1 TO NOW SLIDE 5 ROWS]") == ["rows between two windows are in none of them"]

    @pytest.mark.parametrize(
        "window",
        [
            "[FROM NOW-5 TO NOW SLIDE 1 MIN]",
            "[FROM NOW-5 TO NOW-5 SLIDE 1 SEC]",
            "[FROM NOW-0 TO NOW SLIDE 1 ROWS]",
            "[FROM NOW-4 TO NOW SLIDE 5 ROWS]",
        ],
    )
    def test_nothing_to_say(self, window: str) -> None:
        assert self.warnings(window) == []

    def test_a_subquery_warns_too(self) -> None:
        text = "SELECT * FROM (RSTREAM(SELECT temp FROM road [FROM NOW TO NOW-5 SLIDE 1 SEC])) AS s"
        assert len(translate(parse(text), CATALOG).warnings) == 1


class TestTicks:
    """Units of windows are whole numbers of ticks (S3)."""

    @pytest.mark.parametrize(
        ("tick", "unit", "step"),
        [
            ("1 s", "SEC", 1),
            ("500 ms", "SEC", 2),
            ("1 ms", "MIN", 60_000),
            ("1 us", "HOUR", 3_600_000_000),
            ("1 min", "MIN", 1),
            ("7 s", "ROWS", 1),
            ("90 s", "HOUR", 40),
        ],
    )
    def test_whole_ticks(self, tick: str, unit: str, step: int) -> None:
        catalog = Catalog.from_dict({"tick": tick, "extents": {"a": EXTENTS["tagged"]}})
        plan = plan_of(f"SELECT x FROM a [FROM NOW-1 TO NOW SLIDE 1 {unit}]", catalog)
        window = next(op for op in walk(plan) if isinstance(op, Window))
        assert isinstance(window.slide, Every)
        assert window.slide.step == step

    @pytest.mark.parametrize(
        ("tick", "window", "words"),
        [
            ("1 min", "FROM NOW-1 TO NOW SLIDE 1 SEC", "1 SEC"),
            ("90 s", "FROM NOW-1 TO NOW SLIDE 3 MIN", "1 MIN"),
            ("7 s", "FROM NOW-7 TO NOW SLIDE 1 HOUR", "1 HOUR"),
            ("5 s", "FROM NOW-10 TO NOW-2 SLIDE 10 SEC", "2 SEC"),
        ],
    )
    def test_parts_of_ticks_are_refused(self, tick: str, window: str, words: str) -> None:
        catalog = Catalog.from_dict({"tick": tick, "extents": {"a": EXTENTS["tagged"]}})
        with pytest.raises(LanguageRule, match=f"{words}.* is not a whole number of ticks") as caught:
            plan_of(f"SELECT x FROM a [{window}]", catalog)
        assert caught.value.hint is not None
        assert "use multiples of " in caught.value.hint

    def test_several_units_may_make_a_whole_tick(self) -> None:
        catalog = Catalog.from_dict({"tick": "5 s", "extents": {"a": EXTENTS["tagged"]}})
        plan = plan_of("SELECT x FROM a [FROM NOW-10 TO NOW SLIDE 10 SEC]", catalog)
        window = next(op for op in walk(plan) if isinstance(op, Window))
        assert window.slide == Every(Coordinate.TICK, 2)


def test_the_number_of_sources_is_bounded() -> None:
    """A plan stays shallow enough to walk."""
    sources = [f"road {W} AS r{number}" for number in range(MAX_SOURCES + 1)]
    assert plan_of(f"SELECT r0.temp FROM {', '.join(sources[:-1])}")
    refused(f"SELECT r0.temp FROM {', '.join(sources)}", LanguageRule, f"more than {MAX_SOURCES} sources")


GAP = "rows between two windows are in none of them"
OVERLAP = "the window is one longer than its slide, so a row on the boundary is in two windows"
UNKNOWN = "a comparison with NULL is never true; IS NULL asks for it"


def overlap(instead: str) -> str:
    return f"{OVERLAP}; for windows that do not overlap write {instead}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT temp FROM road [FROM NOW-5 TO NOW SLIDE 10 SEC]", [GAP]),
        (
            "SELECT temp FROM road [FROM NOW-9 TO NOW SLIDE 10 MIN]",
            [f"{GAP}; for windows without a gap write [FROM NOW-599 TO NOW SLIDE 600 SEC]"],
        ),
        ("SELECT temp FROM road [FROM NOW-8 TO NOW SLIDE 10 MIN]", [GAP]),
        ("SELECT temp FROM road [FROM NOW-1 TO NOW SLIDE 4 ROWS]", [GAP]),
        ("SELECT temp FROM road [FROM NOW TO NOW SLIDE 10 SEC]", []),
        ("SELECT temp FROM road [FROM NOW-9 TO NOW SLIDE 10 SEC]", []),
        ("SELECT temp FROM road [FROM NOW-1 TO NOW SLIDE 1 MIN]", [overlap("[FROM NOW-59 TO NOW SLIDE 60 SEC]")]),
        (
            "SELECT temp FROM road [FROM NOW-3 TO NOW-2 SLIDE 1 HOUR]",
            [overlap("[FROM NOW-10799 TO NOW-7200 SLIDE 3600 SEC]")],
        ),
        ("SELECT temp FROM road [FROM NOW-1 TO NOW SLIDE 1 SEC]", [overlap("[FROM NOW TO NOW SLIDE 1 SEC]")]),
        ("SELECT temp FROM road [FROM NOW-5 TO NOW SLIDE 5 ROWS]", [overlap("[FROM NOW-4 TO NOW SLIDE 5 ROWS]")]),
        ("SELECT temp FROM road [FROM NOW-1 TO NOW SLIDE 1 ROWS]", []),
        ("SELECT temp FROM road [FROM NOW-10 TO NOW SLIDE 5 SEC]", []),
        (
            "SELECT temp FROM road WHERE temp > 1 AND temp = NULL",
            ["a comparison with NULL is never true; IS NULL asks for it"],
        ),
        ("SELECT temp FROM road WHERE temp IS NULL", []),
    ],
)
def test_what_is_legal_and_probably_not_meant(text: str, words: list[str]) -> None:
    assert [remark.message for remark in translate(parse(text), CATALOG).warnings] == words


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT tick FROM tagged {W}, road {W}",
        f"SELECT road.tick FROM road {W}, (SELECT road.tick FROM road WHERE site = 1) {W}",
    ],
)
def test_a_declared_column_does_not_hide_the_tag_of_another_source(text: str) -> None:
    """Both are called tick, so the name alone says nothing (S21, S35)."""
    with pytest.raises(NameProblem, match="ambiguous attribute") as caught:
        plan_of(text)
    assert caught.value.hint


def test_no_two_columns_of_a_star_have_one_name() -> None:
    text = f'SELECT * FROM (SELECT temp AS "r.site", temp FROM road) {W}, road {W} AS r'
    refused(text, NameProblem, "two columns of * have one name")
