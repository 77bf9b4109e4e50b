"""The API page lists every public name, and the examples in docstrings give what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from mkdocs.utils.yaml import yaml_load

import transom
from tests.docs.pages import ROOT, text_of

SOURCES = ROOT / "src"
WITHOUT_EXAMPLE = {
    "Query.to_df": "needs a Spark session",
    "Query.replay": "needs a Spark session",
    "Query.start": "needs a Spark session",
    "Query.job": "needs a Spark session",
    "Query.physical": "spark.md shows plans",
    "Query.state_of": "takes the bound of a node of a plan",
    "Query.map": "needs objects with positions, as in space.md",
    "Picture.save": "writes a file; python.md has an example",
    "Map.save": "writes a file",
    "TransomError.within": "python.md shows errors",
    "TransomError.render": "python.md shows errors",
}
"""Public functions whose docstring has no example, with the reason."""


def listed_names() -> list[str]:
    return re.findall(r"^::: transom\.(\S+)$", text_of("docs/api.md"), re.MULTILINE)


def public_classes() -> list[type]:
    """The public classes but for those of errors, which only name what is wrong."""
    values = [getattr(transom, name) for name in transom.__all__]
    return [
        value
        for value in values
        if inspect.isclass(value) and (value is transom.TransomError or not issubclass(value, Exception))
    ]


def methods_of(owner: type) -> dict[str, Any]:
    """The public methods of a class that its package defines, by name."""
    members = inspect.getmembers(owner, lambda member: inspect.isfunction(member) or inspect.ismethod(member))
    return {
        name: member
        for name, member in members
        if not name.startswith("_") and member.__module__.startswith("transom.")
    }


def generator() -> dict[str, Any]:
    """The entry of mkdocs.yml that generates the API page."""
    with (ROOT / "mkdocs.yml").open("rb") as file:
        plugins = yaml_load(file)["plugins"]
    [entry] = [plugin for plugin in plugins if "mkdocstrings" in plugin]
    return {"mkdocstrings": entry["mkdocstrings"]}


def test_api_page_lists_exactly_the_public_names() -> None:
    assert sorted(listed_names()) == sorted(transom.__all__)


def test_every_public_name_and_method_is_on_the_generated_page_or_in_python(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "api.md").write_text(text_of("docs/api.md").replace("python.md", "api.md"), "utf-8")
    (tmp_path / "src").symlink_to(SOURCES)
    site = {"site_name": "API", "theme": "material", "use_directory_urls": False, "plugins": [generator()]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(site), "utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "api.html").read_text("utf-8")
    generated = set(re.findall(r'id="transom\.([\w.]+)"', page))
    assert set(transom.__all__) <= generated
    explained = text_of("docs/python.md")
    members = [(owner.__name__, name) for owner in public_classes() for name in dir(owner) if not name.startswith("_")]
    own = [(owner, name) for owner, name in members if not hasattr(Exception, name)]
    assert len(own) > 80
    missing = [
        f"{owner}.{name}"
        for owner, name in own
        if f"{owner}.{name}" not in generated and not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", explained)
    ]
    assert not missing


def test_public_functions_have_an_example() -> None:
    functions = {"compile": transom.compile}
    for owner in public_classes():
        functions |= {f"{owner.__name__}.{name}": method for name, method in methods_of(owner).items()}
    without = {name for name, function in functions.items() if ">>> " not in (function.__doc__ or "")}
    assert without == set(WITHOUT_EXAMPLE)


def modules_with_examples() -> list[str]:
    files = [path for path in sorted((SOURCES / "transom").rglob("*.py")) if ">>> " in path.read_text("utf-8")]
    return [".".join(path.relative_to(SOURCES).with_suffix("").parts) for path in files]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings_give_what_they_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The methods of a class share the names that the example of the class defines."""
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(name)
    names: dict[str, dict[str, Any]] = defaultdict(lambda: dict(vars(module)))
    runner = doctest.DocTestRunner(verbose=False)
    report: list[str] = []
    examples = doctest.DocTestFinder().find(module, name)
    for example in sorted(examples, key=lambda example: (example.name.count("."), example.lineno or 0)):
        example.globs = names[example.name.removeprefix(f"{name}.").partition(".")[0]]
        runner.run(example, out=report.append, clear_globs=False)
    assert runner.tries
    assert not runner.failures, "".join(report)
