"""Nodes over RDF. Statements and solutions are rows of terms; what changes with time travels as changes.

A term is one text. What only stored graphs say is a table: it holds from tick 0 for ever. Everything else is changes:
rows that come (count above 0) or go (below 0) at a tick; equal rows of one tick add up. A sequence is the whole list of
every tick at which it may be another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.algebra.expressions import Expression, Item
from transom.algebra.rdf.forms import Template
from transom.algebra.rdf.patterns import Place
from transom.algebra.sequences import SortKey
from transom.algebra.terms import STATEMENT as STATEMENT
from transom.model.rdf.terms import Term
from transom.model.schema import Attribute, Schema
from transom.model.types import Type, Value
from transom.physical.forms import Choice, Form
from transom.physical.node import Clock, Physical

MESSAGE = Schema((Attribute("statements", Type.STRING),))
"""A message: its statements as one value."""


def messages(extent: str) -> str:
    """What the messages of a stream are called, beside its statements."""
    return f"{extent}_messages"


def solutions(names: tuple[str, ...]) -> Schema:
    """The columns of solutions: a text per variable."""
    return Schema(tuple(Attribute(name, Type.TERM) for name in names))


@dataclass(frozen=True, slots=True)
class Graph(Physical):
    """The statements of stored graphs, each once."""

    extents: tuple[str, ...]
    choice: Choice
    schema: Schema = STATEMENT
    form: Form = Form.TABLE
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Written(Physical):
    """Solutions that the query itself says."""

    rows: tuple[tuple[Value, ...], ...]
    schema: Schema
    choice: Choice
    form: Form = Form.TABLE
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Stand(Physical):
    """What is stored as changes: all of it comes at tick 0."""

    input: Physical
    clock: Clock
    schema: Schema
    choice: Choice
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Last(Physical):
    """A time window: every statement comes at its tick, and goes when the window has moved on."""

    input: Physical
    width: int
    slide: int
    choice: Choice
    schema: Schema = STATEMENT
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Match(Physical):
    """The statements that fit a triple pattern, as solutions."""

    input: Physical
    places: tuple[Place, ...]
    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


@dataclass(frozen=True, slots=True)
class Branch:
    """One of several patterns that read one stream: its window, its places, its condition, and what it keeps."""

    places: tuple[Place, ...]
    window: tuple[int, int] | None
    condition: Expression
    schema: Schema

    def __str__(self) -> str:
        return " ".join(map(str, self.places))


@dataclass(frozen=True, slots=True)
class Fan(Physical):
    """Several patterns over one scan: each row says of which of them it is a solution."""

    input: Physical
    branches: tuple[Branch, ...]
    schema: Schema
    choice: Choice
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Within(Physical):
    """Patterns of one subject, matched inside each message."""

    input: Physical
    branches: tuple[Branch, ...]
    window: tuple[int, int]
    schema: Schema
    choice: Choice
    form: Form = Form.CHANGES
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class BindNodes(Physical):
    """One more variable whose expression makes blank nodes; they belong to the variables of `owner`, and to the copy of
    the solution."""

    input: Physical
    item: Item
    owner: tuple[str, ...]
    schema: Schema
    form: Form
    choice: Choice
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class PathClosure(Physical):
    """The pairs between which edges lead, each once: one edge, or with `repeats` any number.

    From each term of `nodes`, which are the ends of statements, no step leads to itself. With `start` all begin there.
    """

    edges: Physical
    nodes: Physical | None
    repeats: bool
    start: Term | None
    schema: Schema
    choice: Choice
    form: Form
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a sequence: without the first ones, and not more than a number."""

    offset: int
    limit: int | None

    def __str__(self) -> str:
        return f"from {self.offset}, at most {self.limit}"


@dataclass(frozen=True, slots=True)
class Pick:
    """The variables that a sequence keeps."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(self.names)


@dataclass(frozen=True, slots=True)
class Single:
    """The first of equal solutions of a sequence."""

    def __str__(self) -> str:
        return "each once"


After: TypeAlias = Cut | Pick | Single


@dataclass(frozen=True, slots=True)
class Sequence(Physical):
    """The solutions of each tick in order, and what is taken of the sequence; for each value of `per` by itself."""

    input: Physical
    keys: tuple[SortKey, ...]
    ties: tuple[str, ...]
    after: tuple[After, ...]
    schema: Schema
    choice: Choice
    form: Form = Form.WINDOWS
    ordered: bool = True
    per: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unfold(Physical):
    """The solutions of a sequence as changes, or as they are."""

    input: Physical
    schema: Schema
    form: Form
    choice: Choice
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Make(Physical):
    """Statements made of solutions."""

    input: Physical
    template: tuple[Template, ...]
    form: Form
    choice: Choice
    schema: Schema = STATEMENT
    ordered: bool = False


RdfNode: TypeAlias = (
    Graph | Written | Stand | Last | Match | Fan | Within | BindNodes | PathClosure | Sequence | Unfold | Make
)
