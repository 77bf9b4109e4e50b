"""The closed union of the nodes of plans. A `match` over `closed(node)` is checked by mypy to know every node."""

from __future__ import annotations

from typing import TypeAlias

from transom.physical.bridges import BridgeNode
from transom.physical.change_aggregate import ChangeAggregate
from transom.physical.change_join import ChangeJoin
from transom.physical.lines import LineNode
from transom.physical.node import Physical
from transom.physical.plan import RowNode
from transom.physical.rdf_plan import RdfNode

AnyNode: TypeAlias = RowNode | ChangeJoin | ChangeAggregate | LineNode | RdfNode | BridgeNode
"""Every node."""


def closed(node: Physical) -> AnyNode:
    """The node itself, as one of the closed union."""
    if not isinstance(node, AnyNode):
        raise TypeError(f"{type(node).__name__} is not in the union of nodes")
    return node
