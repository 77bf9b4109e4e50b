"""Import cycles among the files of a package: `python -m tests.import_cycles`.

Every import counts: at the top of a file, inside a function, and under `if TYPE_CHECKING`. `from package import name`
imports the file of the submodule `name` if there is one, and otherwise the package's `__init__.py`, which is a file
like any other. Importing `package.module` does not count as an import of `package/__init__.py`: Python runs that file
first, but the importing file needs none of its names.
"""

from __future__ import annotations

import ast
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
PACKAGE = "transom"

Graph = Mapping[str, Mapping[str, int]]
"""For each module the modules that it imports, with the first line that does."""


@dataclass(frozen=True)
class Cycle:
    """A strongly connected set of modules, and the shortest cycle in it as (module, line of its import)."""

    modules: frozenset[str]
    shortest: tuple[tuple[str, int], ...]


def modules_of(package: Path) -> dict[str, Path]:
    """The file of each module of a package, by dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(package: Path) -> dict[str, dict[str, int]]:
    """The imports between the modules of a package."""
    modules = modules_of(package)
    graph: dict[str, dict[str, int]] = {}
    for module, path in modules.items():
        edges = graph.setdefault(module, {})
        tree = ast.parse(path.read_text("utf-8"), str(path))
        home = module if path.name == "__init__.py" else module.rpartition(".")[0]
        for line, target in _imported(tree, home, modules):
            if target != module:
                edges[target] = min(line, edges.get(target, line))
    return graph


def _imported(tree: ast.AST, home: str, modules: Mapping[str, Path]) -> Iterator[tuple[int, str]]:
    """The line and the target of each import of a file in the package `home`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                above = home.split(".")[: len(home.split(".")) - node.level + 1]
                origin = ".".join([*above, *filter(None, [origin])])
            for alias in node.names:
                submodule = f"{origin}.{alias.name}"
                if submodule in modules:
                    yield alias.lineno, submodule
                elif origin in modules:
                    yield node.lineno, origin


def cycles_of(graph: Graph) -> list[Cycle]:
    """The strongly connected sets of more than one module, the largest first."""
    reach = {module: _distances(graph, module) for module in graph}
    seen: set[str] = set()
    found = []
    for module in sorted(graph):
        if module in seen:
            continue
        together = frozenset(other for other in reach[module] if module in reach[other])
        seen |= together
        if len(together) > 1:
            found.append(Cycle(together, _shortest(graph, together)))
    return sorted(found, key=lambda cycle: (-len(cycle.modules), sorted(cycle.modules)))


def _distances(graph: Graph, start: str) -> dict[str, str]:
    """Every module reached from `start` by one import or more, with the module that imports it on a shortest way."""
    before: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        module = waiting.popleft()
        for target in sorted(graph[module]):
            if target not in before:
                before[target] = module
                waiting.append(target)
    return before


def _shortest(graph: Graph, together: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """The shortest cycle among modules that all reach one another."""
    inner = {module: {t: line for t, line in graph[module].items() if t in together} for module in together}
    rings = []
    for start in sorted(together):
        before = _distances(inner, start)
        ring = [start]
        while (previous := before[ring[0]]) != start:
            ring.insert(0, previous)
        ring.insert(0, start)
        rings.append(ring)
    ring = min(rings, key=len)
    return tuple((module, inner[module][target]) for module, target in pairwise(ring))


def complaints(package: Path = SOURCES / PACKAGE) -> list[str]:
    """Every cycle, with the files and lines of its shortest ring."""
    files = {name: path.relative_to(package.parents[1]) for name, path in modules_of(package).items()}
    found = []
    for cycle in cycles_of(imports_of(package)):
        ring = " -> ".join(f"{files[module]}:{line}" for module, line in cycle.shortest)
        found.append(f"import cycle of {len(cycle.modules)} files: {ring} -> {files[cycle.shortest[0][0]]}")
    return found


if __name__ == "__main__":
    broken = complaints()
    print("\n".join(broken) or f"no import cycle in {PACKAGE}")
    sys.exit(bool(broken))
