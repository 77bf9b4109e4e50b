"""What programs ask of a collector: health, metrics, and the access rules that `serve` has."""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.serving.http.certificate import make_certificate
from tests.serving.http.collected import Collected, collected
from transom.errors import UsageError
from transom.serving.http.collector_app import CollectorServer
from transom.serving.http.collector_metrics import CollectorMetrics, outcome_of
from transom.serving.http.routing import exposition
from transom.serving.http.server import Listening

TOKEN = "0123456789abcdef"


@pytest.fixture
def made(tmp_path: Path) -> Collected:
    return collected(tmp_path)


@pytest.fixture
def client(made: Collected) -> Iterator[httpx.Client]:
    with (
        CollectorServer(made.status, Listening()) as server,
        httpx.Client(base_url=server.address, trust_env=False, timeout=10) as client,
    ):
        yield client


def samples(made: Collected) -> dict[tuple[str, ...], float]:
    """The samples by name and values of labels."""
    text = exposition(CollectorMetrics(made.status, lambda: made.now)).decode()
    read = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    order = ("extent", "outcome", "site", "device", "reason")
    return {(s.name, *(s.labels[name] for name in order if name in s.labels)): s.value for s in read}


def test_metrics_of_extents(made: Collected) -> None:
    made.health["oven"].report("refused")
    read = samples(made)
    up = [read["transom_extent_up", name] for name in ("oven", "cars", "away")]
    assert up == [0, 1, 0]
    since = [read["transom_extent_seconds_since_row", name] for name in ("oven", "cars", "away")]
    assert since == [10, 4, 14]
    assert [read["transom_extent_duplicate_messages_total", name] for name in ("oven", "cars")] == [0, 1]
    assert read["transom_extent_lost_messages_total", "cars"] == 0


def test_the_balance_of_logs(made: Collected) -> None:
    read = samples(made)
    rows = {key[1:]: value for key, value in read.items() if key[0] == "transom_extent_rows_total"}
    assert rows == {
        ("oven", "rows", ""): 4,
        ("oven", "late", ""): 0,
        ("oven", "missed", "the collector was down"): 2,
        ("oven", "missed", "no connection"): 1,
        ("oven", "rejected", "wrong type"): 1,
        ("cars", "rows", ""): 2,
        ("cars", "late", ""): 1,
        ("cars", "rejected", "not JSON"): 1,
    }
    for name, arrived, dead in (("oven", 8, 1), ("cars", 4, 2)):
        assert read["transom_extent_read_total", name] == arrived
        assert sum(value for labels, value in rows.items() if labels[0] == name) == arrived
        assert read["transom_extent_dead_letters_total", name] == dead
    assert ("transom_extent_read_total", "away") not in read


def test_metrics_of_devices(made: Collected) -> None:
    """A query in the address of a device may hold a key, so it is not shown."""
    made.acquire(5, TimeoutError(), 20.0)
    read = samples(made)
    labels = [("oven", str(site), f"http://dev{site}/read") for site in (1, 2)]
    assert [read["transom_device_up", *device] for device in labels] == [0, 1]
    assert [read["transom_device_readings_total", *device] for device in labels] == [2, 3]
    missed = {key[2:]: value for key, value in read.items() if key[0] == "transom_device_missed_total" and value}
    assert missed == {
        ("1", "http://dev1/read", "no connection"): 1,
        ("1", "http://dev1/read", "no answer in time"): 1,
        ("2", "http://dev2/read", "wrong type"): 1,
    }
    assert [read["transom_device_seconds_since_reading", *device] for device in labels] == [1, 0]
    assert "KEY" not in str(read)


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("rows", "rows"), ("late", "late"), ("no answer in time", "missed"), ("ahead", "rejected"), ("x", "rejected")],
)
def test_outcomes(reason: str, outcome: str) -> None:
    assert outcome_of(reason) == outcome


def test_health(made: Collected, client: httpx.Client) -> None:
    healthy, not_ready = client.get("/healthz"), client.get("/readyz")
    assert (healthy.status_code, healthy.json()) == (200, {"healthy": True})
    assert (not_ready.status_code, not_ready.json()) == (503, {"ready": False, "extents": {"up": 2, "down": 1}})
    made.status.is_ready = True
    assert client.get("/readyz").status_code == 200
    made.status._clock = lambda: 1e12
    assert client.get("/healthz").status_code == 503


def test_metrics_over_http(client: httpx.Client) -> None:
    answer = client.get("/metrics")
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    names = {family.name for family in text_string_to_metric_families(answer.text)}
    assert {"transom_extent_up", "transom_device_up"} <= names


@pytest.mark.parametrize("path", ["/", "/queries", "/events", "/metrics/", "/%2e%2e/metrics", "//metrics"])
def test_other_paths(client: httpx.Client, path: str) -> None:
    refused = client.get(path)
    assert (refused.status_code, refused.json()) == (404, {"error": "not found"})


def test_only_get_is_answered(client: httpx.Client) -> None:
    assert client.post("/metrics", content=b"x").status_code == 405
    assert client.get("/metrics", headers={"host": "evil.example"}).status_code == 421


def test_a_token_and_tls(made: Collected, tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    listening = Listening(token=TOKEN, certificate=certificate, key=key)
    trusted = ssl.create_default_context(cafile=str(certificate))
    with (
        CollectorServer(made.status, listening) as server,
        httpx.Client(base_url=server.address, trust_env=False, verify=trusted) as client,
    ):
        assert client.get("/metrics").status_code == 401
        assert client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.get("/healthz").status_code == 200


def test_others_need_a_token(made: Collected) -> None:
    with pytest.raises(UsageError, match="a token is needed"):
        CollectorServer(made.status, Listening(host="0.0.0.0"))  # noqa: S104


def test_a_clock_that_is_set_back(made: Collected) -> None:
    past = exposition(CollectorMetrics(made.status, lambda: datetime.now(UTC) - timedelta(days=9999))).decode()
    ages = [
        sample.value
        for family in text_string_to_metric_families(past)
        for sample in family.samples
        if "seconds_since" in sample.name
    ]
    assert set(ages) == {0.0}


def test_no_spark_is_needed() -> None:
    code = "import sys; sys.modules['pyspark'] = None; import transom.serving.http.collector_app"
    subprocess.run([sys.executable, "-c", code], check=True)
