"""The closed union of nodes."""

from __future__ import annotations

from types import ModuleType
from typing import get_args

import pytest

from transom.physical import change_join, lines, node, plan, rdf_plan
from transom.physical.node import Physical
from transom.physical.tree import AnyNode, closed


@pytest.mark.parametrize("module", [change_join, lines, node, plan, rdf_plan], ids=lambda module: module.__name__)
def test_every_node_is_in_the_union(module: ModuleType) -> None:
    found = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Physical)]
    assert {one for one in found if one.__module__ == module.__name__} - {Physical} <= set(get_args(AnyNode))


def test_what_is_not_in_the_union_is_refused() -> None:
    with pytest.raises(TypeError, match="Physical is not in the union of nodes"):
        closed(Physical())
