"""What Spark does not run: every gap of the planner is declared once, shown in docs/engines.md, and real."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import transom
from tests.docs.gap_examples import RDF, ROWS, compiled
from tests.docs.pages import ROOT
from transom.errors import Unsupported
from transom.physical import gaps
from transom.physical.gaps import GAPS, Gap

PLANNERS = ("physical", "spark")


def test_every_gap_has_an_example() -> None:
    assert len(GAPS) >= 5
    assert set(ROWS) | set(RDF) == set(GAPS)
    assert len({gap.construct for gap in GAPS}) == len(GAPS)


def test_only_declared_gaps_are_refused() -> None:
    """Nothing in the planner or in the lowering to Spark makes an Unsupported but a Gap."""
    package = ROOT / "src" / "transom"
    makers = [
        file.relative_to(package).as_posix()
        for layer in PLANNERS
        for file in (package / layer).rglob("*.py")
        if re.search(r"\bUnsupported\(", file.read_text("utf-8"))
    ]
    assert [*makers, *_makers(package / "connectors" / "spark.py")] == ["physical/gaps.py"]
    sources = [file.read_text("utf-8") for layer in PLANNERS for file in (package / layer).rglob("*.py")]
    sources += [(package / name).read_text("utf-8") for name in ("engines.py", "connectors/spark.py")]
    for name, gap in vars(gaps).items():
        if isinstance(gap, Gap):
            assert any(f"gaps.{name}.refusal(" in source for source in sources), f"nothing refuses {name}"


def _makers(file: Path) -> list[str]:
    return [file.name] if "Unsupported(" in file.read_text("utf-8") else []


@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.construct)
def test_every_example_is_refused_for_its_reason(gap: Gap, tmp_path: Path) -> None:
    query = compiled(gap, tmp_path)
    refused = query.engines.refusals["spark"]
    assert refused.construct == gap.construct
    assert refused.why.startswith(gap.reason)
    assert refused.position is not None, "the place in the text is missing"
    assert f"{gap.construct} ({refused.position[0]}:{refused.position[1]})" in str(query.engines)
    assert query.engines.runs[0] == "reference"
    with pytest.raises(Unsupported) as planned:
        query.physical()
    assert planned.value.construct == gap.construct
    assert planned.value.hint


@pytest.mark.parametrize("gap", [gaps.FOLLOWED_ORDER, gaps.FOLLOWED_WITHOUT_SCAN], ids=lambda gap: gap.construct)
def test_what_is_refused_live_only_can_be_replayed(gap: Gap, tmp_path: Path) -> None:
    engines = compiled(gap, tmp_path).engines
    assert engines.replay_only
    assert engines.runs == ("reference", "spark")
    assert str(engines).startswith("the reference engine, Spark (replay only; not live: ")


def test_what_runs_everywhere() -> None:
    catalog = transom.Catalog.load(ROOT / "examples" / "roads" / "catalog.yaml")
    query = transom.compile("SELECT site FROM road", catalog)
    assert query.engines.runs == ("reference", "spark")
    assert not query.engines.refusals
    assert str(query.engines) == "the reference engine, Spark"


def test_a_pattern_that_no_engine_reads(tmp_path: Path) -> None:
    catalog = transom.Catalog.read('rdf: {g: {graph: "http://e.org/g"}}', folder=tmp_path)
    text = r"SELECT ?s FROM <http://e.org/g> WHERE { ?s ?p ?o FILTER REGEX(?o, '\\p{Lu}') }"
    engines = transom.compile(text, catalog, language="sparql").engines
    assert engines.runs == ()
    assert str(engines).startswith("no engine; not on the reference engine: REGEX (1:57); not on Spark: ")
