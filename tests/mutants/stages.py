"""The stages that a mutant goes through: commands, in order, until one fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.site import Site

PYTEST = "{python} -m pytest -x -q --tb=line -rfE -p no:cacheprovider"
COMMANDS: dict[str, str] = {
    "related": PYTEST + " {related}",
    "plain": PYTEST + " -n 2",
    "junit": "kernel/build test",
    "twins": PYTEST + ' -n 2 --kernel -m "kernel and not deep" tests/machines',
    "covering": PYTEST + " --spark --servers {covering}",
    "spark": PYTEST + " --spark {spark}",
}
"""Each stage's command line. {related}: test files near the mutant; {covering}: Spark tests that ran the mutated line,
by the map; {spark}: the argument --spark-tests. A stage whose placeholder is empty is left out."""
SECONDS = {"related": 240, "plain": 600, "junit": 180, "twins": 300, "covering": 600, "spark": 2400}
"""After this time a stage counts as a hang."""
LAYERS = {"junit": {"kernel"}, "twins": {"kernel", "machines"}}
"""Stages that concern some layers only."""
WITHOUT_KERNEL = {"related", "plain"}
"""Stages that no mutant in Java can fail."""
LIGHT = {"related"}
"""Stages that run beside others: they take no lock."""
BUILD = "kernel/build jar src/transom/transom-kernel.jar"
"""What makes the jar anew for a mutant in Java."""

SLOW = ("tests/spark/", "tests/servers/")
NEAR = 12
"""Related test files at most."""
SYNONYMS = {"languages": ("languages", "cql", "sparql"), "algebra": ("cql", "rdf"), "reference": ("reference", "rdf")}
"""Folders of tests per layer, where the name is not the same."""


@dataclass(frozen=True)
class Stage:
    """A command that passes with the sources as they are."""

    name: str
    command: str
    seconds: float

    def concerns(self, mutant: Site) -> bool:
        """Whether the stage could notice the mutant."""
        if mutant.layer == "kernel" and self.name in WITHOUT_KERNEL:
            return False
        return mutant.layer in LAYERS.get(self.name, {mutant.layer})

    @property
    def alone(self) -> bool:
        """Whether the machine's other heavy runs must wait."""
        return self.name not in LIGHT

    def filled(self, values: dict[str, str]) -> str | None:
        """The command line for a mutant; None if nothing is to be run."""
        names = re.findall(r"{(\w+)}", self.command)
        if any(not values.get(name) for name in names):
            return None
        return self.command.format(**values)


def related(root: Path, mutant: Site) -> list[str]:
    """Plain test files near a module, nearest first: those that share its name, then those that import it."""
    if mutant.layer == "kernel":
        return []
    module = mutant.path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, stem = module.rpartition(".")
    imported = re.compile(rf"\b{re.escape(module)}\b|from {re.escape(parent)} import .*\b{re.escape(stem)}\b")
    words = {word for word in re.split(r"[._]", module) if len(word) > 2} - {"transom"}
    folders = SYNONYMS.get(mutant.layer, (mutant.layer,))
    scores: dict[str, float] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(SLOW):
            continue
        shared = words & set(re.split(r"[/_.]", name))
        score = 2.0 * len(shared) + 3 * bool(imported.search(path.read_text("utf-8")))
        score += any(f"tests/{folder}/" in name for folder in folders)
        if score > 1:
            scores[name] = score
    return sorted(scores, key=lambda name: (-scores[name], name))[:NEAR]
