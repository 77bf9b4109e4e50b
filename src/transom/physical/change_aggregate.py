"""Aggregates of groups of rows that arrive as changes: changes in, changes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.algebra.expressions import Aggregate, Item
from transom.algebra.rdf.expressions import Aggregate as TermAggregate
from transom.algebra.rdf.expressions import Binding
from transom.model.schema import Schema
from transom.physical.forms import Choice, Form
from transom.physical.node import Physical

GroupKey: TypeAlias = Item | Binding
"""A column of SQL values, or a variable with its expression over terms."""


@dataclass(frozen=True, slots=True)
class ChangeAggregate(Physical):
    """One row for each group with its key and its aggregates, as changes; of stored rows as a table.

    Without keys all rows are one group, which also exists without rows: from the first change of `start`, or from the
    first window marker of the input.
    """

    input: Physical
    start: Physical | None
    keys: tuple[GroupKey, ...]
    aggregates: tuple[Aggregate | TermAggregate, ...]
    schema: Schema
    choice: Choice
    form: Form = Form.CHANGES
    ordered: bool = False
