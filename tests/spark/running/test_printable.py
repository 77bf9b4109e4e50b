"""What Spark prints has no control characters."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark")

from transom.printable import escape


def test_strings_are_escaped_as_in_python(spark: Any, capfd: pytest.CaptureFixture[str]) -> None:
    from transom.spark.printable import printable

    texts = ["a\x1b[2Jb\n", "plain", "", None, "\x00\x9b\u202e é\U0001f600\t\r", "\\"]
    frame = spark.createDataFrame([(number, text) for number, text in enumerate(texts)], "n int, `\x1b` string")
    shown = printable(frame)
    assert shown.columns == ["n", "\\x1b"]
    assert [row[1] for row in shown.orderBy("n").collect()] == [text and escape(text) for text in texts]
