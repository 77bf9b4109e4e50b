"""The dashboard for Grafana: its PromQL names only metrics, labels and values that a served project exposes."""

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

from tests.serving.recorded import Served, write_project
from transom.model.balance import Balance
from transom.serving.http.server import Listening, ProjectServer

DASHBOARD = Path(__file__).parents[3] / "examples" / "serve" / "grafana.json"
TOPIC = "SELECT AVG(x) FROM topic [RANGE 10 SECONDS SLIDE 5 SECONDS]"

FUNCTIONS = {"increase", "rate", "sum"}
SCRAPED = {"instance", "job"}
"""Labels that Prometheus itself adds to each sample of a server that it scrapes."""
VARIABLES = {"$__rate_interval", "$instance", "$query"}

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


@pytest.fixture(scope="module")
def exposed_families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exposed]:
    """The metrics of a project that runs, as the parser of Prometheus' own client reads them, by family."""
    queries = {"road": "RSTREAM(SELECT site FROM road [NOW])", "topic": TOPIC, "broken": "SELECT y FROM road [NOW]"}
    served = Served(write_project(tmp_path_factory.mktemp("project"), queries))
    served.steps()
    served.run("topic").batch(0, topic=Balance(10, 6, 2, {"not JSON": 1}, 1))
    served.run("road").batch(0, road=Balance(1, 1))
    served.steps()
    with ProjectServer(served.supervisor, Listening()) as server:
        text = httpx.get(f"{server.address}/metrics", trust_env=False).text
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
def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(DASHBOARD.read_text("utf-8"))
    return read


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
    assert len(exposed_families) >= 13
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
    assert {f"${name}" for name in variables} | {"$__rate_interval"} == {"$datasource", *VARIABLES}
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
    assert len(ids) == len(set(ids)) > 15


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
def test_a_wrong_expression_is_noticed(expression: str, exposed: Exposed) -> None:
    with pytest.raises(AssertionError):
        metrics_of(expression, exposed)


def test_a_right_expression_is_read(exposed: Exposed) -> None:
    assert metrics_of(
        'sum by (query, job) (rate(transom_source_rows_total{outcome=~"late|used"}[5m])) > 0', exposed
    ) == {"transom_source_rows_total"}
