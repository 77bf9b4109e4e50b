"""What the compiler made of a query's text, and what differs between queries over rows and over RDF."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar

from transom.algebra.state import Formula
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.errors import Span, Unsupported
from transom.model.answer import AnswerKind, RdfAnswerKind
from transom.shown import Engine, Map

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.optimizer.pipeline import Step
    from transom.physical.node import Physical

AnswerType = TypeVar("AnswerType", covariant=True)
ResultKind: TypeAlias = AnswerKind | RdfAnswerKind
Watch: TypeAlias = Callable[[str], None]
Inputs: TypeAlias = Any
"""What the reference engine evaluates over: rows or statements."""


@dataclass(frozen=True)
class Compiled:
    """The text of a query with every intermediate: syntax, algebra, and the steps of the optimizer."""

    text: str = field(repr=False)
    language: str
    catalog: Catalog = field(repr=False)
    syntax: Any = field(repr=False)
    algebra: Any = field(repr=False)
    steps: tuple[Step, ...] = field(default=(), repr=False)
    warnings: tuple[Remark, ...] = ()
    name: str | None = None

    @property
    def plan(self) -> Any:
        """The optimised algebra."""
        return self.steps[-1].plan if self.steps else self.algebra


class Semantics(Protocol[AnswerType]):
    """How queries of one algebra are planned, evaluated and shown: all that rows and RDF do not share."""

    unit: ClassVar[str]
    """What a query holds in state."""
    operators: ClassVar[tuple[type, ...]]
    """The classes of its operators."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        ...

    @property
    def result_kind(self) -> ResultKind:
        """What the answer consists of."""
        ...

    @property
    def sources(self) -> tuple[Extent, ...]:
        """The extents that the query reads, each once."""
        ...

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes of IRIs."""
        ...

    @property
    def state(self) -> Formula:
        """The most rows that the whole query holds."""
        ...

    def remark(self, op: Any) -> tuple[Mapping[str, Any], Formula | None]:
        """What `explain` says of an operator of the algebra, and the rows that it holds."""
        ...

    def place_of(self, operator: str, extents: Collection[str]) -> Span | None:
        """Where the text has what an engine does not run."""
        ...

    def refusals(self) -> Mapping[Engine, Unsupported]:
        """The engines that refuse the query whatever its plan is."""
        ...

    def arrange(self, *, start: int, index: bool, slack: int | None, kernel: bool, growing: Sequence[str]) -> Physical:
        """The plan for Spark."""
        ...

    def remarks(self) -> tuple[Remark, ...]:
        """Warnings that need the catalog."""
        ...

    def inputs(self, given: Any, until: int | None, *, start: int, watch: Watch | None, now: Any) -> Inputs:
        """What the reference engine evaluates over: what is given, or what the catalog's sources hold."""
        ...

    def unmatched(self, inputs: Inputs) -> tuple[Remark, ...]:
        """Warnings that need the inputs."""
        ...

    def evaluate(self, inputs: Inputs) -> AnswerType:
        """The answer of the reference engine to some inputs."""
        ...

    def during(self, answer: Any, start: int, until: int | None) -> AnswerType:
        """What of an answer is valid at some tick from start to until."""
        ...

    def picture(self, inputs: Inputs, start: int, until: int | None) -> str:
        """The answer over time, as SVG."""
        ...

    def map(self, inputs: Inputs, at: int | None, colour: Any) -> Map:
        """Where objects went."""
        ...
