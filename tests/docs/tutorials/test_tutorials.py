"""The tutorials, typed command by command: a new environment with what the page installs, and an empty folder."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tests.docs.compare import compare
from tests.docs.pages import TUTORIALS, blocks_of, name_of, text_of
from tests.docs.run import Session
from tests.docs.tutorials.clean import clean_environment, install_line

PAGES = sorted(TUTORIALS.glob("*.md"))
WITHOUT_SERVERS = [page for page in PAGES if not any(block.servers for block in blocks_of(page))]


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The programs of each environment that the pages of this session have made, by the line that installs it."""
    return {}


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("page", WITHOUT_SERVERS, ids=name_of)
def test_the_tutorial_says_what_happens_in_a_clean_environment(
    page: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, environments: dict[str, Path]
) -> None:
    line = install_line(page)
    if line not in environments:
        environments[line] = clean_environment(line, tmp_path_factory.mktemp("environment"))
    session = Session(tmp_path, typed=True, programs=environments[line], environment={"SPARK_LOCAL_IP": "127.0.0.1"})
    compare(page, session, False, spark=True)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_tutorial_starts_with_what_will_be_built_and_ends_with_what_to_try(page: Path) -> None:
    text = text_of(name_of(page))
    assert re.match(r"# [^\n]+\n\nYou will [^.]+[.:]", text)
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[-1] == "What to try next"
    assert [int(heading.split(".")[0]) for heading in headings[:-1]] == list(range(1, len(headings)))
    assert re.match(r"pip install '\.\[[\w,]+\]'$", install_line(page))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_tutorial_reads_no_file_of_the_checkout(page: Path) -> None:
    """Nobody has to have the examples at hand, or to read source."""
    assert not re.search(r"\b(?:examples|src|tests)/", text_of(name_of(page)))


def test_a_stand_in_is_used_and_not_shown(tmp_path: Path) -> None:
    session = Session(tmp_path, typed=True, stand_ins={"127.0.0.1:9092": "127.0.0.1:20001"})
    session.write("server", "127.0.0.1:9092\n")
    assert (tmp_path / "server").read_text("utf-8") == "127.0.0.1:20001\n"
    assert session.command("cat server; grep -c 20001 server; echo 127.0.0.1:9092") == [
        "127.0.0.1:9092",
        "1",
        "127.0.0.1:9092",
    ]


def test_what_a_page_started_in_the_background_ends_with_it(tmp_path: Path) -> None:
    session = Session(tmp_path.resolve(), typed=True)
    session.command("sleep 600 > log 2>&1 & echo $! > run.pid")
    process = Path("/proc", (tmp_path / "run.pid").read_text("utf-8").strip())
    assert (process / "cwd").readlink() == tmp_path.resolve()
    session.end()
    end = time.monotonic() + 10
    while is_alive(process):
        assert time.monotonic() < end, "it is still there"
        time.sleep(0.05)
    session.end()


def is_alive(process: Path) -> bool:
    """Whether a process of /proc still runs; one that nobody has waited for does not."""
    try:
        return "State:\tZ" not in (process / "status").read_text("utf-8")
    except OSError:
        return False


def test_only_a_typed_page_leaves_out_what_spark_logs(tmp_path: Path) -> None:
    words = "Setting default log level to WARN"
    assert Session(tmp_path, typed=True).command(f"echo {words}; echo answer") == ["answer"]
    assert Session(tmp_path).command(f"echo {words}; echo answer") == [words, "answer"]
