"""The class of every node of a plan for Spark, and the clock, which nodes of every kind take.

A node takes any node. Which ones there are, `tree` says.
"""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, TypeGuard

from transom.model.schema import Schema
from transom.physical.forms import Choice, Form
from transom.physical.schedule import Schedule


class Physical:
    """A node of a plan for Spark: a frozen dataclass that has these fields among its own."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    schema: Schema
    form: Form
    ordered: bool
    choice: Choice


def is_node(value: object) -> TypeGuard[Physical]:
    """Whether a value is a node of a plan."""
    return isinstance(value, Physical)


@dataclass(frozen=True, slots=True)
class Clock(Physical):
    """Ticks that no row carries (E3)."""

    schedule: Schedule
    choice: Choice
    schema: Schema = field(default_factory=lambda: Schema(()))
    form: Form = Form.TICKS
    ordered: bool = False
