"""Walking a plan; nothing here names the fields of a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from transom.physical.plan import NODES, Physical


def inputs(node: Physical) -> tuple[Physical, ...]:
    """The nodes directly below one."""
    found = (getattr(node, field.name) for field in fields(node))
    return tuple(value for value in found if isinstance(value, NODES))


def walk(node: Physical) -> Iterator[Physical]:
    """The node and all below it, top first."""
    yield node
    for below in inputs(node):
        yield from walk(below)
