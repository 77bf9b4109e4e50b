"""Everything that the documentation shows is run: commands, Python, queries and catalogs.

How a page is written: a block with a title is a file of that name. In a `console` block, lines that begin with `$ ` are
commands and the others are what they print; a line `...` stands for any lines. A `python` or `sneeql` block is run, and
a plain `text` block right after it is what it gives; a title that begins with `--` holds options of `transom simulate`.
`yaml` is a catalog. A query or a catalog that is refused is followed by its message. `pytest tests/docs --rewrite` puts
in what is given now.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import PAGES, Block, blocks_of, name_of, rewrite_page
from tests.docs.run import NOT_RUN, Session, commands_of, not_run, unlike


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_says_what_happens(page: Path, tmp_path: Path, rewrite: bool) -> None:
    session = Session.begin(tmp_path)
    blocks = blocks_of(page)
    changes: list[tuple[Block, list[str]]] = []
    for place, block in enumerate(blocks):
        answer = next((after for after in blocks[place + 1 : place + 2] if after.answers(block)), None)
        try:
            changed = session.run(block, answer)
        except Exception as error:
            raise AssertionError(f"{name_of(page)}:{block.first}: {type(error).__name__}: {error}") from error
        if changed is not None:
            changes.append(changed)
    if rewrite:
        rewrite_page(page, changes)
        return
    wrong = [f"{name_of(page)}:{block.first + 1}: this gives\n" + "\n".join(given) for block, given in changes]
    assert not wrong, "\n\n".join(wrong)


def test_exceptions_are_still_needed() -> None:
    shown = {
        not_run(command)
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "console"
        for command, _ in commands_of(block)
    }
    assert shown - {None} == set(NOT_RUN)


def test_a_difference_is_noticed() -> None:
    assert not unlike(["a", "...", "b"], ["a", "x", "y", "b"])
    assert not unlike(["...", "b"], ["b"])
    assert unlike(["a"], ["a", "b"])
    assert unlike(["a", "..."], ["b"])
