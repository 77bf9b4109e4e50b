"""Everything that the documentation shows is run: commands, Python, queries and catalogs.

How a page is written: a block with a title is a file of that name. In a `console` block, lines that begin with `$ ` are
commands and the others are what they print; a line `...` stands for any lines, `(... s)` for any time. A `python`,
`sneeql`, `cql` or `sparql` block is run, and a plain `text` block right after it is what it gives; a title that begins
with `--` holds options of `transom simulate`. `yaml` is a catalog, or by its title test cases or a workflow. A query or
a catalog that is refused is followed by its message. `pytest tests/docs --rewrite` puts in what is given now.

A block with the line `<!-- spark -->` right before its fence needs a JVM: a plain run leaves it out, and
`pytest --spark tests/docs` runs it, with all others of its page, on one session for all pages. What stands in plain
blocks must not depend on it. A `python` block with a title is a program, which a command runs. `<!-- servers -->` is
the same for what starts a server; tests/servers runs it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.compare import compare
from tests.docs.pages import PAGES, SERVERS, SPARK, blocks_of, name_of
from tests.docs.run import NOT_RUN, Session, commands_of, not_run, unlike
from transom.errors import UsageError
from transom.runtime.sinks.sink import Sink

ON_SPARK = [page for page in PAGES if any(block.spark for block in blocks_of(page))]
FRONT = ("docs/sinks.md", "docs/rdf.md", "docs/spark.md")
"""Pages whose blocks on Spark CI runs; the nightly run has all of them. `.ci/user` types the first lines of README."""


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_page_says_what_happens(page: Path, tmp_path: Path, rewrite: bool) -> None:
    compare(page, Session.begin(tmp_path, page), rewrite)


@pytest.mark.spark
@pytest.mark.parametrize(
    "page",
    [page if name_of(page) in FRONT else pytest.param(page, marks=pytest.mark.nightly) for page in ON_SPARK],
    ids=name_of,
)
@pytest.mark.covers("pages:spark")
def test_page_says_what_happens_on_spark(page: Path, tmp_path: Path, rewrite: bool, spark_here: None) -> None:
    compare(page, Session.begin(tmp_path, page), rewrite, spark=True)


def test_exceptions_are_still_needed() -> None:
    shown = {
        not_run(command)
        for page in PAGES
        for block in blocks_of(page)
        if block.language == "console"
        for command, _ in commands_of(block)
    }
    assert shown - {None} == set(NOT_RUN)


@pytest.mark.parametrize("mark", [SPARK, SERVERS])
def test_only_what_can_run_is_marked(mark: str) -> None:
    marked = [block for page in PAGES for block in blocks_of(page) if (block.spark if mark == SPARK else block.servers)]
    assert marked
    assert {block.language for block in marked} <= {"console", "python"}
    assert len(marked) == sum(line == mark for page in PAGES for line in page.read_text("utf-8").splitlines())


ANSWER_FILE = re.compile(r"(json|nq|jsonld):")
"""The formats of a whole answer over RDF, which a replay writes and a run does not."""


def sinks_shown() -> list[str]:
    """Every sink that a page gives to a command, in blocks that are run and in others."""
    found = [re.findall(r"--output[= ](?:'([^']+)'|([^\s`'|]+))", page.read_text("utf-8")) for page in PAGES]
    outputs = {quoted or plain for hits in found for quoted, plain in hits}
    sinks = {output for output in outputs if output == "console" or (":" in output and not ANSWER_FILE.match(output))}
    return sorted(sinks - {"kafka://HOST:PORT/TOPIC"})


OPEN_SECRET = "postgresql://eng@db/plant/alarms?password=sesame"
"""A page shows that it is refused."""


@pytest.mark.parametrize("sink", sinks_shown())
def test_every_sink_that_is_shown_is_one(sink: str) -> None:
    if sink == OPEN_SECRET:
        with pytest.raises(UsageError, match="secrets must not be written in an address"):
            Sink.read(sink)
    else:
        assert str(Sink.read(sink))


def test_a_difference_is_noticed() -> None:
    assert not unlike(["a", "...", "b"], ["a", "x", "y", "b"])
    assert not unlike(["...", "b"], ["b"])
    assert unlike(["a"], ["a", "b"])
    assert unlike(["a", "..."], ["b"])
    assert not unlike(["done (... s)"], ["done (12 s)"])
    assert not unlike(["done (... s)"], ["done (0.1 s)"])
    assert unlike(["done (... s)"], ["done (12 m)"])
