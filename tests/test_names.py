"""Names and folders: the words that the code has given up, class names that mean one thing, folders of few files."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "transom"
MAX_FILES = 15
"""The most files of code in a folder."""

GONE_CLASSES = frozenset(
    [
        "Mate",
        "MatesMachine",
        "Mating",
        "Stay",
        "Last",
        "Spread",
        "Exist",
        "Meet",
        "Meeting",
        "CoverMachine",
        "Lines",
        "LineageMachine",
        "Reach",
        "Come",
        "Turn",
        "Stand",
        "Net",
        "Grown",
        "Follow",
        "Tally",
        "Steady",
        "WithoutJumps",
        "Fan",
        "Within",
        "Branch",
        "Keep",
        "Choose",
        "Both",
        "Once",
        "Make",
        "Written",
        "Cut",
        "Pick",
        "Single",
        "Choice",
        "Path",
        "Want",
        "Told",
        "Departure",
        "Run",
        "Order",
        "Aside",
        "SetAside",
        "Dead",
        "Broken",
        "Rejected",
        "Apart",
        "Door",
        "Station",
        "Way",
        "Spot",
        "Land",
        "Asked",
        "Coming",
        "Gathering",
        "Head",
        "Wide",
        "Waiting",
        "Moments",
        "Lineage",
    ]
)
GONE_FUNCTIONS = frozenset(["take_apart", "said", "sift", "patiently", "begin", "again"])
GONE_MODULES = frozenset(
    [
        "marks",
        "given",
        "recut",
        "trial",
        "looks",
        "guesses",
        "shown",
        "compiling",
        "cli_words",
        "ways",
        "look",
        "passing",
        "lineage",
        "told",
        "rdf_plan",
    ]
)
# fmt: off
EMPTY_NAMES = frozenset([
    "again", "apart", "aside", "asked", "beat", "found", "given", "lone", "mine", "one", "place", "places", "said",
    "stay", "stays", "tell", "told", "words",
])
# fmt: on
"""Names of variables, parameters, attributes and functions that say nothing about what they hold."""

GONE_REMARKS = ("; path ", "-- gives ", "; because ", "; remembers ")
"""Words that lines of `explain` began their parts with."""

GONE_REASONS = ("stays", "comings and goings", "nobody knows", "beforehand", " told", "as no key says", "by itself")
"""Phrases that reasons of plans contained."""

COLUMN_CALLS = ("alias", "col", "drop", "orderBy", "withColumn")
PUBLIC_COLUMNS = {
    ("runtime/results/intervals.py", "n"),
    *((f"spark/expressions/{module}.py", axis) for module in ("regions", "spatial") for axis in "xy"),
}
"""Columns and fields of one letter that users see: how often a solution is valid, and the coordinates of a point."""

SHARED = {
    "Aggregate", "AlternativePath", "Ask", "BlankNode", "Construct", "Describe", "Exists", "Filter", "InversePath",
    "NegatedPropertySet", "SequencePath", "Values",
}  # fmt: skip
"""Class names of several layers, each for one concept: syntax, algebra and plan of the same construct."""


@cache
def modules() -> dict[Path, ast.Module]:
    return {path.relative_to(PACKAGE): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}


def layer(path: Path) -> str:
    """The folder below the package; each language is a layer, because it has a syntax of its own."""
    return "/".join(path.parts[: 2 if path.parts[0] == "languages" else 1]) if len(path.parts) > 1 else "transom"


def java_classes() -> set[str]:
    return {path.stem for path in (ROOT / "kernel" / "src").rglob("*.java")}


def classes() -> Iterator[tuple[Path, str]]:
    for path, tree in modules().items():
        yield from ((path, node.name) for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def test_old_names_are_gone() -> None:
    functions = {node.name for tree in modules().values() for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert not {name for _, name in classes()} & GONE_CLASSES
    assert not java_classes() & (GONE_CLASSES | {"Line"})
    assert not functions & GONE_FUNCTIONS
    assert not {path.stem for path in modules()} & GONE_MODULES


@pytest.mark.parametrize("folder", ["physical", "rules"])
def test_explain_says_output_executor_reason_and_state(folder: str) -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "tests" / "golden" / folder).glob("*.txt")]
    assert folder == "rules" or any("; executor " in text and "; reason " in text for text in texts)
    assert not [phrase for text in texts for phrase in GONE_REMARKS if phrase in text]
    assert folder == "rules" or not [phrase for text in texts for phrase in GONE_REASONS if phrase in text]


def identifiers(tree: ast.Module) -> Iterator[str]:
    """The names of variables, parameters, attributes and functions that a module defines or uses."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name


def test_no_name_says_nothing() -> None:
    assert not {str(path): names for path, tree in modules().items() if (names := EMPTY_NAMES & set(identifiers(tree)))}


def test_lanes_are_of_pictures_alone() -> None:
    lanes = {path.parts[0] for path, tree in modules().items() if {"lane", "lanes"} & set(identifiers(tree))}
    assert lanes <= {"picture"}


def test_columns_between_operators_are_constants() -> None:
    """`F.col("t")`, `.alias("n")` and the like: a column of a frame has a name that says what it is."""
    letters = []
    for path, tree in modules().items():
        if path.parts[0] not in ("spark", "connectors", "runtime") or "terms" in path.parts:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in COLUMN_CALLS:
                names = [part.value for part in node.args if isinstance(part, ast.Constant)]
                letters += [(str(path), name) for name in names if isinstance(name, str) and len(name) == 1]
    assert {letter for letter in letters if letter[1].isalpha()} == PUBLIC_COLUMNS


def test_a_class_name_is_defined_once_in_a_layer() -> None:
    found = defaultdict(list)
    for path, name in classes():
        found[layer(path), name].append(str(path))
    assert not {name: paths for name, paths in found.items() if len(paths) > 1}


def test_a_class_name_of_several_layers_means_one_thing() -> None:
    """The three languages name their clauses alike, so they count as one here."""
    layers = defaultdict(set)
    for path, name in classes():
        if not name.startswith("_"):
            layers[name].add(layer(path).split("/")[0])
    assert {name for name, found in layers.items() if len(found) > 1} == SHARED


@pytest.mark.parametrize("top", ["src", "kernel", "tests"])
def test_no_folder_has_many_files(top: str) -> None:
    counts: dict[str, int] = defaultdict(int)
    for path in (ROOT / top).rglob("*"):
        if path.suffix in (".py", ".java") and "__pycache__" not in path.parts:
            counts[str(path.parent.relative_to(ROOT))] += 1
    assert not {folder: count for folder, count in counts.items() if count > MAX_FILES}


def test_no_module_imports_a_private_name_of_another() -> None:
    private = [
        (str(path), alias.name)
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transom")
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__")
    ]
    assert not private


def test_glossary_says_where_each_of_few_words_comes_from() -> None:
    lines = (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][2:]
    words = [row[0] for row in rows]
    assert 40 <= len(words) <= 60
    assert words == sorted(set(words))
    for word, meaning, origin in rows:
        assert meaning, word
        assert not origin.startswith("only Transom") or len(origin) > len("only Transom; ") + 10, f"{word}: say why"
