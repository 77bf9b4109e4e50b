"""Changes of a Python file, found on its syntax tree."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tests.mutants.site import Site, numbered

COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
}
NOT_CHANGED = {"TypeVar", "ConfigDict", "cast", "assert_never", "NewType"}
"""Calls whose arguments change nothing that a test could see."""
LOGS = {"log", "logger", "LOG"}


def python_sites(layer: str, path: str, source: bytes) -> list[Site]:
    """All changes of one file."""
    return list(numbered(Finder(layer, path, source).found()))


class Finder:
    """Walks a syntax tree and notes what can be changed."""

    def __init__(self, layer: str, path: str, source: bytes):
        self.layer, self.path, self.source = layer, path, source
        lines = source.splitlines(keepends=True)
        self.lines = [line.decode().strip() for line in lines]
        self.offsets = [0]
        for line in lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self.statement = 1

    def found(self) -> Iterator[Site]:
        """All sites, in no particular order."""
        yield from self.block(ast.parse(self.source).body)

    # positions

    def begin(self, node: ast.expr | ast.stmt) -> int:
        return self.offsets[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offsets[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        return self.source[self.begin(node) : self.end(node)].decode()

    def site(self, start: int, end: int, after: str, kind: str) -> Site:
        line = bisect_right(self.offsets, start)
        before, code = self.source[start:end].decode(), self.lines[line - 1]
        return Site(self.layer, self.path, line, self.statement, start, end, before, after, kind, code)

    def between(self, left: ast.expr, right: ast.expr, pattern: str, after: str, kind: str) -> Iterator[Site]:
        """The operator between two expressions, replaced."""
        start, end = self.end(left), self.begin(right)
        match = re.search(
            pattern.encode(), re.sub(rb"#[^\n]*", lambda note: b" " * len(note[0]), self.source[start:end])
        )
        if match:
            yield self.site(start + match.start(), start + match.end(), after, kind)

    # statements

    def block(self, body: Sequence[ast.stmt], function: str = "") -> Iterator[Site]:
        for index, node in enumerate(body):
            self.statement = node.lineno
            yield from self.statement_sites(node, function)
            if isinstance(node, ast.If) and not type_checking(node) and not node.orelse and len(node.body) == 1:
                # a guard: what it leaves early now goes on
                only = node.body[0]
                if isinstance(only, ast.Raise) or (isinstance(only, ast.Return) and index + 1 < len(body)):
                    self.statement = only.lineno
                    yield self.site(self.begin(only), self.end(only), "pass", "guard")

    def statement_sites(self, node: ast.stmt, function: str) -> Iterator[Site]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for default in (*node.args.defaults, *node.args.kw_defaults):
                    yield from self.expression(default)
                yield from self.block(node.body, node.name)
            case ast.ClassDef():
                yield from self.block(node.body, function)
            case ast.If() if type_checking(node):
                yield from self.block(node.orelse, function)
            case ast.If() | ast.While():
                if isinstance(node, ast.If):
                    yield from self.negated(node.test)
                yield from self.expression(node.test)
                yield from self.block(node.body, function)
                yield from self.block(node.orelse, function)
            case ast.For() | ast.AsyncFor():
                yield from self.expression(node.iter)
                yield from self.block(node.body, function)
                yield from self.block(node.orelse, function)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    yield from self.expression(item.context_expr)
                yield from self.block(node.body, function)
            case ast.Try():
                for body in (node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody):
                    yield from self.block(body, function)
            case ast.Match():
                yield from self.expression(node.subject)
                for case in node.cases:
                    self.statement = case.pattern.lineno
                    if case.guard:
                        yield from self.negated(case.guard)
                        yield from self.expression(case.guard)
                    yield from self.block(case.body, function)
            case ast.Expr(value=ast.Call() as call):
                if not logs(call) and name_of(call.func) not in NOT_CHANGED:
                    yield self.site(self.begin(node), self.end(node), "pass", "statement")
                    yield from self.expression(call)
            case ast.Expr(value=ast.Yield() | ast.YieldFrom() | ast.Await()):
                yield from self.expression(node.value)
            case ast.Return():
                yield from self.expression(node.value)
            case ast.Assign():
                yield from self.assignment(node, node.targets, function)
            case ast.AnnAssign():
                yield from self.assignment(node, [node.target], function)
            case ast.AugAssign():
                yield self.site(self.begin(node), self.end(node), "pass", "statement")
                if type(node.op) in ARITHMETIC and not text_like(node.value):
                    before, after = ARITHMETIC[type(node.op)]
                    yield from self.between(node.target, node.value, re.escape(before) + "=", after + "=", "arithmetic")
                yield from self.expression(node.value)
            case ast.Continue() | ast.Break():
                yield self.site(self.begin(node), self.end(node), "pass", "statement")
            case ast.Delete():
                yield self.site(self.begin(node), self.end(node), "pass", "statement")

    def assignment(self, node: ast.Assign | ast.AnnAssign, targets: list[ast.expr], function: str) -> Iterator[Site]:
        """A target that is part of an object may keep its old value; names have none to keep."""
        names = {target.id for target in targets if isinstance(target, ast.Name)}
        if names & {"__slots__", "__all__", "__match_args__"}:
            return
        if function not in ("", "__init__", "__post_init__") and all(
            isinstance(target, ast.Attribute | ast.Subscript) for target in targets
        ):
            yield self.site(self.begin(node), self.end(node), "pass", "statement")
        yield from self.expression(node.value)

    def negated(self, test: ast.expr) -> Iterator[Site]:
        """A condition turned around, unless another change does the same."""
        turned = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
        match test:
            case ast.UnaryOp(op=ast.Not()):
                return
            case ast.Compare(ops=[op]) if isinstance(op, turned):
                return
        yield self.site(self.begin(test), self.end(test), f"not ({self.text(test)})", "condition")

    # expressions

    def expression(self, node: ast.expr | None) -> Iterator[Site]:
        match node:
            case None | ast.Constant(value=str() | bytes() | None):
                return
            case ast.JoinedStr() | ast.Lambda(body=ast.Constant(value=str())):
                return
            case ast.Constant(value=value):
                yield from self.constant(node, value)
                return
            case ast.Compare():
                yield from self.comparison(node)
            case ast.BinOp() if type(node.op) in ARITHMETIC and not text_like(node.left) and not text_like(node.right):
                before, after = ARITHMETIC[type(node.op)]
                yield from self.between(node.left, node.right, re.escape(before), after, "arithmetic")
            case ast.BoolOp():
                before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:]):
                    yield from self.between(left, right, before, after, "boolean")
            case ast.UnaryOp(op=ast.Not()):
                gap = re.match(rb"not\s*", self.source[self.begin(node) :])
                if gap:
                    yield self.site(self.begin(node), self.begin(node) + gap.end(), "", "boolean")
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                yield self.site(self.begin(node), self.end(node), self.text(node.operand), "constant")
                return
            case ast.IfExp():
                yield from self.negated(node.test)
            case ast.Call():
                if name_of(node.func) in NOT_CHANGED:
                    return
                yield from self.arguments(node)
            case ast.Slice():
                for bound in (node.lower, node.upper):
                    if bound is not None and not isinstance(bound, ast.Constant):
                        yield self.site(self.begin(bound), self.end(bound), "", "slice")
        yield from self.below(node)

    def below(self, node: ast.expr) -> Iterator[Site]:
        """Changes inside an expression."""
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.expr():
                    yield from self.expression(child)
                case ast.keyword() if not (child.arg == "strict" and isinstance(node, ast.Call)):
                    yield from self.expression(child.value)
                case ast.comprehension():
                    yield from self.expression(child.iter)
                    for test in child.ifs:
                        yield from self.negated(test)
                        yield from self.expression(test)
                case ast.arguments():
                    for default in (*child.defaults, *child.kw_defaults):
                        yield from self.expression(default)

    def constant(self, node: ast.Constant, value: object) -> Iterator[Site]:
        if isinstance(value, bool):
            yield self.site(self.begin(node), self.end(node), str(not value), "constant")
        elif isinstance(value, int | float):
            yield self.site(self.begin(node), self.end(node), str(value + 1), "constant")

    def comparison(self, node: ast.Compare) -> Iterator[Site]:
        for left, op, right in zip((node.left, *node.comparators), node.ops, node.comparators):
            before, after = COMPARISONS[type(op)]
            yield from self.between(left, right, before, after, "comparison")

    def arguments(self, node: ast.Call) -> Iterator[Site]:
        """min(a, b) without a or without b."""
        plain = not node.keywords and not any(isinstance(argument, ast.Starred) for argument in node.args)
        if name_of(node.func) in ("min", "max") and isinstance(node.func, ast.Name) and plain and len(node.args) == 2:
            for argument in node.args:
                yield self.site(self.begin(node), self.end(node), f"({self.text(argument)})", "argument")


def type_checking(node: ast.If) -> bool:
    """Whether a block is for type checkers, or for a module that is run as a script."""
    if isinstance(node.test, ast.Compare) and name_of(node.test.left) == "__name__":
        return True
    return name_of(node.test) == "TYPE_CHECKING"


def name_of(node: ast.expr) -> str:
    """The last name of a dotted one."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
    return ""


def logs(call: ast.Call) -> bool:
    """Whether a call only writes to a log of the program."""
    return isinstance(call.func, ast.Attribute) and name_of(call.func.value) in LOGS


def text_like(node: ast.expr) -> bool:
    """Whether an operand is text or a list as written: subtracting it is an error that every test sees."""
    match node:
        case ast.Constant(value=str() | bytes()) | ast.JoinedStr() | ast.List() | ast.Tuple() | ast.ListComp():
            return True
        case ast.BinOp():
            return text_like(node.left) or text_like(node.right)
    return False
