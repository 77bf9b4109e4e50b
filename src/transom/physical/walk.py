"""Walking a plan; nothing here names the fields of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from transom.physical.node import Physical, is_node


def inputs(node: Physical) -> tuple[Physical, ...]:
    """The nodes directly below one."""
    found = (getattr(node, field.name) for field in fields(node))
    return tuple(value for value in found if is_node(value))


def walk(node: Physical) -> Iterator[Physical]:
    """The node and all below it, top first."""
    yield node
    for below in inputs(node):
        yield from walk(below)


def rewrite(node: Physical, change: Callable[[Physical], Physical]) -> Physical:
    """A plan in which every node is changed, bottom first."""
    below: dict[str, Any] = {f.name: rewrite(v, change) for f in fields(node) if is_node(v := getattr(node, f.name))}
    return change(replace(node, **below))
