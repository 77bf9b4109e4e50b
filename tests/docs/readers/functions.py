"""The functions of the package and of the kernel, as a reader judges them: name, signature and first line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
_JAVA = re.compile(
    r"(?:/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*)?(?:@\w+(?:\([^)]*\))?\s*)*"
    r"^ +(?P<signature>(?:(?:public|protected|private|static|final|abstract|synchronized|default) )*"
    r"(?!return |new |throw |else |case )[\w.]+(?:<[\w<>\[\], ?.]+>)?(?:\[\])* \w+\([^(){};]*\))[^;{]*[{;]",
    re.DOTALL | re.MULTILINE,
)
_JAVA_LITERAL = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)
_JAVA_BLOCK = re.compile(r"\b(?:class|interface|enum|record) (?P<name>\w+)|[{}]")
UNDOCUMENTED = "(no description)"


def _functions_in(owner: ast.AST, holder: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions defined in a module, class or function, nested ones included, with their qualified names."""
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield holder + node.name, node
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _functions_in(node, f"{holder}{node.name}." if named else holder)


def python_functions() -> Iterator[str]:
    """Every function and method of the package."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for name, node in _functions_in(ast.parse(path.read_text("utf-8")), ""):
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            first = (ast.get_docstring(node) or UNDOCUMENTED).splitlines()[0]
            yield f"{module}\n    {name}({ast.unparse(node.args)}){returns}\n    {first}"


def _java_class(source: str, offset: int) -> str:
    """The classes around an offset of a Java source, outermost first: `SlidingSums.Decimals`."""
    code = _JAVA_LITERAL.sub(lambda literal: " " * len(literal[0]), source)
    blocks, declared = [], ""
    for token in _JAVA_BLOCK.finditer(code, 0, offset):
        if token["name"]:
            declared = token["name"]
        elif token[0] == "{":
            blocks.append(declared)
            declared = ""
        else:
            blocks.pop()
    return ".".join(filter(None, blocks))


def java_functions() -> Iterator[str]:
    """Every method of the kernel, with the class that declares it."""
    for path in sorted((ROOT / "kernel" / "src" / "main").rglob("*.java")):
        source = path.read_text("utf-8")
        for method in _JAVA.finditer(source):
            owner = _java_class(source, method.start("signature"))
            comment = " ".join(line.strip(" *") for line in (method["comment"] or UNDOCUMENTED).splitlines()).strip()
            first = re.split(r"(?<=\.) ", comment)[0]
            yield f"{owner} (Java)\n    {' '.join(method['signature'].split())}\n    {first}"
