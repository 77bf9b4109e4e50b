"""The Markdown extensions of the site, on small pages."""

from __future__ import annotations

from types import SimpleNamespace

import markdown
import pytest
from markdown.treeprocessors import Treeprocessor

from website.decision_links import DecisionLinksExtension, decision_ids, depth
from website.long_lines import LONGEST, LongLinesExtension

HIGHLIGHT = {"pymdownx.highlight": {"line_spans": "__line", "pygments_lang_class": True}}


def linked(page: str) -> str:
    """A page with the links to decisions, as HTML."""
    return markdown.markdown(page, extensions=["tables", DecisionLinksExtension()])


def link(name: str) -> str:
    return f'<a class="decision" href="decisions.md#{name.lower()}">{name}</a>'


@pytest.mark.parametrize(
    ("page", "html"),
    [
        ("way (C14).", f"<p>way ({link('C14')}).</p>"),
        ("C5, C9 and R9", f"<p>{link('C5')}, {link('C9')} and {link('R9')}</p>"),
        ("**S15** then *E10*!", f"<p><strong>{link('S15')}</strong> then <em>{link('E10')}</em>!</p>"),
        ("one `C14` two C14", f"<p>one <code>C14</code> two {link('C14')}</p>"),
        ("# C14", "<h1>C14</h1>"),
        ("[see C14](x.md) C5", f'<p><a href="x.md">see C14</a> {link("C5")}</p>'),
        ("C99, Q2, C14a, AC14, x/C14", "<p>C99, Q2, C14a, AC14, x/C14</p>"),
        ("C99 before C14 and Z1 after", f"<p>C99 before {link('C14')} and Z1 after</p>"),
    ],
)
def test_ids_become_links(page: str, html: str) -> None:
    assert linked(page) == html


def test_the_row_of_a_decision_is_the_anchor_and_no_link() -> None:
    html = linked("| id | question |\n| --- | --- |\n| C14 | As C5? |\n| C99 | C14 |\n")
    assert '<td id="c14">C14</td>' in html
    assert f"<td>As {link('C5')}?</td>" in html
    assert "<td>C99</td>" in html


def test_ids_are_read_from_the_tables() -> None:
    assert decision_ids("# C1\n\n| id | x |\n| C2 | C3 |\ntext | C4 |\n") == {"C2"}


@pytest.mark.parametrize(("path", "folders"), [("cql.md", 0), ("tutorials/first.md", 1)])
def test_depth_is_that_of_the_page(path: str, folders: int) -> None:
    md = markdown.Markdown()
    assert depth(md) == 0
    handler = Treeprocessor(md)
    handler.file = SimpleNamespace(src_uri=path)  # type: ignore[attr-defined]
    md.treeprocessors.register(handler, "relpath", 0)
    assert depth(md) == folders


def lines(page: str) -> str:
    """A page with its long lines marked, as HTML."""
    extensions = ["pymdownx.highlight", "pymdownx.superfences", LongLinesExtension()]
    return markdown.markdown(page, extensions=extensions, extension_configs=HIGHLIGHT)


@pytest.mark.parametrize("language", ["console", "text", "json"])
def test_long_lines_of_output_are_marked(language: str) -> None:
    html = lines(f"```{language}\n{'a' * LONGEST}\n{'b' * (LONGEST + 1)}\nc\n```")
    assert html.count('class="long"') == 1
    assert html.index('id="__line-0-2" class="long"') < html.index("bbb")


def test_long_lines_of_code_are_not() -> None:
    assert 'class="long"' not in lines(f"```python\n{'a' * 200}\n```")


def test_markup_does_not_make_a_line_long() -> None:
    html = lines(f"```text\n{'&' * LONGEST}\n```")
    assert "&amp;" * LONGEST in html
    assert 'class="long"' not in html
