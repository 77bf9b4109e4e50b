"""A plan for Spark as a tree to be shown: what each node does, on which path, by which rule and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from transom.algebra.explain import Branch, branch
from transom.algebra.state import NOTHING, Formula, plus
from transom.physical.node import Physical, is_node
from transom.physical.walk import walk

_BESIDES = ("choice", "form", "ordered", "spec")


def tree(plan: Physical, describe: Callable[[Formula], Mapping[str, str]]) -> Branch:
    """The nodes of a plan; `describe` puts a bound on state into words."""
    return _tidy(branch(plan, is_node, lambda node: _remark(node, describe)))


def _remark(node: Physical, describe: Callable[[Formula], Mapping[str, str]]) -> dict[str, Any]:
    choice = node.choice
    said: dict[str, Any] = {
        "columns": [str(attribute) for attribute in node.schema],
        "gives": str(node.form),
        "path": f"{choice.path} ({choice.rule})",
        "because": choice.reason,
    }
    if choice.state != NOTHING:
        said |= describe(choice.state)
    return said


def _tidy(one: Branch) -> Branch:
    details = {name: value for name, value in one.details.items() if name not in _BESIDES and value not in ([], False)}
    return replace(one, details=details, below=tuple(map(_tidy, one.below)))


def total(plan: Physical) -> Formula:
    """The most rows that a whole plan remembers."""
    return plus(*(node.choice.state for node in walk(plan)))
