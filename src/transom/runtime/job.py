"""Job: a query that is planned and ready to run, as the runtime sees it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyspark.sql import SparkSession

from transom.algebra.state.bound import StateBound
from transom.algebra.state.formula import ZERO, Formula
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk
from transom.runtime.kernel import KernelChoice
from transom.runtime.options import RunOptions
from transom.runtime.results.rdf import RdfResults
from transom.runtime.results.rows import RowResults
from transom.spark.input.lateness import Lateness


@dataclass(frozen=True)
class Job:
    """One planned run of a query. The plan is made once and fits only these options and this session."""

    text: str = field(repr=False)
    name: str | None
    catalog: Catalog = field(repr=False)
    sources: tuple[Extent, ...]
    plan: PhysicalNode = field(repr=False)
    results: RowResults | RdfResults
    bound: StateBound
    kernel: KernelChoice
    options: RunOptions
    state_of: Callable[[Formula], StateBound] = field(repr=False, compare=False)
    """Evaluates the state bound of a node, as `explain` prints it."""
    language: str = ""

    @property
    def has_state(self) -> bool:
        """Whether any operator keeps state; if so, the answer of a tick comes only when the tick closes."""
        return any(node.decision.state != ZERO for node in walk(self.plan))


def lateness_of(job: Job, *, live: bool) -> Lateness | None:
    """Return how a run's sources reject late rows; None in a replay, without state or without a checkpoint.

    A replay is a run that is not `live`. Without a checkpoint, as in a DataFrame that its caller starts, Spark drops
    late rows itself.
    """
    if not live or job.options.checkpoint is None or not job.has_state:
        return None
    return Lateness(job.options.checkpoint, job.catalog.calendar, job.kernel.used)


class Plannable(Protocol):
    """A compiled query, as the runtime sees it: its sources, and how it is planned and evaluated."""

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The sources of the query, each once."""
        ...

    @property
    def catalog(self) -> Catalog:
        """The catalog that the query was compiled against."""
        ...

    def job(
        self,
        spark: SparkSession | None,
        options: RunOptions,
        opened_by_caller: Collection[str] = (),
        *,
        live: bool = True,
    ) -> Job:
        """Plan the query for a run, a replay unless `live`; the caller has DataFrames for `opened_by_caller`."""
        ...

    def inputs(
        self,
        inputs: None = None,
        until: int | None = None,
        *,
        start: int = 0,
        watch: Callable[[str], None] | None = None,
    ) -> Any:
        """Read the reference engine's inputs from the catalog's sources; `watch` is called with each step's name.

        `watch` is called with a short description before each step.
        """
        ...

    def evaluate(self, inputs: Any) -> Any:
        """Compute the query's complete answer with the reference engine; `inputs` comes from the method `inputs`."""
        ...
