"""Answer the query of a test case on Spark, as a stream of micro-batches."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transom.errors import Unsupported
from transom.model.rdf.answer import RdfAnswer
from transom.query import Query
from transom.runtime.results.rdf import last_change
from transom.runtime.verify.harness import replay_answer, stream_answer
from transom.runtime.verify.micro_batches import Split, batch_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class BatchSplit(Split):
    """A split into micro-batches of given sizes."""

    sizes: Sequence[int] = ()

    def cut(self, count: int) -> list[int]:
        """Return the sizes in rows of the micro-batches, given at construction; `count`, their sum, is not used."""
        return list(self.sizes)


def answer_on_spark(
    query: Query[Any],
    spark: SparkSession,
    inputs: Any,
    reference_answer: Any,
    until: int | None,
    batch_end_ticks: Sequence[int],
) -> tuple[Any, bool]:
    """Run a query with micro-batches up to `batch_end_ticks`; return the answer, and whether tuples are numbered.

    Without `batch_end_ticks`, all rows are one micro-batch. The `reference_answer` answer tells how long the answer
    changes if there is no `until`. A query that reads no stream runs as a batch.
    """
    numbered = query.result_kind == "tagged-tuples"
    if isinstance(reference_answer, RdfAnswer) and until is None:
        until = inputs.until if inputs.ends else max(last_change(reference_answer), inputs.until)
    split = Split()
    if batch_end_ticks:
        counts = Counter(bisect_left(batch_end_ticks, row.tick) for row in batch_rows(query.sources, inputs, until))
        split = BatchSplit(sizes=[counts[number] for number in range(len(batch_end_ticks)) if counts[number]])

    def run(index: bool) -> Any:
        """Run the outer query on Spark and return its answer; with `index`, its tuples are numbered."""
        if any(extent.runs_live for extent in query.sources):
            return stream_answer(query, spark, inputs, split, until, index=index)
        return replay_answer(query, spark, inputs, index=index)

    try:
        answer = run(numbered)
    except Unsupported:
        if not numbered:
            raise
        numbered, answer = False, run(False)
    return answer.clipped(getattr(inputs, "start", 0), until), numbered or query.result_kind != "tagged-tuples"
