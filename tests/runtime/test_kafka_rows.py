"""How large a message to Kafka may be: the topic, the producer and the address each have a say."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import types as T

from transom.errors import UsageError
from transom.runtime.sinks.kafka import MAX_BROKER_REQUEST, MessageLimit, largest_message, message_limit

MIB = 1 << 20


def topic(size, **more):
    return {"max.message.bytes": str(size), **{name.replace("_", "."): value for name, value in more.items()}}


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        ({}, {}, MessageLimit(MIB, "max.request.size")),
        ({}, topic(1000), MessageLimit(1000, "max.message.bytes", producer={"batch.size": "1000"})),
        ({}, topic(20_000), MessageLimit(20_000, "max.message.bytes")),
        (
            {"batch.size": "30000"},
            topic(20_000),
            MessageLimit(20_000, "max.message.bytes", producer={"batch.size": "20000"}),
        ),
        ({"batch.size": "500"}, topic(1000), MessageLimit(1000, "max.message.bytes")),
        ({}, topic(2 * MIB), MessageLimit(2 * MIB, "max.message.bytes", producer={"max.request.size": f"{2 * MIB}"})),
        ({"max.request.size": "30000"}, topic(2 * MIB), MessageLimit(30_000, "max.request.size")),
        ({"max.request.size": "30000"}, {}, MessageLimit(30_000, "max.request.size")),
        ({"max.request.size": "30000"}, topic(20_000), MessageLimit(20_000, "max.message.bytes")),
        ({"buffer.memory": "50000"}, {}, MessageLimit(50_000, "buffer.memory")),
        (
            {},
            topic((1 << 31) - 1),
            MessageLimit(
                MAX_BROKER_REQUEST,
                "max.message.bytes",
                producer={"max.request.size": f"{MAX_BROKER_REQUEST}", "buffer.memory": f"{MAX_BROKER_REQUEST}"},
            ),
        ),
        ({"compression.type": "lz4"}, topic(50_000), MessageLimit(50_000, "max.message.bytes", 150)),
        ({}, topic(50_000, compression_type="gzip"), MessageLimit(50_000, "max.message.bytes", 150)),
        (
            {"compression.type": "none"},
            topic(50_000, compression_type="producer"),
            MessageLimit(50_000, "max.message.bytes"),
        ),
    ],
)
def test_limit(options, settings, expected):
    assert message_limit(options, settings) == expected


def test_limit_in_the_address(monkeypatch):
    monkeypatch.setenv("SIZE", "7000")
    assert message_limit({"max.request.size": "${SIZE}"}, {}).largest == 7000
    with pytest.raises(UsageError, match=r"max\.request\.size is a number of bytes"):
        message_limit({"max.request.size": "7k"}, {})


def test_numbers_are_never_too_large():
    """So their rows need not be cached to look for large ones; texts have no bound."""
    numbers = T.StructType().add("tick", "timestamp").add("n", "long").add("mean", "double").add("d", "decimal(38,18)")
    largest = largest_message(numbers)
    written = '{"tick":"2026-01-01T00:00:00.000000+00:00","n":-9223372036854775808,"mean":-2.2250738585072014E-308,'
    written += '"d":-12345678901234567890.123456789012345678}'
    assert len(written) + 60 < largest < 1000
    assert largest_message(T.StructType().add("é" * 50, "boolean")) > 100 * 3
    for kind in (T.StringType(), T.ArrayType(T.IntegerType()), T.StructType(), T.BinaryType()):
        assert largest_message(T.StructType([*numbers, T.StructField("x", kind)])) is None
