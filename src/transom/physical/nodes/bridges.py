"""Nodes that convert between rows and RDF: terms to values of typed columns, and values to terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.model.schema import Schema
from transom.physical.forms import Decision, Form
from transom.physical.nodes.node import PhysicalNode


@dataclass(frozen=True, slots=True)
class TermsToValues(PhysicalNode):
    """Convert the terms of rows to the types of `schema`, in order; rows with a term that does not fit are rejected."""

    input: PhysicalNode
    extent: str
    schema: Schema
    decision: Decision
    form: Form = Form.STREAM
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class ValuesToTerms(PhysicalNode):
    """Convert the values of rows to terms; NULL becomes unbound."""

    input: PhysicalNode
    schema: Schema
    decision: Decision
    form: Form = Form.STREAM
    ordered: bool = False


BridgeNode: TypeAlias = TermsToValues | ValuesToTerms
"""Nodes that only queries over the answers of other queries need."""
