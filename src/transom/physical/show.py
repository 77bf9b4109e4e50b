"""A plan for Spark as a tree for `explain`: what each node does, its executor, the rule and the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from transom.algebra.explain import TreeNode, build_tree
from transom.algebra.state.formula import ZERO, Formula, plus
from transom.physical.nodes.node import PhysicalNode, is_node
from transom.physical.nodes.walk import walk

_HIDDEN_FIELDS = ("decision", "form", "ordered", "spec")


def plan_tree(plan: PhysicalNode, describe: Callable[[Formula], Mapping[str, str]]) -> TreeNode:
    """Convert a plan to the tree that `explain` prints; `describe` converts a state bound to named texts."""
    return _drop_hidden_fields(build_tree(plan, is_node, lambda node: _describe_node(node, describe)))


def _describe_node(node: PhysicalNode, describe: Callable[[Formula], Mapping[str, str]]) -> dict[str, Any]:
    """Describe a node as `explain` prints it: columns, form, executor, rule, reason, and the state bound unless 0."""
    decision = node.decision
    details: dict[str, Any] = {
        "columns": [str(attribute) for attribute in node.schema],
        "output": str(node.form),
        "executor": f"{decision.executor} ({decision.rule})",
        "reason": decision.reason,
    }
    if decision.state != ZERO:
        details |= describe(decision.state)
    return details


def _drop_hidden_fields(node: TreeNode) -> TreeNode:
    """Remove from a tree the node fields that `explain` does not print, and those that are empty or false."""
    details = {
        name: value for name, value in node.details.items() if name not in _HIDDEN_FIELDS and value not in ([], False)
    }
    return replace(node, details=details, children=tuple(map(_drop_hidden_fields, node.children)))


def total_state(plan: PhysicalNode) -> Formula:
    """The state bound of a plan: the most rows in state, summed over all its nodes."""
    return plus(*(node.decision.state for node in walk(plan)))
