"""Nothing is left out of the documentation, and it names nothing that is not there."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest
import typer

import transom
from tests.cases import decisions_of, golden_file
from tests.covering import NODES
from tests.docs.pages import PAGES, ROOT, name_of, text_of
from tests.docs.run import Session
from transom import errors
from transom.algebra.state.bound import StateBound
from transom.catalog.schema import entries, servers
from transom.catalog.schema.entry import Entry
from transom.cli.app import app
from transom.languages.sql.parse import MAX_DEPTH, MAX_TEXT_LENGTH
from transom.languages.sql.translate import SYNONYMS
from transom.physical.nodes.windows import Form
from transom.project import entries as project_entries
from transom.reports import Engines
from transom.runtime.progress import Progress
from transom.runtime.sinks.sink import SINK_FORMS
from transom.runtime.start import Running
from transom.spark.expressions.aggregates import RANGE_ERROR
from transom.spark.expressions.types import DECIMAL
from transom.spark.session import SETTINGS
from transom.testing import entries as test_entries

PICTURES = {
    "docs/pictures/q2.svg": ("examples/roads/q2.sneeql", "5 min"),
    "docs/pictures/restless.svg": ("examples/windpark/restless.rq", "75 min"),
    **{
        f"docs/pictures/{name}.svg": (f"examples/windows/{name}.sneeql", "40")
        for name in ("sliding", "before", "gaps", "rows", "table")
    },
}

MAPS = {
    **{
        name: ("docs/space.md", f"examples/space/{name}.cql", "--at", "74 min")
        for name in ("time", "region", "region_time", "space", "space_time", "time_space", "keys")
    },
    "leaving": ("docs/space.md", "examples/fleet/leaving.cql"),
    "speed": ("docs/space.md", "examples/fleet/q3.cql", "--parameter", "mycar=mycar", "--colour", "speed"),
    "sea": ("examples/sea/README.md", "examples/sea/hundred.cql"),
}
"""The maps of the pages, by the names of their files, each with its page and the arguments of the command."""


def command_names() -> Iterator[tuple[str, str]]:
    """Every command with each of its options."""
    group = typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-"):
                    yield name, option


@pytest.mark.parametrize(("command", "option"), list(command_names()))
def test_every_command_and_option_is_in_commands(command: str, option: str) -> None:
    page = text_of("docs/commands.md")
    assert f"\n## {command}\n" in page
    section = page.split(f"\n## {command}\n")[1].split("\n## ")[0]
    assert re.search(rf"`[^`\n]*{option}\b", section), f"{command} {option}"


def shapes(model: type[Entry]) -> Iterator[type[Entry]]:
    """Every kind of entry."""
    for one in model.__subclasses__():
        yield one
        yield from shapes(one)


@pytest.mark.parametrize("model", list(shapes(Entry)), ids=lambda model: model.__name__)
def test_every_catalog_key_is_in_catalog(model: type[Entry]) -> None:
    in_commands = (test_entries.__name__, project_entries.__name__)
    assert model.__module__ in (entries.__name__, servers.__name__, *in_commands)
    page = text_of("docs/commands.md" if model.__module__ in in_commands else "docs/catalog.md")
    for name, info in model.model_fields.items():
        assert f"`{info.alias or name}`" in page, f"{model.__name__}: {info.alias or name}"


def public_names() -> Iterator[tuple[str, str]]:
    """The public members of objects that methods return; `test_api.py` has the public names of the package."""
    for owner in (StateBound, Engines, Running, Progress):
        members = {name for name, _ in inspect.getmembers(owner) if not hasattr(Exception, name)}
        members |= {field.name for field in fields(owner)} if is_dataclass(owner) else set()
        yield from ((owner.__name__, member) for member in sorted(members) if not member.startswith("_"))


@pytest.mark.parametrize(("owner", "name"), list(public_names()))
def test_every_member_of_a_returned_object_is_in_python(owner: str, name: str) -> None:
    assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", text_of("docs/python.md"))


def test_every_parameter_is_in_python() -> None:
    page = text_of("docs/python.md")
    query = transom.Query
    on_spark = (query.to_df, query.start, query.physical)
    for function in (transom.compile, query.simulate, query.explain, transom.Catalog.read, *on_spark):
        for parameter in inspect.signature(function).parameters:
            assert parameter in ("self", "cls") or re.search(rf"\b{parameter}\b", page), parameter


def test_every_error_is_in_python() -> None:
    tree = (errors.__doc__ or "").split("\n\n")[1]
    names = {name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)}
    assert names == set(re.findall(r"^\W*([A-Z]\w+)", tree, re.MULTILINE))
    page = text_of("docs/python.md")
    for name in names:
        assert re.search(rf"^\W*{name}\b", page, re.MULTILINE), name


def test_every_node_form_and_path_is_in_spark() -> None:
    page = text_of("docs/spark.md")
    for node in NODES:
        assert re.search(rf"`[^`\n]*\b{node.__name__}\b[^`\n]*`", page), node.__name__
    for form in Form:
        assert f"| {form} |" in page
    for name in ("number", "row window", "product of windows", "compare windows"):
        assert f"| `{name}` |" in page


def test_limits_of_spark_are_in_the_documentation() -> None:
    guarantees, settings = text_of("docs/guarantees.md"), text_of("docs/pyspark.md")
    assert RANGE_ERROR in guarantees
    assert DECIMAL in guarantees
    for name in SETTINGS:
        assert f"`{name}`" in settings
    for sink in SINK_FORMS:
        assert f"`{sink}`" in guarantees


def test_synonyms_and_limits_are_in_sneeql() -> None:
    page = " ".join(text_of("docs/sneeql.md").split())
    for name in SYNONYMS:
        assert f"`{name}`" in page
    assert f"at most {MAX_TEXT_LENGTH:,} characters and {MAX_DEPTH} levels of nesting" in page


def test_every_decision_is_listed_with_its_cases(rewrite: bool) -> None:
    page = text_of("docs/decisions.md")
    row = re.compile(r"^(\| ([SC]\d+) \|.*\|)([^|]*)\|$", re.MULTILINE)
    wanted = [f"S{number}" for number in range(1, 40)] + [f"C{number}" for number in range(1, 34)]
    assert [found[2] for found in row.finditer(page)] == wanted
    shown = {case.name.split("-")[0]: decisions_of(case) for case in golden_file().cases}

    def completed(found: re.Match[str]) -> str:
        cited = set(re.findall(r"\w+", found[3]))
        assert cited <= set(shown), f"{found[2]} names cases that are not there"
        cited |= {name for name, decisions in shown.items() if found[2] in decisions}
        return f"{found[1]} {', '.join(sorted(cited))}".rstrip() + " |"

    if rewrite:
        (ROOT / "docs/decisions.md").write_text(row.sub(completed, page), "utf-8")
    else:
        assert row.sub(completed, page) == page


def test_every_decision_can_be_linked() -> None:
    page = text_of("docs/decisions.md")
    listed = re.findall(r"^\| ([SCRE]\d+) \|", page, re.MULTILINE)
    assert len(listed) > 100
    anchors = re.findall(r"^\| ([SCRE]\d+) \| <a id=\"(\w+)\"></a>", page, re.MULTILINE)
    assert [name for name, _ in anchors] == listed
    assert all(anchor == name.lower() for name, anchor in anchors)
    links = {link for other in PAGES for link in re.findall(r"decisions\.md#([scre]\d+)\)", other.read_text("utf-8"))}
    assert links
    assert links <= {anchor for _, anchor in anchors}


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_exist(page: str) -> None:
    text = text_of(page)
    named = re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:py|md|yaml|toml|txt))`", text)
    drawn = [words.split()[0] for words in re.findall(r"^[\w.]+/.*$", text, re.MULTILINE)]
    assert len(named) + len(drawn) > 10
    for path in [*named, *drawn]:
        assert (ROOT / path).exists(), path
        assert (ROOT / path).resolve().is_relative_to(ROOT), f"{path} is outside the repository"


def test_every_folder_is_in_the_architecture() -> None:
    page = text_of("ARCHITECTURE.md")
    for folder in (ROOT / "src" / "transom").iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert f"src/transom/{folder.name}/" in page


def test_walks_pass_every_room_once() -> None:
    """A room is a folder, or a module of the package itself."""
    section = text_of("ARCHITECTURE.md").split("## Three walks")[1].split("\n## ")[0]
    starts = re.split(r"(?=^\*\*A )|(?=^These steps happen once per micro-batch)", section, flags=re.MULTILINE)
    walks = [paths for part in starts if (paths := re.findall(r"`(src/transom/[\w/]+\.py)`", part))]
    assert len(walks) == 4
    for paths in walks:
        rooms = [path if path.count("/") == 2 else path.rpartition("/")[0] for path in paths]
        passed = [room for room, before in zip(rooms, [None, *rooms]) if room != before]
        assert len(passed) >= 3
        assert len(passed) == len(set(passed)), passed


def test_recipes_exist() -> None:
    recipes = set(re.findall(r"^([\w-]+)[^:\n]*:", text_of("justfile"), re.MULTILINE))
    assert set(re.findall(r"`just ([\w-]+)`", text_of("CONTRIBUTING.md"))) == recipes


def test_links_and_pictures_exist() -> None:
    links = [(page, target) for page in PAGES for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))]
    assert len(links) > 50
    inside = [(page, target) for page, target in links if not target.startswith("https://")]
    assert [(name_of(page), target) for page, target in inside if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("picture", PICTURES)
def test_pictures_are_what_the_command_draws(picture: str, tmp_path: Path, rewrite: bool) -> None:
    query, until = PICTURES[picture]
    session = Session.begin(tmp_path, ROOT / "README.md")
    session.transom("picture", query, "--until", until, "--output", "drawn.svg")
    drawn = (tmp_path / "drawn.svg").read_text("utf-8")
    if rewrite:
        (ROOT / picture).write_text(drawn, "utf-8")
    assert (ROOT / picture).read_text("utf-8") == drawn


@pytest.mark.parametrize("name", MAPS)
def test_maps_are_what_the_command_draws(name: str, tmp_path: Path, rewrite: bool) -> None:
    page, *arguments = MAPS[name]
    session = Session.begin(tmp_path, ROOT / "README.md")
    session.transom("map", *arguments, "--output", "drawn.svg")
    drawn, kept = (tmp_path / "drawn.svg").read_text("utf-8"), ROOT / f"docs/pictures/map_{name}.svg"
    if rewrite:
        kept.write_text(drawn, "utf-8")
    assert kept.read_text("utf-8") == drawn
    assert f"pictures/map_{name}.svg" in text_of(page)
