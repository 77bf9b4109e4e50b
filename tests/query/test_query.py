"""The Python API: compile, and what a query tells of itself."""

from __future__ import annotations

import inspect
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import transom
from transom import errors
from transom.errors import DataError, ParseError, QueryError, TransomError, UsageError
from transom.languages.sql.parse import MAX_DEPTH
from transom.model.answer import show

ROADS = Path(__file__).parents[2] / "examples" / "roads"
CATALOG = transom.Catalog.read("""
extents:
  a: pushed (x:integer, s:string)
  t: stored (y:integer)
  g:
    declare: pushed (v:integer)
    source:
      generate: {seed: 1, arrivals: {every: 2 s}, attributes: {v: {constant: 5}}}
""")


def test_importing_starts_nothing_and_is_quick() -> None:
    code = (
        "import sys, time; start = time.perf_counter(); import transom; took = time.perf_counter() - start;"
        "print(took, any(m in sys.modules for m in ('pyspark', 'duckdb', 'pyarrow', 'lark', 'typer', 'rich', 'yaml')))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert float(output[0]) < 0.3
    assert output[1] == "False"


def test_public_names() -> None:
    classes = {"Answer", "Catalog", "Map", "Picture", "Query", "RdfAnswer"}
    problems = {
        name
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, Warning | TransomError)
    }
    assert set(transom.__all__) == {*classes, *problems, "compile"}
    assert all(getattr(transom, name).__name__ == name for name in transom.__all__)
    with pytest.raises(AttributeError, match="has no attribute sparks"):
        _ = transom.sparks  # type: ignore[attr-defined]


def test_a_query_tells_of_itself() -> None:
    query = transom.compile((ROADS / "q3.sneeql").read_text(), transom.Catalog.load(ROADS / "catalog.yaml"))
    assert query.columns == ("road.site", "tempClass.category")
    assert query.result_kind == "tagged-tuples"
    assert query.state.rows == 548
    assert str(query.state) == "rate(road) * 301 s * rows(tempClass) + 2 * rate(road) * 301 s + rows(tempClass) = 548"
    assert query.state.bounded
    [remark] = query.warnings
    assert remark.line(query.text, query.name) == (
        "query:2:11: the window is one longer than its slide, so a row on the boundary is in two windows; "
        "for windows that do not overlap write [FROM NOW-299 TO NOW SLIDE 300 SEC]"
    )
    assert [extent.name for extent in query.sources] == ["road", "tempClass"]
    assert [step.rule for step in query.steps] == ["product_to_join", "prune_columns"]
    assert query.format().startswith("ISTREAM(\n  SELECT")
    assert "ISTREAM(" in query._repr_html_()
    assert "Convert" in query.explain("syntax")
    with pytest.raises(UsageError):
        query.explain("dream")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        query.explain("plan", "poem")  # type: ignore[arg-type]


def test_simulate_with_given_rows() -> None:
    query = transom.compile("SELECT x, y FROM a [FROM NOW-1 TO NOW SLIDE 1 SEC], t", CATALOG)
    answer = query.simulate({"a": [{"tick": 0, "x": 1, "s": "p"}, (2, 3, "q")], "t": [[7], {"y": 8}]}, until=2)
    assert [(w.tick, w.rows) for w in answer.windows] == [
        (0, ((1, 7), (1, 8))),
        (1, ((1, 7), (1, 8))),
        (2, ((3, 7), (3, 8))),
    ]
    assert len(answer) == 3
    assert [w.tick for w in answer] == [0, 1, 2]
    assert answer.header == ("tick", "seq", "empty", "x", "y")


def test_until_defaults_to_the_last_tick_of_the_inputs() -> None:
    query = transom.compile("SELECT y FROM t [SCAN 1 SEC]", CATALOG)
    assert [w.tick for w in query.simulate({"t": {0: [[1]], 3: []}}).windows] == [0, 1, 2, 3]
    assert transom.compile("SELECT x FROM a", CATALOG).simulate({"a": []}).elements == ()


def test_start() -> None:
    """Boundaries stay multiples of the slide; a one-off query scans at the start; earlier rows do not exist (S38)."""
    rows = {"a": [(tick, tick, "") for tick in range(8)], "t": {0: [[1]], 3: [[2]]}}
    windows = transom.compile("SELECT x FROM a [FROM NOW-3 TO NOW SLIDE 2 SEC]", CATALOG)
    assert [(w.tick, [r[0] for r in w.rows]) for w in windows.simulate(rows, until=7, start=3).windows] == [
        (4, [3, 4]),
        (6, [3, 4, 5, 6]),
    ]
    once = transom.compile("SELECT y FROM t", CATALOG)
    assert [(w.tick, w.rows) for w in once.simulate(rows, until=7, start=5).windows] == [(5, ((2,),))]
    counted = transom.compile("SELECT x FROM a [FROM NOW TO NOW SLIDE 2 ROWS]", CATALOG)
    assert [(w.tick, w.rows) for w in counted.simulate(rows, until=7, start=3).windows] == [(4, ((4,),)), (6, ((6,),))]
    with pytest.raises(UsageError, match="before the start"):
        once.simulate(rows, until=2, start=5)


def test_generated_sources() -> None:
    query = transom.compile("SELECT v FROM g", CATALOG)
    assert [e.tick for e in query.simulate(until=6).elements] == [0, 2, 4, 6]
    with pytest.raises(UsageError, match="without end"):
        query.simulate()


def test_what_cannot_be_asked() -> None:
    query = transom.compile("SELECT x FROM a", CATALOG)
    with pytest.raises(UsageError, match="no extent"):
        query.simulate({"b": []})
    for inputs in ({"a": None}, {"a": 5}, {"a": "rows"}, {"t": None, "a": []}, {"t": {0: None}, "a": []}):
        with pytest.raises(DataError, match="not a list"):
            transom.compile("SELECT x FROM a [FROM NOW TO NOW SLIDE 1 SEC], t", CATALOG).simulate(inputs)
    for until in ("six", 6.0, -1, True):
        with pytest.raises(UsageError, match=r"until: .* (is not a time|lies before tick 0)"):
            query.simulate({"a": []}, until=until)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="rows by extent"):
        query.simulate([1])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="takes the text"):
        transom.compile(None, CATALOG)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="list of rule names"):
        transom.compile("SELECT x FROM a", CATALOG, without="prune_columns")
    with pytest.raises(UsageError, match="is called luck"):
        transom.compile("SELECT x FROM a", CATALOG, optimize=False, without=["luck"])
    with pytest.raises(UsageError, match="no rows for a"):
        query.simulate()
    with pytest.raises(DataError):
        query.simulate({"a": [(0, "one", "")]})
    with pytest.raises(UsageError, match="no language"):
        transom.compile("SELECT x FROM a", CATALOG, language="prolog")  # type: ignore[call-overload]
    with pytest.raises(QueryError) as caught:
        transom.compile("SELECT z FROM a", CATALOG, name="mine.sneeql")
    assert str(caught.value).startswith("mine.sneeql:1:8: no attribute is called z")


def test_picture_is_shown_in_a_notebook(tmp_path: Path) -> None:
    query = transom.compile("SELECT x FROM a [FROM NOW-1 TO NOW SLIDE 1 SEC]", CATALOG)
    drawing = query.picture({"a": [(0, 1, "p")]}, until=3)
    drawing.save(tmp_path / "w.svg")
    assert ET.parse(tmp_path / "w.svg").getroot().tag.endswith("svg")  # noqa: S314 - we wrote it
    assert drawing._repr_svg_() == drawing.svg


def test_answer_is_shown_in_a_notebook() -> None:
    query = transom.compile("SELECT x, s FROM a", CATALOG)
    answer = query.simulate({"a": [(0, None, "<b>")] + [(1, i, "") for i in range(300)]})
    page = answer._repr_html_()
    assert "&lt;b&gt;" in page
    assert "and 101 more" in page
    assert next(answer.json_lines()) == '{"tick": 0, "index": 1, "values": {"x": null, "s": "<b>"}}'


def test_values_as_people_read_them() -> None:
    moment = datetime(2009, 3, 2, tzinfo=UTC)
    assert [show(v) for v in (None, True, False, 1.5, moment)] == [
        "",
        "true",
        "false",
        "1.5",
        "2009-03-02T00:00:00+00:00",
    ]
    catalog = transom.Catalog.read("d: pushed (m:decimal, z:timestamp)")
    answer = transom.compile("SELECT m, z FROM d", catalog).simulate({"d": [(0, Decimal("1.50"), moment)]})
    assert '"m": "1.5", "z": "2009-03-02T00:00:00+00:00"' in next(answer.json_lines())


def test_tags_make_way_for_columns_of_their_name() -> None:
    answer = transom.compile("SELECT tick, x FROM a", CATALOG).simulate({"a": [(3, 1, "")]})
    assert answer.header == ("tick (tag)", "index", "tick", "x")
    assert list(answer.records()) == [(3, 1, 3, 1)]


def test_csv_tells_null_from_an_empty_string() -> None:
    answer = transom.compile("SELECT x, s FROM a", CATALOG).simulate(
        {"a": [(0, None, ""), (1, 2, 'a "b", c'), (2, 3, None)]}
    )
    assert list(answer.csv_lines()) == ["tick,index,x,s", '0,1,,""', '1,2,2,"a ""b"", c"', "2,3,3,"]


def test_rows_of_today_counted_from_1970_are_refused() -> None:
    query = transom.compile("SELECT x FROM a [FROM NOW-5 TO NOW SLIDE 1 SEC]", CATALOG)
    with pytest.raises(DataError, match=r"has 1,\d\d\d,\d\d\d,\d\d\d windows") as caught:
        query.simulate({"a": [("2024-06-01T00:00:00Z", 1, "")]})
    assert "epoch" in str(caught.value)
    day = 1_717_200_000
    assert len(query.simulate({"a": [("2024-06-01T00:00:00Z", 1, "")]}, start=day - 3)) == 4


def test_a_one_off_query_after_the_last_version() -> None:
    answer = transom.compile("SELECT y FROM t", CATALOG).simulate({"t": {0: [[1]], 3: [[2]]}}, start=4)
    assert [(w.tick, w.rows) for w in answer.windows] == [(4, ((2,),))]


def test_nothing_grows_without_limit() -> None:
    case = "x"
    for _ in range(30):
        case = f"CASE {case} WHEN 1 THEN 1 WHEN 2 THEN 2 END"
    with pytest.raises(QueryError, match="more than 10,000 parts"):
        transom.compile(f"SELECT {case} AS c FROM a", CATALOG)
    between = "(x = 1)"
    for _ in range(30):
        between = f"({between} BETWEEN FALSE AND TRUE)"
    with pytest.raises(QueryError, match="more than 10,000 parts"):
        transom.compile(f"SELECT x FROM a WHERE {between}", CATALOG)
    nested = "SELECT x AS v FROM a"
    for _ in range(22):
        nested = f"SELECT v + v AS v FROM ({nested})"
    query = transom.compile(f"SELECT v FROM ({nested}) WHERE v > 0", CATALOG)
    assert query.simulate({"a": [(0, 1, "")]}).elements[0].row == (2**22,)


def test_deep_nesting_is_an_error_of_the_query() -> None:
    deepest = MAX_DEPTH - 5  # the query, the list, the item and the column are levels, too
    assert transom.compile(nested_case(deepest), CATALOG).columns == ("c",)
    with pytest.raises(ParseError, match="nested more than"):
        transom.compile(nested_case(deepest + 1), CATALOG)


def test_too_little_stack_is_an_error_of_the_query() -> None:
    def compile_below(frames: int) -> object:
        return compile_below(frames - 1) if frames else transom.compile(nested_case(MAX_DEPTH - 5), CATALOG)

    frames = sys.getrecursionlimit() - len(inspect.stack(0)) - 250
    with pytest.raises(ParseError, match="nested too deeply"):
        compile_below(frames)


def nested_case(levels: int) -> str:
    deep = "x"
    for _ in range(levels):
        deep = f"CASE {deep} WHEN 1 THEN 1 END"
    return f"SELECT {deep} AS c FROM a"


def test_short_words_for_a_terminal(tmp_path: Path) -> None:
    query = transom.compile("SELECT x FROM a [FROM NOW TO NOW SLIDE 1 SEC]", CATALOG, name="q.sneeql")
    assert repr(query) == "<Query q.sneeql: windows (x)>"
    assert repr(query.simulate({"a": [(1, 1, "")]})) == "<Answer: 2 windows (x)>"
    drawing = query.picture({"a": []}, until=3)
    assert repr(drawing).startswith("<Picture: SVG of ")
    with pytest.raises(UsageError, match="cannot write"):
        drawing.save(tmp_path / "no" / "x.svg")
    assert set(transom.__all__) < set(dir(transom))


def test_compile_issues_warnings_to_its_caller() -> None:
    text = "SELECT temp\nFROM road [FROM NOW-1 TO NOW-2 SLIDE 1 MIN]"
    with pytest.warns(transom.QueryWarning) as caught:
        transom.compile(text, transom.Catalog.load(ROADS / "catalog.yaml"), name="odd.sneeql")
    assert [str(one.message) for one in caught] == ["odd.sneeql:2:11: FROM is later than TO, so every window is empty"]
    assert caught[0].filename == __file__


def test_warnings_are_shown_in_a_notebook() -> None:
    query = transom.compile("SELECT x FROM a [FROM NOW TO NOW-1 SLIDE 1 SEC]", CATALOG)
    assert "warning: FROM is later than TO" in query._repr_html_()


def test_a_catalog_may_be_a_path_or_a_dictionary(tmp_path: Path) -> None:
    text = "SELECT temp FROM road"
    for catalog in (ROADS / "catalog.yaml", str(ROADS / "catalog.yaml"), transom.Catalog.load(ROADS / "catalog.yaml")):
        assert len(transom.compile(text, catalog).simulate()) == 64
    query = transom.compile("SELECT x FROM a", {"extents": {"a": "pushed (x:integer)"}})
    assert query.columns == ("x",)
    for wrong, message in [
        ("extents:\n  a: pushed (x:integer)", "the catalog is a path, not YAML text"),
        (tmp_path / "none.yaml", "no catalog file"),
        (["a"], "list is no catalog"),
        (None, "NoneType is no catalog"),
    ]:
        with pytest.raises(UsageError, match=message):
            transom.compile(text, wrong)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("q.sneeql", "sneeql"),
        ("folder/q.CQL", "cql"),
        ("q.rq", "sparql"),
        ("q.sparql", "sparql"),
        ("q", "sneeql"),
        (None, "sneeql"),
    ],
)
def test_the_suffix_of_the_name_says_the_language(name: str | None, language: str) -> None:
    texts = {"sneeql": "SELECT x FROM a", "cql": "SELECT IStream(x) FROM a [NOW]", "sparql": "ASK { ?x ?y ?z }"}
    catalog = {"extents": {"a": "pushed (x:integer)"}, "rdf": {"g": {"graph": "default"}}}
    assert transom.compile(texts[language], catalog, name=name).language == language  # type: ignore[call-overload]


def test_an_unknown_language_names_all_languages() -> None:
    with pytest.raises(UsageError, match="no language is called sql") as caught:
        transom.compile("SELECT x FROM a", CATALOG, language="sql")  # type: ignore[call-overload]
    assert caught.value.hint == "languages are sneeql, cql, sparql"


def test_times_are_text_or_datetimes() -> None:
    catalog = {"epoch": "2024-05-01T00:00:00Z", "extents": {"a": "pushed (x:integer)"}}
    query = transom.compile("SELECT x FROM a [FROM NOW TO NOW SLIDE 1 MIN]", catalog)
    rows = {"a": [(60, 1), (120, 2)]}
    ticks = [60, 120]
    for start, until in [
        (60, 120),
        ("1 min", "2 min"),
        ("2024-05-01T00:01:00Z", datetime(2024, 5, 1, 0, 2, tzinfo=UTC)),
        (timedelta(minutes=1), "120"),
    ]:
        assert [window.tick for window in query.simulate(rows, until, start=start)] == ticks
        assert query.inputs(rows, until, start=start).until == 120
        assert query.picture(rows, until, start=start).svg == query.picture(rows, 120, start=60).svg
        assert query.physical(start=start) == query.physical(start=60)
    with pytest.raises(UsageError, match="start: 'noon' is not a time"):
        query.simulate(rows, start="noon")


def test_reprs_are_short() -> None:
    many = transom.Catalog.from_dict({"extents": {f"e{number}": "pushed (x:integer)" for number in range(20)}})
    assert repr(many) == "<Catalog: 20 extents (e0, e1, e2, e3, e4, e5, e6, e7, ...)>"
    roads = transom.Catalog.load(ROADS / "catalog.yaml")
    assert repr(roads) == f"<Catalog {ROADS / 'catalog.yaml'}: 3 extents (road, traffic, tempClass)>"
    query = transom.compile("SELECT temp FROM road", roads, name="q.sneeql")
    assert repr(query) == "<Query q.sneeql: tagged-tuples (temp)>"
    assert repr(query.simulate()) == "<Answer: 64 tagged-tuples (temp)>"
