"""Nodes between rows and RDF: terms as values of typed columns, and values as terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.model.schema import Schema
from transom.physical.forms import Choice, Form
from transom.physical.node import Physical


@dataclass(frozen=True, slots=True)
class TypedRows(Physical):
    """Terms as values of declared types, by their place; a row with a term that is no such value is rejected."""

    input: Physical
    extent: str
    schema: Schema
    choice: Choice
    form: Form = Form.STREAM
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class TermRows(Physical):
    """The values of rows as terms; NULL is unbound."""

    input: Physical
    schema: Schema
    choice: Choice
    form: Form = Form.STREAM
    ordered: bool = False


BridgeNode: TypeAlias = TypedRows | TermRows
"""Nodes that only queries over answers of other queries need."""
