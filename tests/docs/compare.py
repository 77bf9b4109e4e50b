"""A page against what its blocks give: `python -m tests.docs.compare PAGE` types all of it in an empty folder.

That needs the installed package and nothing else of the tests' environment; blocks that need a JVM are run, too.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import Block, blocks_of, name_of, rewrite_page
from tests.docs.run import Session


def compare(page: Path, session: Session, rewrite: bool, *, spark: bool = False, servers: bool = False) -> None:
    """Run the blocks of a page in order, those that need a JVM or servers only if told so, and compare or rewrite."""
    try:
        changes = list(_changes(page, session, spark, servers))
    finally:
        session.end()
    if rewrite:
        rewrite_page(page, changes)
        return
    wrong = [f"{name_of(page)}:{block.first + 1}: this gives\n" + "\n".join(given) for block, given in changes]
    assert not wrong, "\n\n".join(wrong)


def _changes(page: Path, session: Session, spark: bool, servers: bool) -> Iterator[tuple[Block, list[str]]]:
    """The blocks that say something else than what is given, with what they should say."""
    blocks = blocks_of(page)
    for place, block in enumerate(blocks):
        answer = next((after for after in blocks[place + 1 : place + 2] if after.answers(block)), None)
        if (block.spark and not spark) or (block.servers and not servers):
            session.keep(block)
            continue
        try:
            changed = session.run(block, answer)
        except Exception as error:
            raise AssertionError(f"{name_of(page)}:{block.first}: {type(error).__name__}: {error}") from error
        if changed is not None:
            yield changed


def main(arguments: list[str]) -> int:
    """Type the pages that the arguments name, each in an empty folder."""
    for argument in arguments:
        page = Path(argument).resolve()
        with tempfile.TemporaryDirectory(prefix="transom-page-") as folder:
            session = Session(Path(folder).resolve(), typed=True)
            try:
                compare(page, session, False, spark=True)
            except AssertionError as error:
                print(error, file=sys.stderr)
                return 1
        print(f"{name_of(page)}: as the page says")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
