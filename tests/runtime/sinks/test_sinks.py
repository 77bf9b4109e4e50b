"""Sinks as one writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from transom.errors import UsageError
from transom.runtime.sinks.sink import Sink


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("console", Sink("console")),
        ("parquet:/a/b", Sink("parquet", "/a/b")),
        ("jsonl:s3://a", Sink("jsonl", "s3://a")),
        ("parquet:a", Sink("parquet", str(Path("a").absolute()))),
        ("kafka://a:1,b:2/t", Sink("kafka", None, "kafka://a:1,b:2/t")),
        ("postgresql://u:${PW}@h:5/d/t", Sink("postgresql", None, "postgresql://u:${PW}@h:5/d/t")),
        ("mqtts://h/a/b", Sink("mqtt", None, "mqtts://h/a/b")),
        ("webhook:https://h/${TOKEN}", Sink("webhook", None, "https://h/${TOKEN}")),
    ],
)
def test_sinks(text, expected):
    assert Sink.read(text) == expected
    assert str(expected).startswith(expected.kind)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "consol",
        "parquet:",
        "kafka://h",
        "postgresql://h/d",
        "mqtt:///t",
        "webhook:h",
        "mqtt://u:pw@h/t",
        "http://h",
    ],
)
def test_refused(text):
    with pytest.raises(UsageError) as caught:
        Sink.read(text)
    assert ":pw@" not in str(caught.value)
