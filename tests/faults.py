"""Seeded faults: changes of a function's syntax tree that a careless programmer could have made.

A fault names a function and gives two fragments of Python, `right` and `wrong`. The one subtree of the function that
matches `right` is replaced by `wrong`. Names of one capital letter with an underscore, such as `A_`, match any
expression, the same one wherever they are repeated. Fragments therefore keep matching when something is renamed,
unless the fault is about that name.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

Where: TypeAlias = "ModuleType | type | Callable[..., Any] | property"

_ANY = re.compile(r"[A-Z]_\Z")
_Bindings: TypeAlias = dict[str, ast.AST]


@dataclass(frozen=True)
class Fault:
    """A fault: where it is, what the code says, and what it would say if someone had been careless."""

    name: str
    where: Where
    right: str
    wrong: str

    @property
    def module(self) -> ModuleType:
        """The module that the fault changes."""
        where = _function(self.where)
        return where if isinstance(where, ModuleType) else sys.modules[where.__module__]


def _function(where: Where) -> Any:
    """The function behind a property or a cache."""
    if isinstance(where, property):
        return where.fget
    return where if isinstance(where, ModuleType) else inspect.unwrap(where)


@functools.cache
def _tree_of(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _definition(tree: ast.AST, qualified: str) -> ast.AST:
    """The definition of a function or class, by its qualified name."""
    for name in qualified.split("."):
        if name != "<locals>":
            definitions = [node for node in ast.walk(tree) if getattr(node, "name", None) == name and node is not tree]
            tree = next(node for node in definitions if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return tree


def _fragment(text: str) -> list[ast.stmt] | ast.expr:
    """A fragment as an expression, or as statements."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.parse(text).body


def _matches(pattern: Any, node: Any, bound: _Bindings) -> bool:
    """Whether a subtree is what a pattern says; positions and contexts do not count."""
    if isinstance(pattern, ast.Name) and _ANY.match(pattern.id) and isinstance(node, ast.expr):
        if pattern.id in bound:
            return _matches(bound[pattern.id], node, {})
        bound[pattern.id] = node
        return True
    if isinstance(pattern, ast.AST):
        if type(pattern) is not type(node):
            return False
        fields = [name for name in pattern._fields if name not in ("ctx", "type_comment", "kind")]
        return all(_matches(getattr(pattern, name, None), getattr(node, name, None), bound) for name in fields)
    if isinstance(pattern, list):
        return (
            isinstance(node, list)
            and len(pattern) == len(node)
            and all(_matches(one, other, bound) for one, other in zip(pattern, node))
        )
    return bool(pattern == node)


class _Fill(ast.NodeTransformer):
    """Puts what a pattern has matched in place of its wildcards."""

    def __init__(self, bound: _Bindings) -> None:
        self.bound = bound

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.bound[node.id]) if node.id in self.bound else node


def _sites(tree: ast.AST, pattern: list[ast.stmt] | ast.expr) -> Iterator[tuple[ast.AST, str, int | None, _Bindings]]:
    """Every place of a tree that matches: the node above it, its field, its index in a list, and what is bound."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if isinstance(pattern, list):
                if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    for index in range(len(value) - len(pattern) + 1):
                        bound: _Bindings = {}
                        if _matches(pattern, value[index : index + len(pattern)], bound):
                            yield parent, name, index, bound
            else:
                for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                    bound = {}
                    if isinstance(child, ast.expr) and _matches(pattern, child, bound):
                        yield parent, name, index, bound


def faulty_tree(fault: Fault) -> ast.Module:
    """The syntax tree of the module with the fault in it; the fault must match exactly once."""
    tree = copy.deepcopy(_tree_of(fault.module))
    where = _function(fault.where)
    within = tree if isinstance(where, ModuleType) else _definition(tree, where.__qualname__)
    pattern, wrong = _fragment(fault.right), _fragment(fault.wrong)
    if isinstance(pattern, ast.expr) and isinstance(wrong, list):
        pattern = [ast.Expr(pattern)]
    if isinstance(pattern, list) and isinstance(wrong, ast.expr):
        wrong = [ast.Expr(wrong)]
    found = list(_sites(within, pattern))
    assert len(found) == 1, f"{fault.name}: {fault.right!r} matches {len(found)} times"
    [(parent, name, index, bound)] = found
    if isinstance(wrong, list):
        assert isinstance(pattern, list)
        filled = [_Fill(bound).visit(copy.deepcopy(one)) for one in wrong]
        getattr(parent, name)[index : (index or 0) + len(pattern)] = filled
    elif index is None:
        setattr(parent, name, _Fill(bound).visit(copy.deepcopy(wrong)))
    else:
        getattr(parent, name)[index] = _Fill(bound).visit(copy.deepcopy(wrong))
    return ast.fix_missing_locations(tree)


@contextmanager
def seeded(fault: Fault) -> Iterator[None]:
    """Run with a fault: the module is executed anew, and every module that imported from it sees the faulty names."""
    module = fault.module
    before = dict(vars(module))
    others = [m for name, m in list(sys.modules.items()) if name.startswith("transom.") and m is not module]
    exec(compile(faulty_tree(fault), f"<{fault.name}>", "exec"), vars(module))  # noqa: S102 - that is the point
    undo: list[tuple[ModuleType, str, Any]] = []
    for name, old in before.items():
        new = vars(module)[name]
        if new is not old and not name.startswith("__"):
            for other in others:
                for alias, used in list(vars(other).items()):
                    if used is old:
                        undo.append((other, alias, old))
                        setattr(other, alias, new)
    try:
        yield
    finally:
        vars(module).update(before)
        for changed, alias, old in undo:
            setattr(changed, alias, old)
