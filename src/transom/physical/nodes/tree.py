"""The closed union of the nodes of plans. mypy checks that a `match` over `as_any_node(node)` covers every node."""

from __future__ import annotations

from typing import TypeAlias

from transom.physical.nodes.bridges import BridgeNode
from transom.physical.nodes.change_aggregate import ChangeAggregate
from transom.physical.nodes.change_join import ChangeJoin
from transom.physical.nodes.keyed_windows import RelationNode
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import RdfNode
from transom.physical.nodes.windows import RowNode

AnyNode: TypeAlias = RowNode | ChangeJoin | ChangeAggregate | RelationNode | RdfNode | BridgeNode
"""Every node."""


def as_any_node(node: PhysicalNode) -> AnyNode:
    """The node itself, statically typed as one of all node classes; TypeError if its class is not one of them."""
    if not isinstance(node, AnyNode):
        raise TypeError(f"{type(node).__name__} is not in the union of nodes")
    return node
