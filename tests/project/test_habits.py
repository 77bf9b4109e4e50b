"""What people expect beside the code: citation, security, templates, workflows, hooks; each says what is true."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from transom.cli.app import app
from transom.languages.registry import LANGUAGES

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def loaded(name: str) -> Any:
    return yaml.load((ROOT / name).read_text("utf-8"), yaml.CSafeLoader)


def test_the_description_is_in_the_words_of_the_field() -> None:
    for word in ("SQL", "SPARQL", "Spark Structured Streaming", "windows"):
        assert word in PROJECT["description"]
    assert {"CQL", "SNEEql", "SPARQL", "GIS", "Kafka"} <= set(PROJECT["keywords"])


def test_the_citation_names_the_project_and_three_papers() -> None:
    citation = loaded("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"].lower() == PROJECT["name"]
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert citation["keywords"] == PROJECT["keywords"]
    papers = citation["references"]
    assert [paper["notes"].split()[1] for paper in papers] == ["SNEEql", "the", "Streaming"]
    for paper in papers:
        assert paper["title"]
        assert paper["authors"]
    cited = [paper for paper in papers if paper["type"] == "conference-paper"]
    assert [paper["year"] for paper in cited] == [2008, 2008]
    assert all(re.fullmatch(r"10\.\d{4,}/\S+", paper["doi"]) for paper in cited)
    assert all(set(author) == {"family-names", "given-names"} for paper in cited for author in paper["authors"])


@pytest.mark.parametrize("name", ["SECURITY.md", "CODE_OF_CONDUCT.md", ".github/PULL_REQUEST_TEMPLATE.md"])
def test_links_of_a_page_exist_and_its_recipes_do(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (ROOT / target).exists(), target
    for path in re.findall(r"`((?:docs|tests|src)/[\w./-]+|[A-Z]+\.md)`", text):
        assert (ROOT / path).exists(), path
    recipes = set(re.findall(r"^([\w-]+)[^:\n]*:", (ROOT / "justfile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"`just ([\w-]+)`", text)) <= recipes


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem
)
def test_issue_forms_are_complete(path: Path) -> None:
    form = loaded(str(path.relative_to(ROOT)))
    if path.stem == "config":
        assert form == {"blank_issues_enabled": False}
        return
    assert set(form) == {"name", "description", "labels", "body"}
    assert [part["type"] for part in form["body"]]
    assert all(part["attributes"]["label"] for part in form["body"])
    assert len({part["id"] for part in form["body"]}) == len(form["body"])


def commands(workflow: Any) -> list[str]:
    """The commands of a workflow's steps."""
    return [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_is_there(path: Path) -> None:
    workflow = loaded(str(path.relative_to(ROOT)))
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow[True]  # YAML 1.1 reads `on` as true
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] > 0
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "uses" not in step or re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])
    for command in commands(workflow):
        for script in re.findall(r"(?<![\w/])\.ci/\w+", command):
            assert (ROOT / script).stat().st_mode & 0o100, f"{script} cannot be executed"


def test_workflows_run_the_gate_and_the_nightly_tests() -> None:
    run = {path.stem: " ; ".join(commands(loaded(str(path.relative_to(ROOT))))) for path in WORKFLOWS}
    assert set(run) == {"ci", "docs", "nightly"}
    assert run["ci"].endswith(".ci/run")
    assert ".ci/nightly" in run["nightly"]
    assert "python -m website build" in run["docs"]
    for script in ("run", "nightly"):
        assert "source .ci/environments\n" in (ROOT / ".ci" / script).read_text("utf-8")


def test_own_hooks_are_tools_of_the_development_environment() -> None:
    (repository,) = loaded(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    programs = {shlex.split(hook["entry"])[0] for hook in repository["hooks"]}
    assert programs == {"ruff", "python", "lint-imports"}
    assert all(hook["language"] == "system" for hook in repository["hooks"])


HOOKS = {hook["id"]: hook for hook in loaded(".pre-commit-hooks.yaml")}
MINUTE = "[FROM NOW-59 TO NOW SLIDE 60 SEC]"
QUERIES = {"a.sneeql": f"select site from road{MINUTE}", "b.cql": "select   temp from road [NOW]"}


def hooked(hook: str, folder: Path, files: list[str]) -> list[int]:
    """Exit codes of a hook's command over files of a folder, as pre-commit appends them to it."""
    arguments = shlex.split(HOOKS[hook]["entry"])
    command = typer.main.get_command(app).commands[arguments[1]]  # type: ignore[attr-defined]
    several = any(parameter.nargs == -1 for parameter in command.params if parameter.param_type_name == "argument")
    program = [sys.executable, "-m", *arguments]
    calls = [files] if several else [[file] for file in files]
    return [subprocess.run([*program, *call], cwd=folder, capture_output=True).returncode for call in calls]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A user's repository with a catalog and two queries."""
    shutil.copy(ROOT / "examples" / "roads" / "catalog.yaml", tmp_path)
    for name, text in QUERIES.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_takes_the_files_of_every_language(hook: str) -> None:
    files = re.compile(HOOKS[hook]["files"])
    endings = [ending for language in LANGUAGES.values() for ending in language.endings]
    assert len(endings) >= 3
    assert all(files.search(f"queries/alarms.{ending}") for ending in endings)
    assert not files.search("queries/alarms.sql")
    assert HOOKS[hook]["language"] == "python"
    assert HOOKS[hook]["entry"].split()[0] in PROJECT["scripts"]


def test_the_hook_fmt_writes_queries_in_canonical_form(repository: Path) -> None:
    assert set(hooked("transom-fmt", repository, list(QUERIES))) == {0}
    assert (repository / "a.sneeql").read_text("utf-8").startswith("SELECT")
    assert (repository / "b.cql").read_text("utf-8").startswith("SELECT temp")


def test_the_hook_check_fails_on_a_wrong_query(repository: Path) -> None:
    assert set(hooked("transom-check", repository, list(QUERIES))) == {0}
    (repository / "b.cql").write_text("SELECT nothing FROM road [NOW]", "utf-8")
    assert 1 in hooked("transom-check", repository, list(QUERIES))


def test_operations_shows_the_hooks() -> None:
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert set(re.findall(r"- id: (\S+)", page)) == set(HOOKS)
