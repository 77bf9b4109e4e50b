"""An archive of Spark's classes, from which a JVM starts in half the time: `python -m tests.spark.classes ARCHIVE`.

A JVM for tests loads some fifteen thousand classes out of three hundred jars before it has done anything. It takes them
from the archive that the variable TRANSOM_CLASSES names; without one it does as ever, and also with one that was made
of other jars.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

NAME = "TRANSOM_CLASSES"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that lives for seconds or minutes compiles little."""


def options(more: str = "") -> str:
    """The options of a JVM for tests."""
    archive = os.environ.get(NAME)
    taken = f" -XX:SharedArchiveFile={archive} -Xlog:disable" if archive else ""
    return f"{SHORT_LIVED} {more}{taken}".replace("  ", " ").strip()


def make(archive: Path) -> None:
    """Run a question with the kernel and without, and keep what was loaded."""
    os.environ.pop(NAME, None)
    from pyspark import SparkContext

    from tests.spark.kills.chaos import TICKS, write_inputs
    from tests.spark.kills.chaos_child import begin, session

    spark = session(f"-XX:ArchiveClassesAtExit={archive} -Xlog:disable")
    with tempfile.TemporaryDirectory(prefix="transom-classes-") as folder:
        for kernel in ("on", "off"):
            write_inputs("slide", 1, Path(folder) / kernel, files=2)
            begin(spark, "slide", kernel, 1, TICKS, Path(folder) / kernel / "calm" / "slide").wait()
        spark.stop()
    server = SparkContext._gateway.proc
    server.stdin.close()  # it writes the archive before it ends
    server.wait()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
