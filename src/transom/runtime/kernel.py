"""Whether a run uses the Java kernel: as asked for, and as its session allows."""

from __future__ import annotations

import os

from pyspark.sql import SparkSession

from transom.errors import UsageError
from transom.physical.plan import Kernel
from transom.spark.kernel import refusal

WAYS = ("auto", "on", "off")


def use_kernel(spark: SparkSession, kernel: Kernel) -> bool:
    """Whether machines run in the JVM; `auto` does so where the session takes the jar, `on` insists.

    The environment variable TRANSOM_KERNEL stands in for `auto`.
    """
    if kernel == "auto":
        kernel = os.environ.get("TRANSOM_KERNEL", "auto")  # type: ignore[assignment]
    if kernel not in WAYS:
        raise UsageError(f"kernel is one of {', '.join(WAYS)}, not {kernel!r}")
    if kernel == "off":
        return False
    why = refusal(spark)
    if why is not None and kernel == "on":
        raise UsageError("the kernel cannot be used", detail=why, hint="leave it out, or write kernel='auto'")
    return why is None
