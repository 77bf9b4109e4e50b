"""The closed union of nodes."""

from __future__ import annotations

from types import ModuleType
from typing import get_args

import pytest

from transom.physical.nodes import change_join, keyed_windows, node, rdf, windows
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.tree import AnyNode, as_any_node


@pytest.mark.parametrize("module", [change_join, keyed_windows, node, windows, rdf], ids=lambda module: module.__name__)
def test_every_node_is_in_the_union(module: ModuleType) -> None:
    found = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, PhysicalNode)]
    assert {one for one in found if one.__module__ == module.__name__} - {PhysicalNode} <= set(get_args(AnyNode))


def test_what_is_not_in_the_union_is_refused() -> None:
    with pytest.raises(TypeError, match="PhysicalNode is not in the union of nodes"):
        as_any_node(PhysicalNode())
