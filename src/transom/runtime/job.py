"""A query that is planned and ready to run: all that the runtime knows about it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyspark.sql import SparkSession

from transom.algebra.state import NOTHING
from transom.algebra.state_bound import StateBound
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.physical.node import Physical
from transom.physical.walk import walk
from transom.runtime.answers import RowResults
from transom.runtime.kernel import KernelChoice
from transom.runtime.options import RunOptions
from transom.runtime.rdf_answers import RdfResults
from transom.spark.lateness import Lateness


@dataclass(frozen=True)
class Job:
    """One planned run of a query. The plan holds for these options and this session, and is made once."""

    text: str = field(repr=False)
    name: str | None
    catalog: Catalog = field(repr=False)
    sources: tuple[Extent, ...]
    plan: Physical = field(repr=False)
    results: RowResults | RdfResults
    bound: StateBound
    kernel: KernelChoice
    options: RunOptions

    @property
    def waits(self) -> bool:
        """Whether an operator waits for ticks to close."""
        return any(node.choice.state != NOTHING for node in walk(self.plan))


def lateness_of(job: Job, *, live: bool) -> Lateness | None:
    """How a run tells late rows; None where nothing is late: in a replay, and where no operator waits for ticks.

    Without a checkpoint, as in a DataFrame that its caller starts, Spark drops late rows itself.
    """
    if not live or job.options.checkpoint is None or not job.waits:
        return None
    return Lateness(job.options.checkpoint, job.catalog.calendar, job.kernel.used)


class Plannable(Protocol):
    """A compiled query, as the runtime sees it: what it reads, and how it is planned."""

    @property
    def reads(self) -> tuple[Extent, ...]:
        """The sources, each once."""
        ...

    @property
    def catalog(self) -> Catalog:
        """The catalog that the query was compiled against."""
        ...

    def job(self, spark: SparkSession, options: RunOptions, given: Collection[str] = (), *, live: bool = True) -> Job:
        """The query, planned for a session; `given` names the sources that the caller opens."""
        ...

    def inputs(self, inputs: None = None, until: int | None = None, *, start: int = 0) -> Any:
        """What the reference engine evaluates over: the contents of the catalog's sources."""
        ...

    def evaluate(self, inputs: Any) -> Any:
        """The whole answer of the reference engine to some inputs."""
        ...
