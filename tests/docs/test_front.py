"""The first screen: README.md and the home page are short, complete and about the product as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from tests.docs.pages import ROOT, blocks_of, name_of, text_of
from transom.cli.app import app
from transom.languages.registry import LANGUAGES
from transom.runtime.sinks.sink import SINK_FORMS
from website import navigation

LONGEST_README = 120
FRONT = ("README.md", "docs/index.md")
STALE = re.compile(
    r"\bto come\b|\bcomes? next\b|\bcoming soon\b|\bnot (?:\w+ ){0,3}yet\b|\byet to\b|\blater\b|\bplanned for\b"
    r"|\bin (?:a|the) (?:future|next) (?:version|release)\b|\bwill (?:be the same|carry|exist|support|have)\b"
    r"|\b(?:TODO|TBD|FIXME)\b|\bso far, (?:only|there)\b|\bunder construction\b",
    re.IGNORECASE,
)
"""Phrases that describe a product that is still to be made."""
ABOUT_DATA = re.compile(
    r"[\d.]+ or later\b|\b(?:the|no) later\b|\blater (?:than|by|at|what|when)\b"
    r"|\b(?:arrives?|grows?|again|yes,|from|hours?|minutes?|seconds?|days?|micro-batch(?:es)?|ticks?) later\b"
    r"|\blater (?:rows?|ticks?|windows?|elements?|messages?|keys?|micro-batch(?:es)?|runs?|replays?|scans?|triples?)\b",
    re.IGNORECASE,
)
"""Uses of "later" that order data, versions and runs, and promise nothing."""
ALLOWED = {
    ("README.md", "not been released yet"): "true until the first release",
}
"""Phrases that a page may have all the same, by page and phrase, each with the reason."""
PROSE = sorted([*(ROOT / "docs").glob("**/*.md"), ROOT / "README.md", ROOT / "ARCHITECTURE.md"])


def test_the_home_page_links_every_page() -> None:
    pages = navigation.pages()
    assert {name_of(file) for file in (ROOT / "docs").glob("**/*.md")} == {f"docs/{page}" for page in pages}
    linked = set(re.findall(r"\]\(([\w/-]+\.md)\)", text_of("docs/index.md")))
    assert linked == set(pages) - {"index.md"}


@pytest.mark.parametrize("page", FRONT)
def test_the_front_names_every_language(page: str) -> None:
    languages = set(LANGUAGES)
    assert languages == {"sneeql", "cql", "sparql"}
    text = text_of(page).lower()
    assert all(f"{language}.md" in text for language in languages)


@pytest.mark.parametrize("page", FRONT)
@pytest.mark.parametrize("other", ["Spark SQL", "Flink", "Esper", "pip install .", "'.[spark]'", "transom check"])
def test_the_front_says_when_not_to_use_it_and_what_to_type(page: str, other: str) -> None:
    assert other in text_of(page)


def test_the_readme_is_short() -> None:
    assert len(text_of("README.md").splitlines()) <= LONGEST_README


@pytest.mark.parametrize("page", FRONT)
def test_queries_of_the_front_are_those_of_the_examples(page: str) -> None:
    shown = [block for block in blocks_of(ROOT / page) if block.language in set(LANGUAGES)]
    assert shown
    for block in shown:
        assert block.title is not None
        assert block.text == text_of(block.title)


def stale_words(page: Path) -> set[str]:
    """Words of a page's prose that speak of a product that is still to be made."""
    code = {number for block in blocks_of(page) for number in range(block.first, block.first + len(block.lines))}
    prose = [line for number, line in enumerate(page.read_text("utf-8").splitlines()) if number not in code]
    return {found[0].lower() for found in STALE.finditer(ABOUT_DATA.sub(" ", re.sub(r"\s+", " ", "\n".join(prose))))}


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_no_page_speaks_of_what_is_still_to_be_made(page: Path) -> None:
    allowed = {words for name, words in ALLOWED if name == name_of(page)}
    assert stale_words(page) == allowed


def test_stale_words_are_noticed() -> None:
    for words in (
        "windows to come",
        "not built yet",
        "come later",
        "(later: of a key)",
        "will carry a distance",
        "TODO",
    ):
        assert STALE.search(words), words
        assert STALE.search(ABOUT_DATA.sub(" ", words)), words
    for words in ("a window is current until the next one comes", "Java 17 or later", "a later row", "a minute later"):
        assert not STALE.search(ABOUT_DATA.sub(" ", words)), words


def test_the_table_of_commands_is_complete() -> None:
    commands = list(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    rows = re.findall(r"^\| \[`([\w-]+)`\]\(#([\w-]+)\) \|", text_of("docs/commands.md"), re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(commands)
    assert all(name == anchor for name, anchor in rows)


def test_the_table_of_sinks_is_complete() -> None:
    section = text_of("docs/guarantees.md").split("\n## Sinks\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    assert sorted(rows) == sorted(SINK_FORMS)
    headings = re.findall(r"^## (\w+)", text_of("docs/sinks.md"), re.MULTILINE)
    schemes = {re.split(r"[:/]", sink)[0].lower() for sink in SINK_FORMS} - {"console", "parquet", "jsonl"}
    assert schemes <= {heading.lower() for heading in headings}


@pytest.mark.parametrize("page", ["docs/index.md", "docs/how-to/choose-a-language.md"])
def test_tables_of_languages_are_complete(page: str) -> None:
    rows = [line for line in text_of(page).splitlines() if line.startswith("| ")]
    for language in LANGUAGES:
        assert any(f"{language}.md" in row for row in rows), language


def test_every_sink_is_in_the_description_of_start() -> None:
    from transom.query import Query

    described = Query.start.__doc__ or ""
    for sink in SINK_FORMS:
        assert re.split(r"[:/]", sink)[0] in described, sink


def test_nobody_is_sent_to_a_package_that_is_not_ours() -> None:
    """Transom is not on PyPI, where the name may belong to others."""
    files = [*PROSE, *(ROOT / "examples").glob("*/README.md"), *(ROOT / "src").rglob("*.py")]
    for file in files:
        assert not re.search(r"pip install '?transom\b", file.read_text("utf-8")), name_of(file)
