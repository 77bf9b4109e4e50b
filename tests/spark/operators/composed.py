"""Queries over answers of other queries on Spark: streams of rows and of statements cut into micro-batches."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.compose.cases import INPUTS, UNTIL, Composition
from transom.model.rdf.answer import RdfAnswer
from transom.physical.nodes.windows import KernelMode
from transom.runtime.verify.harness import replay_answer, stream_answer
from transom.runtime.verify.micro_batches import Split


def comparable(answer: Any, until: int = UNTIL) -> Any:
    """An answer up to the last tick, without the order of rows of one tick."""
    return answer.up_to(until) if isinstance(answer, RdfAnswer) else Counter((e.tick, e.row) for e in answer.elements)


def run(case: Composition, spark: SparkSession, split: Split | None, kernel: KernelMode = "auto") -> tuple[Any, Any]:
    """What the reference engine answers, and what Spark does: as a stream, or as a batch without a split."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        query = case.query(folder)
        inputs = query.inputs({name: INPUTS[name] for name in (extent.name for extent in query.sources)}, UNTIL)
        if split is None:
            found = replay_answer(query, spark, inputs, kernel)
        else:
            found = stream_answer(query, spark, inputs, split, UNTIL, kernel)
        return comparable(query.evaluate(inputs)), comparable(found)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
