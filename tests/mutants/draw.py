"""Drawing mutants: a number of changes over all layers, by a seed.

A site is drawn by a hash of the seed, its path and its text. The same seed therefore gives nearly the same mutants
after changes elsewhere in the sources.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.mutants.java_sites import java_sites
from tests.mutants.python_sites import python_sites
from tests.mutants.site import Site, digest

ROOT = Path(__file__).parents[2]
PACKAGE, KERNEL = Path("src/transom"), Path("kernel/src/main/java")
TOP = "top"
"""The modules beside the packages: the query facade and the command line."""
LEAST = {"kernel": 4}
"""Mutants of a layer at least, if not 1."""

Compiles = Callable[[Site], bool]


def layer_of(path: Path) -> str:
    """The layer of a source file, by its path below the root."""
    if path.is_relative_to(KERNEL):
        return "kernel"
    first = path.relative_to(PACKAGE).parts[0]
    if first == "errors.py":
        return "errors"
    return TOP if first.endswith(".py") else first


def sources(root: Path) -> dict[str, list[Path]]:
    """The source files of every layer, as paths below the root."""
    layers: dict[str, list[Path]] = {}
    for path in (*sorted((root / PACKAGE).rglob("*.py")), *sorted((root / KERNEL).rglob("*.java"))):
        below = path.relative_to(root)
        layers.setdefault(layer_of(below), []).append(below)
    return layers


def code_lines(text: str) -> int:
    """Lines that are neither empty nor a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith(("#", "//", "*", "/*")) for line in text.splitlines())


def shares(weights: Mapping[str, int], count: int) -> dict[str, int]:
    """How many mutants each layer gets: its minimum, and the rest by code lines (D'Hondt)."""
    given = Counter({layer: LEAST.get(layer, 1) for layer in weights})
    if given.total() > count:
        raise ValueError(f"{count} mutants are too few: {len(weights)} layers need {given.total()}")
    while given.total() < count:
        given[max(sorted(weights), key=lambda layer: weights[layer] / (given[layer] + 1))] += 1
    return dict(given)


def sites(root: Path, layer: str, path: Path) -> list[Site]:
    """All changes of one file."""
    find = java_sites if path.suffix == ".java" else python_sites
    return find(layer, path.as_posix(), (root / path).read_bytes())


def ranked(seed: int, found: list[Site]) -> list[Site]:
    """The sites of a layer in the order in which they are drawn: one per source line, lines in random order."""
    chosen: dict[tuple[str, int], Site] = {}
    for site in found:
        line = (site.path, site.line)
        if line not in chosen or digest(seed, site.name) < digest(seed, chosen[line].name):
            chosen[line] = site
    return sorted(chosen.values(), key=lambda site: digest("line", seed, site.path, site.code, site.occurrence))


def draw(seed: int, count: int, root: Path = ROOT, compiles: Compiles | None = None) -> list[Site]:
    """Mutants over all layers; those that do not compile are passed over."""
    compiles = compiles or (lambda site: python_compiles(root, site))
    layers = sources(root)
    weights = {
        layer: sum(code_lines((root / path).read_text("utf-8")) for path in paths) for layer, paths in layers.items()
    }
    drawn: list[Site] = []
    for layer, wanted in shares(weights, count).items():
        found = [site for path in layers[layer] for site in sites(root, layer, path)]
        taken = 0
        for site in ranked(seed, found):
            if taken == wanted:
                break
            if compiles(site):
                drawn.append(site)
                taken += 1
        if taken < wanted:
            raise ValueError(f"only {taken} of {wanted} mutants of {layer} compile: does it compile without a change?")
    return drawn


def saved(drawn: Sequence[Site]) -> str:
    """Mutants as lines of JSON."""
    return "".join(json.dumps(site.as_json(), ensure_ascii=False) + "\n" for site in drawn)


def loaded(text: str, root: Path = ROOT) -> list[Site]:
    """Mutants that were saved, where they are in the sources of today."""
    found: list[Site] = []
    for line in text.splitlines():
        old = json.loads(line)
        here = sites(root, old["layer"], Path(old["path"])) if (root / old["path"]).is_file() else []
        again = [site for site in here if site.name == old["name"]]
        if not again:
            raise ValueError(f"{old['path']} no longer has the line of mutant {old['name']}: {old['code']}")
        found += again
    return found


def python_compiles(root: Path, site: Site) -> bool:
    """Whether a Python file compiles with the change; Java files are taken as they are."""
    if not site.path.endswith(".py"):
        return True
    try:
        compile(site.applied((root / site.path).read_bytes()), site.path, "exec")
    except SyntaxError:
        return False
    return True


def all_compiles(root: Path, site: Site) -> bool:
    """Whether a file compiles with the change, Java files too, as `kernel/build` compiles them."""
    if site.path.endswith(".py"):
        return python_compiles(root, site)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "kernel"
        shutil.copytree(root / "kernel", copy, ignore=shutil.ignore_patterns("out", "test"))
        target = Path(folder) / site.path
        target.write_bytes(site.applied(target.read_bytes()))
        command = [str(copy / "build"), "classes", f"{folder}/classes"]
        environment = {**os.environ, "PYTHON": sys.executable}
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
