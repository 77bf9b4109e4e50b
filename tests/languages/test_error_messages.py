"""Every error message of the golden file, word for word; and all of them follow the house style."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import transom
from transom.catalog.catalog import Catalog
from transom.errors import TransomError
from transom.languages.cql.parse import parse as cql_parse
from transom.languages.cql.translate import translate as cql_translate
from transom.languages.sneeql.parse import parse
from transom.languages.sneeql.translate import translate
from transom.languages.sparql.parse import parse as sparql_parse
from transom.languages.sparql.translate import translate as sparql_translate

GOLDEN = Path(__file__).parent.parent / "golden" / "errors.yaml"
WITHOUT_HINT: set[str] = set()
"""Entries whose message has no hint yet; one that gets a hint leaves this list."""
SECTIONS = ("parse", "names", "types", "rules", "cql", "sparql", "planning", "catalogs")


@cache
def golden() -> dict[str, Any]:
    """The golden file."""
    content: dict[str, Any] = yaml.safe_load(GOLDEN.read_text("utf-8"))
    return content


def entries() -> list[Any]:
    """Every entry with its section."""
    return [
        pytest.param(section, entry, id=f"{section}-{entry['name']}")
        for section in SECTIONS
        for entry in golden()[section]
    ]


def error_of(section: str, entry: dict[str, str]) -> TransomError:
    """The error that an entry causes."""
    text = entry["text"]
    try:
        if section == "catalogs":
            Catalog.read(text)
        elif section == "sparql":
            sparql_translate(sparql_parse(text), Catalog.read(golden()["sparql_catalog"]))
        elif section == "planning":
            transom.compile(text, Catalog.read(golden()["planning_catalog"]), language=entry["language"]).physical()
        elif section == "cql":
            cql_translate(cql_parse(text), Catalog.read(golden()["cql_catalog"]))
        else:
            translate(parse(text), Catalog.read(entry.get("catalog", golden()["default_catalog"])))
    except TransomError as error:
        return error.within(text)
    raise AssertionError(f"{entry['name']} is not refused")


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, everything else as YAML likes it."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def write(content: dict[str, Any]) -> None:
    """Write the golden file, with the remarks at its top as they are."""
    head = "".join(re.findall(r"^#.*\n", GOLDEN.read_text("utf-8"), re.MULTILINE))
    body = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    spaced = re.sub(r"^(- name:|\w+:)", r"\n\1", body, flags=re.MULTILINE)
    GOLDEN.write_text(head + spaced, "utf-8")


@pytest.fixture(scope="module", autouse=True)
def _rewritten(rewrite: bool) -> None:
    """With --rewrite, the file is written anew before anything is compared with it."""
    if rewrite:
        for parameters in entries():
            section, entry = parameters.values
            entry["message"] = str(error_of(section, entry))
        write(golden())


@pytest.mark.parametrize(("section", "entry"), entries())
def test_message(section: str, entry: dict[str, str]) -> None:
    assert str(error_of(section, entry)) == entry["message"]


@pytest.mark.parametrize(("section", "entry"), entries())
def test_style(section: str, entry: dict[str, str]) -> None:
    """Each says where, and what to do; in lower case, except for names of the query, and without blame."""
    error = error_of(section, entry)
    assert error.span is not None
    assert 0 <= error.span.start < max(1, len(entry["text"]))
    assert (error.hint is None) == (entry["name"] in WITHOUT_HINT)
    for words in (error.message, error.hint or ""):
        assert not re.search(r"\b(invalid|bad|unable|illegal|wrong|oops|sorry|please|must)\b", words, re.IGNORECASE)
        capitalized = re.match(r"[A-Z][a-z]\w*", words)
        assert capitalized is None or capitalized[0] in entry["text"]
        assert not words.endswith(".")
        assert len(words) <= 120


def test_names_are_unique_and_reasons_are_sentences() -> None:
    found = [parameters.values[1] for parameters in entries()]
    assert len({entry["name"] for entry in found}) == len(found) >= 100
    for entry in found:
        assert re.match(r"[A-Z*].*\.\Z", entry["why"]), entry["name"]
