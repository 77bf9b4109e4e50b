"""How large a message to Kafka may be: the topic, the producer and the address each have a say."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from transom.errors import UsageError
from transom.runtime.kafka_rows import LARGEST_REQUEST, Limit, limit_of

MIB = 1 << 20


def topic(size, **more):
    return {"max.message.bytes": str(size), **{name.replace("_", "."): value for name, value in more.items()}}


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        ({}, {}, Limit(MIB, "max.request.size")),
        ({}, topic(1000), Limit(1000, "max.message.bytes", producer={"batch.size": "1000"})),
        ({}, topic(20_000), Limit(20_000, "max.message.bytes")),
        ({"batch.size": "30000"}, topic(20_000), Limit(20_000, "max.message.bytes", producer={"batch.size": "20000"})),
        ({"batch.size": "500"}, topic(1000), Limit(1000, "max.message.bytes")),
        ({}, topic(2 * MIB), Limit(2 * MIB, "max.message.bytes", producer={"max.request.size": f"{2 * MIB}"})),
        ({"max.request.size": "30000"}, topic(2 * MIB), Limit(30_000, "max.request.size")),
        ({"max.request.size": "30000"}, {}, Limit(30_000, "max.request.size")),
        ({"max.request.size": "30000"}, topic(20_000), Limit(20_000, "max.message.bytes")),
        ({"buffer.memory": "50000"}, {}, Limit(50_000, "buffer.memory")),
        (
            {},
            topic((1 << 31) - 1),
            Limit(
                LARGEST_REQUEST,
                "max.message.bytes",
                producer={"max.request.size": f"{LARGEST_REQUEST}", "buffer.memory": f"{LARGEST_REQUEST}"},
            ),
        ),
        ({"compression.type": "lz4"}, topic(50_000), Limit(50_000, "max.message.bytes", 150)),
        ({}, topic(50_000, compression_type="gzip"), Limit(50_000, "max.message.bytes", 150)),
        ({"compression.type": "none"}, topic(50_000, compression_type="producer"), Limit(50_000, "max.message.bytes")),
    ],
)
def test_limit(options, settings, expected):
    assert limit_of(options, settings) == expected


def test_limit_in_the_address(monkeypatch):
    monkeypatch.setenv("SIZE", "7000")
    assert limit_of({"max.request.size": "${SIZE}"}, {}).largest == 7000
    with pytest.raises(UsageError, match=r"max\.request\.size is a number of bytes"):
        limit_of({"max.request.size": "7k"}, {})
