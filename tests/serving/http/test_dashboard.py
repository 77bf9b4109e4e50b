"""The dashboards for Grafana: their PromQL names only metrics, labels and values that `serve` or `collect` expose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.serving.http.collected import collected
from tests.serving.recorded import Served, write_project
from transom.model.balance import Balance
from transom.serving.http.app import ProjectServer
from transom.serving.http.collector_app import CollectorServer
from transom.serving.http.server import Listening

EXAMPLES = Path(__file__).parents[3] / "examples" / "serve"
PAGE = Path(__file__).parents[3] / "docs" / "commands.md"
TOPIC = "SELECT AVG(x) FROM topic [RANGE 10 SECONDS SLIDE 5 SECONDS]"

FUNCTIONS = {"increase", "rate", "sum"}
SCRAPED = {"instance", "job"}
"""Labels that Prometheus itself adds to each sample of a server that it scrapes."""
VARIABLES = {"$__rate_interval", "$instance", "$query", "$extent"}

Exposed = dict[str, dict[str, set[str]]]
"""The values of each label, by the name of a sample."""

_TOKEN = re.compile(
    r"""(?P<name>[a-zA-Z_]\w*)|(?P<text>"[^"]*")|(?P<range>\[(?:\d+[smhd]|\$\w+)\])|(?P<number>\d+)"""
    r"""|(?P<sign>=~|!~|!=|[-+*/<>=(){},])|(?P<blank>\s+)"""
)


def tokens(expression: str) -> Iterator[tuple[str, str]]:
    """The parts of an expression, with their kinds."""
    at = 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        assert found, f"no PromQL that this test knows: {expression[at:]}"
        at = found.end()
        if found.lastgroup != "blank":
            yield str(found.lastgroup), found[0]


def metrics_of(expression: str, exposed: Exposed) -> set[str]:
    """The metrics of an expression; AssertionError at a name or a label that is not exposed."""
    parts = [*tokens(expression), ("end", "")]
    metrics: set[str] = set()
    grouped: set[str] = set()
    metric, inside = "", ""
    for (kind, word), (_, after), (next_kind, value) in zip(parts, parts[1:], [*parts[2:], ("end", "")]):
        if word in ("{", "("):
            inside = "{" if word == "{" else inside
        elif word in ("}", ")"):
            inside = ""
        elif kind != "name":
            continue
        elif inside == "{":
            labels = exposed[metric]
            assert word in labels or word in SCRAPED, f"{metric} has no label {word}"
            assert after in ("=", "=~", "!=", "!~"), expression
            assert next_kind == "text", expression
            check_values(word, value.strip('"'), labels.get(word, set()))
        elif inside == "by":
            grouped.add(word)
        elif word == "by":
            assert after == "(", expression
            inside = "by"
        elif after == "(" or word in FUNCTIONS:
            assert word in FUNCTIONS, f"no function that the dashboard needs: {word}"
        else:
            assert word in exposed, f"no metric is called {word}"
            metric = word
            metrics.add(word)
    for name in grouped:
        assert all(name in exposed[metric] or name in SCRAPED for metric in metrics), f"no label {name}"
    assert metrics, expression
    return metrics


def check_values(label: str, text: str, values: set[str]) -> None:
    """Check that what a matcher names is a variable, or are values that the label has."""
    if text.startswith("$"):
        assert text in VARIABLES, text
        return
    assert set(text.split("|")) <= values, f"{label} is never one of {text}"


def text_of_project(folder: Path) -> str:
    """The metrics of a project that runs."""
    queries = {"road": "RSTREAM(SELECT site FROM road [NOW])", "topic": TOPIC, "broken": "SELECT y FROM road [NOW]"}
    served = Served(write_project(folder, queries))
    served.steps()
    served.run("topic").batch(0, topic=Balance(10, 6, 2, {"not JSON": 1}, 1))
    served.run("road").batch(0, road=Balance(1, 1))
    served.steps()
    with ProjectServer(served.supervisor, Listening()) as server:
        return httpx.get(f"{server.address}/metrics", trust_env=False).text


def text_of_collector(folder: Path) -> str:
    """The metrics of a collector."""
    with CollectorServer(collected(folder).status, Listening()) as server:
        return httpx.get(f"{server.address}/metrics", trust_env=False).text


KINDS = {"grafana.json": text_of_project, "grafana-collector.json": text_of_collector}


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """The name of a dashboard's file."""
    return str(request.param)


@pytest.fixture(scope="module")
def exposed_families(kind: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exposed]:
    """The metrics that a dashboard is for, as the parser of Prometheus' own client reads them, by family."""
    return families_of(KINDS[kind](tmp_path_factory.mktemp("exposed")))


def families_of(text: str) -> dict[str, Exposed]:
    """The samples of each family, and the values of their labels."""
    families: dict[str, Exposed] = {}
    for family in text_string_to_metric_families(text):
        samples: Exposed = families.setdefault(family.name, {})
        for sample in family.samples:
            labels = samples.setdefault(sample.name, {})
            for name, value in sample.labels.items():
                labels.setdefault(name, set()).add(value)
    return families


@pytest.fixture(scope="module")
def exposed(exposed_families: dict[str, Exposed]) -> Exposed:
    return {name: labels for samples in exposed_families.values() for name, labels in samples.items()}


@pytest.fixture(scope="module")
def exposed_by_project(tmp_path_factory: pytest.TempPathFactory) -> Exposed:
    families = families_of(text_of_project(tmp_path_factory.mktemp("project")))
    return {name: labels for samples in families.values() for name, labels in samples.items()}


@pytest.fixture(scope="module")
def dashboard(kind: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((EXAMPLES / kind).read_text("utf-8"))
    return read


def test_the_page_lists_all_metrics_with_their_labels(exposed: Exposed) -> None:
    rows = re.findall(r"^\| (`transom_.+?) \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    listed = {
        name: set(re.findall(r"`(\w+)`", labels)) for names, labels in rows for name in re.findall(r"`(\w+)`", names)
    }
    prefixes = {name.split("_")[1] for name in exposed}
    assert {name: set(labels) for name, labels in exposed.items() if not name.endswith("_created")} == {
        name: labels for name, labels in listed.items() if name.split("_")[1] in prefixes
    }


def targets_of(dashboard: dict[str, Any]) -> list[dict[str, str]]:
    return [target for panel in dashboard["panels"] for target in panel.get("targets", ())]


def test_the_dashboard_shows_what_is_exposed_and_nothing_else(
    dashboard: dict[str, Any], exposed: Exposed, exposed_families: dict[str, Exposed]
) -> None:
    shown = set()
    for target in targets_of(dashboard):
        metrics = metrics_of(target["expr"], exposed)
        for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
            assert all(label in exposed[metric] or label in SCRAPED for metric in metrics), target
        shown |= metrics
    assert len(exposed_families) >= 11
    for family, samples in exposed_families.items():
        assert samples, f"{family} has no sample in this project"
        assert shown & set(samples), f"{family} is not on the dashboard"


def test_counters_are_shown_as_rates(dashboard: dict[str, Any]) -> None:
    for target in targets_of(dashboard):
        for found in re.finditer(r"(\w*\(?)(transom_\w+)", target["expr"]):
            is_counter = found[2].endswith("_total")
            assert is_counter == (found[1] in ("rate(", "increase(")), target["expr"]


def test_variables_list_what_is_exposed(dashboard: dict[str, Any], exposed: Exposed) -> None:
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    own = {"$query"} if "query" in variables else {"$extent"}
    assert {f"${name}" for name in variables} == {"$datasource", "$instance", *own}
    used = {found for target in targets_of(dashboard) for found in re.findall(r'"(\$\w+)"', target["expr"])}
    assert used == {"$instance", *own}
    assert variables.pop("datasource")["query"] == "prometheus"
    for name, variable in variables.items():
        found = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert found, variable
        assert variable["definition"] == found[0]
        [metric] = metrics_of(found[1], exposed)
        assert found[2] == name
        assert name in exposed[metric] or name in SCRAPED


def test_the_panels_are_complete_and_do_not_overlap(dashboard: dict[str, Any]) -> None:
    cells: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        covered = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & covered, panel["title"]
        assert at["x"] + at["w"] <= 24
        cells |= covered
        if panel["type"] != "row":
            sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
            assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources)
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids)) >= 15


@pytest.mark.parametrize(
    "expression",
    [
        "transom_query_rows",
        "transom_query_restarts",
        'transom_query_restarts_total{name="x"}',
        'transom_query_state_rows{outcome="used"}',
        'transom_source_rows_total{outcome="lost"}',
        'transom_source_rows_total{outcome=~"late|lost"}',
        'transom_source_rows_total{query="$other"}',
        "transom_source_rows_total{query}",
        "rates(transom_source_rows_total[1h])",
        "sum by (source) (transom_query_state_rows)",
        "transom_query_state_rows / transom_query_bound",
        "transom_query_state_rows[1 hour]",
        "1",
    ],
)
def test_a_wrong_expression_is_noticed(expression: str, exposed_by_project: Exposed) -> None:
    with pytest.raises(AssertionError):
        metrics_of(expression, exposed_by_project)


def test_a_right_expression_is_read(exposed_by_project: Exposed) -> None:
    assert metrics_of(
        'sum by (query, job) (rate(transom_source_rows_total{outcome=~"late|used"}[5m])) > 0', exposed_by_project
    ) == {"transom_source_rows_total"}
