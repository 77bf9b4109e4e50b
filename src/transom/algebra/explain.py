"""Showing trees of frozen values, operators or syntax, as text, JSON or a graph; nothing here names an operator."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any

from transom.algebra.composed import Behind
from transom.model.schema import Schema


@dataclass(frozen=True, slots=True)
class Branch:
    """One node of a tree to be shown: its name, what it says of itself, remarks, and the nodes below it.

    `role` is the field of the node above that holds it.
    """

    name: str
    details: Mapping[str, Any]
    below: tuple[Branch, ...] = ()
    remarks: Mapping[str, Any] = field(default_factory=dict)
    role: str = ""


def branch(
    value: Any,
    is_node: Callable[[Any], bool],
    remark: Callable[[Any], Mapping[str, Any]] | None = None,
    role: str = "",
) -> Branch:
    """The tree of a frozen value: fields that are nodes hang below it, the others are its details."""
    details: dict[str, Any] = {}
    below: list[Branch] = []
    for one in fields(value):
        content = getattr(value, one.name)
        nodes = flat(content)
        if nodes and all(map(is_node, nodes)):
            below.extend(branch(part, is_node, remark, one.name) for part in nodes)
        elif one.compare and content != () and not isinstance(content, Schema) and content is not one.default:
            details[one.name] = plain(content)
    return Branch(type(value).__name__, details, tuple(below), remark(value) if remark else {}, role)


def flat(content: Any) -> list[Any]:
    """What a field holds: the parts of tuples, and of tuples in them."""
    if isinstance(content, Behind):
        return [content.query]
    return [part for inner in content for part in flat(inner)] if isinstance(content, tuple) else [content]


def show(content: Any) -> str:
    """The value of a field in a few words."""
    if isinstance(content, tuple | list):
        return "[" + ", ".join(map(show, content)) + "]"
    if isinstance(content, Enum):
        return str(content.value)
    if is_dataclass(content) and type(content).__str__ is object.__str__:
        inner = ((f.name, getattr(content, f.name)) for f in fields(content) if f.compare)
        said = [f"{name}={show(v)}" for name, v in inner if v is not None and v != ()]
        return f"{type(content).__name__}({', '.join(said)})"
    return str(content)


def plain(content: Any) -> Any:
    """The value of a field as JSON has it: numbers, lists, and words for the rest."""
    if isinstance(content, tuple):
        return [plain(part) for part in content]
    return content if isinstance(content, bool | int | float | str) and not isinstance(content, Enum) else show(content)


def headline(node: Branch) -> str:
    """A node in one line."""
    said = ", ".join(f"{name}={show(value)}" for name, value in node.details.items())
    return f"{node.name}({said})" if said else node.name


def written(node: Branch, format: str, *, roles: bool = False) -> str:
    """A tree as text, as JSON or as a graph; text can say which part of a node each one below it is."""
    if format == "text":
        return as_text(node, roles=roles)
    return as_json(node) if format == "json" else as_dot(node)


def as_text(node: Branch, *, roles: bool = False) -> str:
    """A tree as indented lines, remarks behind two dashes; with `roles`, each node with the field that holds it."""
    lines: list[str] = []

    def add(one: Branch, first: str, rest: str) -> None:
        said = "; ".join(f"{name} {value}" for name, value in one.remarks.items() if isinstance(value, str))
        role = f"{one.role}: " if roles and one.role else ""
        lines.append(first + role + headline(one) + (f"  -- {said}" if said else ""))
        for place, below in enumerate(one.below):
            last = place == len(one.below) - 1
            add(below, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))

    add(node, "", "")
    return "\n".join(lines)


def as_json(node: Branch) -> str:
    """A tree as JSON."""

    def tree(one: Branch) -> dict[str, Any]:
        role = {"role": one.role} if one.role else {}
        return {"node": one.name, **role, **one.details, **one.remarks, "inputs": [tree(b) for b in one.below]}

    return json.dumps(tree(node), indent=2, ensure_ascii=False)


def as_dot(node: Branch) -> str:
    """A tree as a graph in the DOT language; arrows go the way the data flows."""
    lines = ["digraph plan {", "  rankdir=BT;", '  node [shape=box, fontname="sans-serif"];']
    count = 0

    def add(one: Branch) -> int:
        nonlocal count
        own, count = count, count + 1
        said = [one.name, *(f"{name}: {show(value)}" for name, value in one.details.items())]
        said += [f"{name} {value}" for name, value in one.remarks.items() if isinstance(value, str)]
        lines.append(f"  n{own} [label={json.dumps(chr(10).join(said), ensure_ascii=False)}];")
        for below in one.below:
            lines.append(f"  n{add(below)} -> n{own};")
        return own

    add(node)
    return "\n".join([*lines, "}"])
