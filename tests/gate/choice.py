"""What the chosen set must show at least once, and which tests say that they show it: `@pytest.mark.covers(...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.gate.plugin import NIGHTLY
from transom.catalog.schema.entries import SourceEntry
from transom.runtime.sinks.sink import SINK_FORMS

TESTS = Path(__file__).parents[1]

OTHER = (
    "source:http push",
    "source:rdf messages",
    "log:files",
    "log:kafka",
    "tls:kafka",
    "tls:postgresql",
    "tls:mqtt",
    "tls:opcua",
    "tls:http",
    "tls:http push",
    "secrets",
    "kill:kernel",
    "kill:python",
    "kill:sparql",
    "kill:collector",
    "spark:oldest",
    "spark:connect",
    "run:once",
    "serve",
    "pages:spark",
    "pages:servers",
    "site:browser",
)
"""What no registry of the code names."""


def required() -> set[str]:
    """Every sink and every source that the code knows, and what else a landing must not go without."""
    sinks = {f"sink:{sink.split(':')[0]}" for sink in SINK_FORMS} - {
        "sink:console"
    }  # .ci/user reads what that one prints
    sources = {f"source:{name}" for name in SourceEntry.model_fields if name != "query"}
    return sinks | sources | set(OTHER)


@cache
def covered(folder: Path = TESTS) -> dict[str, list[str]]:
    """What the chosen tests of a folder say that they show, with their ids; nightly tests do not count."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if _marks_of_module(tree) & set(NIGHTLY):
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                marks = list(_marks(node))
                if not {name for name, _ in marks} & set(NIGHTLY):
                    for what in (text for name, texts in marks if name == "covers" for text in texts):
                        found.setdefault(what, []).append(f"{path.relative_to(folder)}::{node.name}")
    return found


def _marks(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, list[str]]]:
    """The marks of a test: names, and arguments that are texts."""
    for decorator in node.decorator_list:
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(call, ast.Attribute) and ast.unparse(call.value) == "pytest.mark":
            arguments = decorator.args if isinstance(decorator, ast.Call) else []
            yield call.attr, [a.value for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, str)]


def _marks_of_module(tree: ast.Module) -> set[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            return {part.attr for part in ast.walk(node.value) if isinstance(part, ast.Attribute)}
    return set()
