"""Nodes over RDF. Statements and solutions are rows of terms.

A term is one text column. Rows that depend only on stored graphs are a table: they are valid from tick 0 for ever. All
other rows are changes: insertions (count above 0) or retractions (below 0) at a tick; equal rows of one tick add up. A
sequence is emitted completely at every tick at which it may have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.algebra.expressions.expression import Expression, NamedExpression
from transom.algebra.expressions.terms import STATEMENT
from transom.algebra.rdf.forms import TripleTemplate
from transom.algebra.rdf.patterns import TermPattern
from transom.algebra.sequences import SortKey
from transom.model.rdf.terms import Term
from transom.model.schema import Attribute, Schema
from transom.model.types import Type, Value
from transom.physical.forms import Decision, Form
from transom.physical.nodes.node import PhysicalNode, ReadClock

MESSAGE_SCHEMA = Schema((Attribute("statements", Type.STRING),))
"""The schema of a message: all its statements in one value."""


def message_extent(extent: str) -> str:
    """Return the name of the source that delivers the unparsed messages of the RDF stream `extent`.

    The source called `extent` delivers the statements.
    """
    return f"{extent}_messages"


def solution_schema(names: tuple[str, ...]) -> Schema:
    """Build the schema of SPARQL solutions: one column of RDF terms for each variable in `names`."""
    return Schema(tuple(Attribute(name, Type.TERM) for name in names))


@dataclass(frozen=True, slots=True)
class ReadGraph(PhysicalNode):
    """The distinct statements of stored graphs."""

    extents: tuple[str, ...]
    decision: Decision
    schema: Schema = STATEMENT
    form: Form = Form.TABLE
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class ValuesExec(PhysicalNode):
    """Constant solutions: from VALUES in the query, or added by the planner."""

    rows: tuple[tuple[Value, ...], ...]
    schema: Schema
    decision: Decision
    form: Form = Form.TABLE
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class TableToChanges(PhysicalNode):
    """Convert stored rows to changes: all are inserted at tick 0, in a live run at the tick of the clock."""

    input: PhysicalNode
    clock: ReadClock
    schema: Schema
    decision: Decision
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class TimeWindowChanges(PhysicalNode):
    """A time window as changes: each statement is inserted at its tick, and retracted when it leaves the window."""

    input: PhysicalNode
    width: int
    slide: int
    decision: Decision
    schema: Schema = STATEMENT
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class PatternMatch(PhysicalNode):
    """The solutions of a triple pattern."""

    input: PhysicalNode
    terms: tuple[TermPattern, ...]
    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


@dataclass(frozen=True, slots=True)
class PatternBranch:
    """One of several patterns over one stream: its window, terms, condition, and the variables that it keeps."""

    terms: tuple[TermPattern, ...]
    window: tuple[int, int] | None
    condition: Expression
    schema: Schema

    def __str__(self) -> str:
        """The triple pattern as `explain` prints it."""
        return " ".join(map(str, self.terms))


@dataclass(frozen=True, slots=True)
class MultiPatternScan(PhysicalNode):
    """Several triple patterns matched in one reading of a stream; each output row names the pattern it solves."""

    input: PhysicalNode
    branches: tuple[PatternBranch, ...]
    schema: Schema
    decision: Decision
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class MessageStarMatch(PhysicalNode):
    """Patterns with the same subject, matched inside each message."""

    input: PhysicalNode
    branches: tuple[PatternBranch, ...]
    window: tuple[int, int]
    schema: Schema
    decision: Decision
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class BindBlankNodes(PhysicalNode):
    """Bind a variable to an expression that creates blank nodes.

    The blank nodes are determined by the variables of `owner` and the number of the solution's copy.
    """

    input: PhysicalNode
    item: NamedExpression
    owner: tuple[str, ...]
    schema: Schema
    form: Form
    decision: Decision
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class PathClosure(PhysicalNode):
    """The distinct pairs that a path connects: over one edge, or with `repeats` over one or more.

    Each term of `nodes`, the ends of statements, has a path of length zero to itself. With `start`, all paths begin
    there.
    """

    edges: PhysicalNode
    nodes: PhysicalNode | None
    repeats: bool
    start: Term | None
    schema: Schema
    decision: Decision
    form: Form
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class SliceStep:
    """OFFSET and LIMIT of a sequence."""

    offset: int
    limit: int | None

    def __str__(self) -> str:
        """The OFFSET and LIMIT step above a sort, as `explain` prints it."""
        return f"from {self.offset}, at most {self.limit}"


@dataclass(frozen=True, slots=True)
class ProjectStep:
    """Projection of a sequence to some variables."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        """The projection step above a sort, as `explain` prints its variables."""
        return ", ".join(self.names)


@dataclass(frozen=True, slots=True)
class DistinctStep:
    """DISTINCT of a sequence: keep the first of equal solutions."""

    def __str__(self) -> str:
        """The DISTINCT step above a sort, as `explain` prints it."""
        return "each once"


SequenceStep: TypeAlias = SliceStep | ProjectStep | DistinctStep


@dataclass(frozen=True, slots=True)
class Sort(PhysicalNode):
    """The sorted solutions of each tick, after the steps in `after`; a separate sequence for each value of `per`."""

    input: PhysicalNode
    keys: tuple[SortKey, ...]
    ties: tuple[str, ...]
    after: tuple[SequenceStep, ...]
    schema: Schema
    decision: Decision
    form: Form = Form.WINDOWS
    ordered: bool = True
    per: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SequenceToChanges(PhysicalNode):
    """The solutions of a sequence without their order: as changes, or as a table."""

    input: PhysicalNode
    schema: Schema
    form: Form
    decision: Decision
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class ConstructExec(PhysicalNode):
    """Statements that a template makes of each solution."""

    input: PhysicalNode
    template: tuple[TripleTemplate, ...]
    form: Form
    decision: Decision
    schema: Schema = STATEMENT
    ordered: bool = False


RdfNode: TypeAlias = (
    ReadGraph
    | ValuesExec
    | TableToChanges
    | TimeWindowChanges
    | PatternMatch
    | MultiPatternScan
    | MessageStarMatch
    | BindBlankNodes
    | PathClosure
    | Sort
    | SequenceToChanges
    | ConstructExec
)
