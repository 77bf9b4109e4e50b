"""A query that is planned and ready to run: all that the runtime knows about it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, get_args

from pyspark.sql import SparkSession

from transom.algebra.state import NOTHING
from transom.algebra.state_bound import StateBound
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.rdf import RdfExtent
from transom.model.answer import AnswerKind
from transom.model.rdf.answer import RdfAnswerKind
from transom.physical.node import Physical
from transom.physical.walk import walk
from transom.runtime.kernel import KernelChoice
from transom.runtime.options import RunOptions
from transom.spark.lateness import Lateness


@dataclass(frozen=True)
class Job:
    """One planned run of a query. The plan holds for these options and this session, and is made once."""

    text: str = field(repr=False)
    name: str | None
    catalog: Catalog = field(repr=False)
    sources: tuple[Extent, ...]
    plan: Physical = field(repr=False)
    columns: tuple[str, ...]
    result_kind: AnswerKind | RdfAnswerKind
    bound: StateBound
    kernel: KernelChoice
    options: RunOptions

    @property
    def over_rdf(self) -> bool:
        """Whether the sources are streams and graphs of RDF."""
        return self.result_kind in get_args(RdfAnswerKind)

    @property
    def waits(self) -> bool:
        """Whether an operator waits for ticks to close."""
        return any(node.choice.state != NOTHING for node in walk(self.plan))

    @property
    def extents(self) -> tuple[Extent, ...]:
        """The sources of rows."""
        return tuple(source for source in self.sources if not isinstance(source, RdfExtent))

    @property
    def rdf_extents(self) -> tuple[RdfExtent, ...]:
        """The sources of RDF statements."""
        return tuple(source for source in self.sources if isinstance(source, RdfExtent))


def lateness_of(job: Job, *, live: bool) -> Lateness | None:
    """How a run tells late rows; None where nothing is late: in a replay, and where no operator waits for ticks.

    Without a checkpoint, as in a DataFrame that its caller starts, Spark drops late rows itself.
    """
    if not live or job.options.checkpoint is None or not job.waits:
        return None
    return Lateness(job.options.checkpoint, job.catalog.calendar, job.kernel.used)


SourceType = TypeVar("SourceType", bound=Extent, covariant=True)


class Plannable(Protocol[SourceType]):
    """A compiled query, as the runtime sees it: what it reads, and how it is planned."""

    @property
    def reads(self) -> tuple[SourceType, ...]:
        """The sources, each once."""
        ...

    @property
    def catalog(self) -> Catalog:
        """The catalog that the query was compiled against."""
        ...

    def job(self, spark: SparkSession, options: RunOptions, given: Collection[str] = (), *, live: bool = True) -> Job:
        """The query, planned for a session; `given` names the sources that the caller opens."""
        ...
