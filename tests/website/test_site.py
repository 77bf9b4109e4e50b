"""The site as files: what every page has, and what is found on none of them."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from transom.version import __version__
from website.__main__ import EDIT, ROOT, build, environment, settings
from website.decision_links import REGISTER, decision_ids
from website.llms import FILE, first_sentence, text
from website.navigation import pages, tabs

TABS = ["Home", "Tutorials", "How-to", "Languages", "Reference", "Explanation", "Comparisons"]
BLOCK = re.compile(r'<div class="language-(\w+) highlight">.*?</div>', re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The HTML of every page of the site, by name."""
    folder = tmp_path_factory.mktemp("site")
    assert build("mkdocs", folder) == 0
    for name in ("logo.svg", "favicon.svg", "llms.txt", "search/search_index.json"):
        assert (folder / name).stat().st_size > 0
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.html")}


def test_every_page_is_built(site: dict[str, str]) -> None:
    assert set(site) == {f"{page.removesuffix('.md')}.html" for page in pages()} | {"404.html"}


def test_no_page_loads_anything_from_elsewhere(site: dict[str, str]) -> None:
    """Scripts, styles, fonts and pictures are those of the site."""
    for name, page in site.items():
        assert not re.search(r"<(?:script|img|iframe)[^>]*src=\"https?:|<link[^>]*href=\"https?:", page), name


def test_every_page_shows_the_version_and_its_neighbours(site: dict[str, str]) -> None:
    for name in pages():
        page = site[f"{name.removesuffix('.md')}.html"]
        assert f"Transom {__version__}," in page, name
        assert page.count("md-footer__link--prev") == (name != pages()[0]), name
        assert page.count("md-footer__link--next") == (name != pages()[-1]), name
        assert page.count('class="md-path"') == (name != "index.md"), name


def test_tabs_are_in_their_order() -> None:
    assert list(tabs()) == [tab for tab in TABS if tab in tabs()]
    assert all(tabs().values())


def test_queries_are_highlighted(site: dict[str, str]) -> None:
    blocks = [(match[1], match[0]) for page in site.values() for match in BLOCK.finditer(page)]
    assert {"sneeql", "cql", "sparql"} <= {language for language, _ in blocks}
    for language, block in blocks:
        if language in ("sneeql", "cql", "sparql"):
            assert 'class="err"' not in block, block
            assert 'class="k"' in block, block


def test_ids_of_decisions_are_links_to_their_rows(site: dict[str, str]) -> None:
    ids = decision_ids(REGISTER.read_text("utf-8"))
    assert {"S15", "C14", "R9", "E10"} <= ids
    assert {f"{name.lower()}" for name in ids} <= set(re.findall(r'<td id="(\w+)"', site["decisions.html"]))
    linked = re.findall(r'<a class="decision" href="[./]*decisions.html#(\w+)">(\w+)</a>', "".join(site.values()))
    assert len(linked) > 50
    assert all(anchor == name.lower() and name in ids for anchor, name in linked)
    assert "C14" in {name for _, name in re.findall(r'(#c14)">(C14)</a>', site["cql.html"])}


def test_long_lines_of_explain_wrap(site: dict[str, str]) -> None:
    lines = re.findall(r'class="long">(.*?)\n</span>', site["spark.html"], re.DOTALL)
    shown = [unescape(re.sub("<[^>]*>", "", line)) for line in lines]
    assert any("; executor " in line and "; reason " in line for line in shown)
    assert all(len(line) > 100 for line in shown)


@pytest.mark.parametrize("name", ["logo.svg", "favicon.svg"])
def test_pictures_of_the_site_are_svg(name: str) -> None:
    root = ElementTree.fromstring((ROOT / "docs" / name).read_text("utf-8"))  # noqa: S314 - our own file
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("viewBox") == "0 0 64 64"


def test_llms_txt_is_current(rewrite: bool) -> None:
    if rewrite:
        FILE.write_text(text(), "utf-8")
    assert FILE.read_text("utf-8") == text(), "python -m website llms writes it anew"
    assert all(f"]({page.removesuffix('.md')}.html)" in text() for page in pages())


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("---\nhide: x\n---\n# Title\n\nOne [link](a.md) here. And more.", "One link here."),
        ("# T\n\n```python\nx = 1.5\n```\n\nAfter the\ncode: this. And that.", "After the code: this."),
        ("# T\n\n| a | b |\n| --- | --- |\n\n<!-- spark -->\n\nVersion 1.5 is out", "Version 1.5 is out"),
        ("# T\n\nTwo things:\n\n- one", "Two things"),
        ("# T\n", ""),
    ],
)
def test_first_sentence(page: str, sentence: str) -> None:
    assert first_sentence(page) == sentence


def test_addresses_are_settings_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text("[project]\nname = 'x'\n", "utf-8")
    assert settings(project) == {"TRANSOM_VERSION": __version__}
    project.write_text("[project.urls]\nSource = 'https://a.invalid/t'\nDocumentation = 'https://b.invalid'\n", "utf-8")
    assert settings(project)["TRANSOM_REPOSITORY"] == "https://a.invalid/t"
    assert settings(project)["TRANSOM_SITE"] == "https://b.invalid"
    monkeypatch.setenv("TRANSOM_REPOSITORY", "https://c.invalid/t")
    assert environment(tmp_path)["TRANSOM_REPOSITORY"] == "https://c.invalid/t"
    assert environment(tmp_path)["TRANSOM_EDIT"] == EDIT
    assert environment(tmp_path)["TRANSOM_SITE_FOLDER"] == str(tmp_path)
    assert environment(ROOT / "build" / "x")["TRANSOM_SITE_FOLDER"] == "build/x"


def test_edit_links_are_there_if_and_only_if_there_is_a_repository(site: dict[str, str]) -> None:
    """The browser's tests build a site with a repository and follow an edit link."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("urls", {})
    assert all(re.fullmatch(r"https://[\w.-]+\.[a-z]+(/[\w./-]+)?", url) for url in urls.values())
    assert not [url for url in urls.values() if re.search(r"example|invalid|todo|your-|owner", url, re.IGNORECASE)]
    assert ('rel="edit"' in site["cql.html"]) == ("Source" in urls)
    assert ('rel="canonical"' in site["cql.html"]) == ("Documentation" in urls)


def test_zensical_refuses_a_folder_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build("zensical", tmp_path) == 2
    assert "Zensical writes only into" in capsys.readouterr().err
