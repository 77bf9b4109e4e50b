"""Readers are given the sentences of the pages with what a reader of the page sees around them."""

from __future__ import annotations

from tests.docs.readers.sentences import drawn_sentences, pages, sentences, sentences_of

PAGE = """# Sources

A *source* of this page has version 0.3. Each row
has one time. `x` too!

## Settings

Every source has these settings:

- The host is the name of the server.
- The port is a number, which is optional.

```text
Nothing in a block counts as a sentence.
```

| setting | meaning |
| --- | --- |
| `tick` | the length of `a \\| b` in seconds. It is never negative or zero |
| `start` | `SELECT a FROM b WHERE c` |
"""


def test_sentences_have_their_context() -> None:
    settings = ("Sources", "Settings")
    lead = "after: Every source has these settings:"
    cell = "in the column meaning of the row `tick`"
    assert [(one.headings, one.context, one.text) for one in sentences_of("a.md", PAGE)] == [
        (("Sources",), "", "A *source* of this page has version 0.3."),
        (("Sources",), "after: A *source* of this page has version 0.3.", "Each row has one time."),
        (settings, "", "Every source has these settings:"),
        (settings, lead, "The host is the name of the server."),
        (settings, lead, "The port is a number, which is optional."),
        (settings, cell, "the length of `a \\| b` in seconds."),
        (settings, f"{cell}, after: the length of `a \\| b` in seconds.", "It is never negative or zero"),
    ]


def test_the_draw_is_fixed_by_its_seed() -> None:
    drawn = drawn_sentences("a")
    assert drawn == drawn_sentences("a") != drawn_sentences("b")
    assert len(set(drawn)) == 50


def test_every_page_has_sentences() -> None:
    read = {sentence.page for sentence in sentences()}
    assert {page.name for page in pages()} == {name.rpartition("/")[2] for name in read}
