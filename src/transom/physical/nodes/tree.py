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
    """Return the node itself, typed as the union of all node classes; raise TypeError for an unknown class."""
    if not isinstance(node, AnyNode):
        raise TypeError(f"{type(node).__name__} is not in the union of nodes")
    return node
