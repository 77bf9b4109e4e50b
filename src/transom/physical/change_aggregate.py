"""Aggregates of groups of rows that arrive as changes: changes in, changes out."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.expressions import Aggregate, Item
from transom.model.schema import Schema
from transom.physical.forms import Choice, Form
from transom.physical.node import Physical


@dataclass(frozen=True, slots=True)
class ChangeAggregate(Physical):
    """One row for each group with its key and its aggregates, as changes; of stored rows as a table.

    Without keys all rows are one group, which also exists without rows: from the first change of `start`, or from the
    first window marker of the input.
    """

    input: Physical
    start: Physical | None
    keys: tuple[Item, ...]
    aggregates: tuple[Aggregate, ...]
    schema: Schema
    choice: Choice
    form: Form = Form.CHANGES
    ordered: bool = False
