"""Generic traversal of plans, independent of the fields of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from transom.physical.nodes.node import PhysicalNode, is_node


def inputs(node: PhysicalNode) -> tuple[PhysicalNode, ...]:
    """The direct input nodes of a plan node, in the order of its fields."""
    values = (getattr(node, field.name) for field in fields(node))
    return tuple(value for value in values if is_node(value))


def walk(node: PhysicalNode) -> Iterator[PhysicalNode]:
    """Yield the node and all nodes below it in the plan, each one before its inputs."""
    yield node
    for input_node in inputs(node):
        yield from walk(input_node)


def rewrite(node: PhysicalNode, change: Callable[[PhysicalNode], PhysicalNode]) -> PhysicalNode:
    """Rebuild a plan by applying `change` to each node, after its inputs; return the new top node."""
    rewritten: dict[str, Any] = {
        f.name: rewrite(v, change) for f in fields(node) if is_node(v := getattr(node, f.name))
    }
    return change(replace(node, **rewritten))
