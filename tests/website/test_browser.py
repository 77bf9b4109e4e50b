"""The site in Chromium, wide and narrow: nothing overflows, no script fails, search answers; so with both generators.

Screenshots are left in build/website/screenshots. They are for people to look at; no test compares them.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.website.sites import BUILD, served
from website.__main__ import build
from website.navigation import pages

pytestmark = pytest.mark.browser

WIDTHS = {"wide": 1400, "narrow": 390}
CHOSEN = [
    "index.md",
    "sneeql.md",
    "cql.md",
    "sparql.md",
    "catalog.md",
    "commands.md",
    "python.md",
    "windows.md",
    "space.md",
    "spark.md",
    "decisions.md",
    "benchmarks.md",
]
"""The pages that every run looks at: long tables, long lines, pictures. The nightly run looks at all."""
VISITS = [
    ("mkdocs", page) if page in CHOSEN else pytest.param("mkdocs", page, marks=pytest.mark.nightly) for page in pages()
]
VISITS += [("zensical", "index.md"), ("zensical", "spark.md")]
RESULTS = {"mkdocs": re.compile(r"^\d+ matching documents$"), "zensical": re.compile(r"^\d+ results$")}
"""What the search of each generator's site prints above its results."""

TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [document.documentElement.scrollWidth,
    ...[...document.querySelectorAll('body *')].filter(element => element.getBoundingClientRect().right > innerWidth)
    .map(element => element.outerHTML.slice(0, 80)).slice(0, 5)]"""
CUT_LINES = """() => [...document.querySelectorAll('code .long')].filter(line =>
    line.getBoundingClientRect().right > line.closest('code').getBoundingClientRect().right + 1
    || line.scrollWidth > line.clientWidth + 1).map(line => line.textContent.slice(0, 80))"""

Opener = Callable[[str, str], Page]


def picture(generator: str, name: str, page: Page) -> Path:
    """The file of a screenshot."""
    width = page.viewport_size["width"] if page.viewport_size else 0
    return BUILD / "screenshots" / f"{generator}-{name.removesuffix('.md').replace('/', '-')}-{width}.png"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.fail("no Chromium on the PATH: on Debian, apt-get install chromium")
    options = ["--disable-gpu", "--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=options)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """The address of each generator's site, which is built as one with a public repository would be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSOM_REPOSITORY", "https://host.invalid/owner/transom")
        assert [build(generator, BUILD / generator) for generator in RESULTS] == [0, 0]
    with served(BUILD / "mkdocs") as mkdocs, served(BUILD / "zensical") as zensical:
        yield {"mkdocs": mkdocs, "zensical": zensical}


@pytest.fixture(params=list(WIDTHS))
def opened(request: pytest.FixtureRequest, browser: Browser, addresses: dict[str, str]) -> Iterator[Opener]:
    """Opens a page of the site of a generator; whatever went wrong while it was open fails the test."""
    problems: list[str] = []
    page = browser.new_page(viewport={"width": WIDTHS[request.param], "height": 1000})
    page.route(lambda url: not url.startswith("http://127.0.0.1"), lambda route: route.abort())
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("response", lambda got: problems.append(f"{got.status}: {got.url}") if got.status >= 400 else None)

    def visit(generator: str, name: str) -> Page:
        page.goto(f"{addresses[generator]}/{name.removesuffix('.md')}.html")
        return page

    yield visit
    page.close()
    assert problems == []


@pytest.mark.covers("site:browser")
@pytest.mark.parametrize(("generator", "name"), VISITS)
def test_nothing_is_wider_than_the_screen(opened: Opener, generator: str, name: str) -> None:
    page = opened(generator, name)
    page.screenshot(path=picture(generator, name, page))
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate(CUT_LINES) == []


@pytest.mark.parametrize("generator", RESULTS)
def test_search_answers(opened: Opener, generator: str) -> None:
    page = opened(generator, "index.md")
    page.keyboard.press("/")
    page.keyboard.type("dead letter", delay=20)
    page.get_by_text(RESULTS[generator]).wait_for()
    page.screenshot(path=picture(generator, "search", page))
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "index.html" not in url)
    assert "dead letter" in page.locator("article").inner_text().lower()


def test_dark_mode(opened: Opener) -> None:
    page = opened("mkdocs", "cql.md")
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    assert page.evaluate(scheme) == "default"
    page.locator("label[for=__palette_1]").first.click()
    assert page.evaluate(scheme) == "slate"
    page.screenshot(path=picture("mkdocs", "dark", page))


def test_the_navigation_leads_on(opened: Opener) -> None:
    page = opened("mkdocs", "commands.md")
    assert page.locator(".md-path").inner_text().split() == ["Home", "Reference"]
    assert page.locator("a.md-logo").first.get_attribute("href") == "index.html"
    edit = page.locator("a[rel=edit]").get_attribute("href")
    assert edit == "https://host.invalid/owner/transom/edit/main/docs/commands.md"
    page.locator(".md-footer__link--next").click()
    page.wait_for_url(lambda url: "commands.html" not in url)
    page.locator(".md-footer__link--prev").click()
    page.wait_for_url("**/commands.html")


def test_a_decision_links_to_its_row(opened: Opener) -> None:
    page = opened("mkdocs", "cql.md")
    page.locator("a.decision", has_text="C14").first.click()
    page.wait_for_url("**/decisions.html#c14")
    row = page.locator("td:target")
    assert row.inner_text() == "C14"
    box, header = row.bounding_box(), page.locator("header").bounding_box()
    assert box is not None
    assert header is not None
    assert box["y"] >= header["height"], "the header hides the row"
