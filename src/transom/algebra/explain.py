"""Render trees of frozen dataclasses, operators or syntax, as text, JSON or DOT; names no operator."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any

from transom.algebra.composition.composed_source import InnerQuery
from transom.model.schema import Schema


@dataclass(frozen=True, slots=True)
class TreeNode:
    """One node of a rendered tree: name, details, remarks and children.

    `role` is the field of the parent that holds the node.
    """

    name: str
    details: Mapping[str, Any]
    children: tuple[TreeNode, ...] = ()
    remarks: Mapping[str, Any] = field(default_factory=dict)
    role: str = ""


def build_tree(
    value: Any,
    is_node: Callable[[Any], bool],
    remark: Callable[[Any], Mapping[str, Any]] | None = None,
    root_role: str = "",
) -> TreeNode:
    """Convert a tree for display; `is_node` tells children from details; `remark`: notes; `root_role`: root's field.

    `is_node` tells children from details, and `root_role` is the field of the parent that holds the root.
    """
    details: dict[str, Any] = {}
    children: list[TreeNode] = []
    for slot in fields(value):
        content = getattr(value, slot.name)
        nodes = flatten(content)
        if nodes and all(map(is_node, nodes)):
            children.extend(build_tree(node, is_node, remark, slot.name) for node in nodes)
        elif slot.compare and content != () and not isinstance(content, Schema) and content is not slot.default:
            details[slot.name] = to_json_value(content)
    return TreeNode(type(value).__name__, details, tuple(children), remark(value) if remark else {}, root_role)


def flatten(content: Any) -> list[Any]:
    """List the items in a node's field, nested tuples flattened; a wrapped inner query is replaced by its plan."""
    if isinstance(content, InnerQuery):
        return [content.query]
    return [part for inner in content for part in flatten(inner)] if isinstance(content, tuple) else [content]


def show(content: Any) -> str:
    """Format a field's value as a short text for a displayed tree, such as `[a, b]` or `Type(name=value)`."""
    if isinstance(content, tuple | list):
        return "[" + ", ".join(map(show, content)) + "]"
    if isinstance(content, Enum):
        return str(content.value)
    if is_dataclass(content) and type(content).__str__ is object.__str__:
        values = ((f.name, getattr(content, f.name)) for f in fields(content) if f.compare)
        shown = [f"{name}={show(value)}" for name, value in values if value is not None and value != ()]
        return f"{type(content).__name__}({', '.join(shown)})"
    return str(content)


def to_json_value(content: Any) -> Any:
    """Convert a field's value for JSON: tuples become lists; other values except numbers and booleans become text."""
    if isinstance(content, tuple):
        return [to_json_value(part) for part in content]
    return content if isinstance(content, bool | int | float | str) and not isinstance(content, Enum) else show(content)


def headline(node: TreeNode) -> str:
    """Format a node of a displayed tree as one line, `name(detail=value, ...)`, or its name alone without details."""
    details = ", ".join(f"{name}={show(value)}" for name, value in node.details.items())
    return f"{node.name}({details})" if details else node.name


def render_tree(tree: TreeNode, format: str, *, roles: bool = False) -> str:
    """Render a tree as `text` (parent's field names before nodes if `roles`), `json` or else Graphviz DOT."""
    if format == "text":
        return as_text(tree, roles=roles)
    return as_json(tree) if format == "json" else as_dot(tree)


def as_text(tree: TreeNode, *, roles: bool = False) -> str:
    """Format a plan tree as indented lines; `roles` writes the parent's field name before each node.

    With `roles`, each node comes after the name of the parent's field that holds it.
    """
    lines: list[str] = []

    def add_lines(node: TreeNode, prefix: str, child_prefix: str) -> None:
        """Append a node's line, which begins with `prefix`, and the lines of its descendants after `child_prefix`."""
        remarks = "; ".join(f"{name} {value}" for name, value in node.remarks.items() if isinstance(value, str))
        role = f"{node.role}: " if roles and node.role else ""
        lines.append(prefix + role + headline(node) + (f"  -- {remarks}" if remarks else ""))
        for number, child in enumerate(node.children, start=1):
            last = number == len(node.children)
            add_lines(child, child_prefix + ("└─ " if last else "├─ "), child_prefix + ("   " if last else "│  "))

    add_lines(tree, "", "")
    return "\n".join(lines)


def as_json(tree: TreeNode) -> str:
    """Format a tree as a JSON document: one object per node, with its children's objects under `inputs`."""

    def to_object(node: TreeNode) -> dict[str, Any]:
        """Convert a node to a JSON object, with the objects of its children under `inputs`."""
        role = {"role": node.role} if node.role else {}
        children = [to_object(child) for child in node.children]
        return {"node": node.name, **role, **node.details, **node.remarks, "inputs": children}

    return json.dumps(to_object(tree), indent=2, ensure_ascii=False)


def as_dot(tree: TreeNode) -> str:
    """Format a tree as a Graphviz DOT graph, whose edges lead from an operator's inputs to the operator."""
    lines = ["digraph plan {", "  rankdir=BT;", '  node [shape=box, fontname="sans-serif"];']
    count = 0

    def add_node(node: TreeNode) -> int:
        """Append the DOT lines of a node and all its descendants; return the node's number in the graph."""
        nonlocal count
        number, count = count, count + 1
        label = [node.name, *(f"{name}: {show(value)}" for name, value in node.details.items())]
        label += [f"{name} {value}" for name, value in node.remarks.items() if isinstance(value, str)]
        lines.append(f"  n{number} [label={json.dumps(chr(10).join(label), ensure_ascii=False)}];")
        for child in node.children:
            lines.append(f"  n{add_node(child)} -> n{number};")
        return number

    add_node(tree)
    return "\n".join([*lines, "}"])
