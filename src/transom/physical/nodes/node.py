"""The base class of all nodes of a plan for Spark, and the clock, which every family of nodes uses.

A node accepts any node as input. `tree` has the closed union of all nodes.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, TypeGuard

from transom.model.schema import Schema
from transom.physical.forms import Decision, Form
from transom.physical.schedule import Schedule
from transom.record import Record


class PhysicalNode(Record):
    """A node of a plan for Spark: a frozen dataclass with at least these fields."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    schema: Schema
    form: Form
    ordered: bool
    decision: Decision


def is_node(value: object) -> TypeGuard[PhysicalNode]:
    """Whether a value, such as a field of a plan node, is a plan node itself."""
    return isinstance(value, PhysicalNode)


@dataclass(frozen=True, slots=True)
class ReadClock(PhysicalNode):
    """The scheduled ticks of windows, which exist even where no row has that tick (E3)."""

    schedule: Schedule
    decision: Decision
    schema: Schema = field(default_factory=lambda: Schema(()))
    form: Form = Form.TICKS
    ordered: bool = False
