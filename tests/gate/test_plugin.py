"""A gated run fails on what an ordinary run forgives: skipped tests, skipped modules, tests that never ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gate import ledger

pytest_plugins = ["pytester"]

GOOD = "def test_good(): pass\n"
SKIPPED = "import pytest\ndef test_skipped(): pytest.skip('no server')\n"
MODULE = "import pytest\npytest.importorskip('no_such_library')\ndef test_lost(): pass\n"
FAILED = "def test_failed(): assert False\n"
EXPECTED = "import pytest\n@pytest.mark.xfail(reason='known')\ndef test_known(): assert False\n"
MARKED = """
import pytest
@pytest.mark.nightly
def test_night(): pass
@pytest.mark.spark
def test_jvm(): pass
@pytest.mark.spark
@pytest.mark.nightly
def test_night_on_jvm(): pass
def test_plain(): pass
"""


@pytest.fixture
def gated(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with our plugin."""
    root = Path(__file__).parents[2]
    pytester.makeconftest(
        f"import sys\nsys.path.insert(0, {str(root)!r})\n"
        "from tests.gate.plugin import pytest_addoption, pytest_collection_modifyitems, pytest_configure, rewrite\n"
    )
    pytester.makeini(
        "[pytest]\nmarkers =\n" + "".join(f"    {m}: x\n" for m in ("deep", "spark", "servers", "nightly"))
    )
    return pytester


def run(gated: pytest.Pytester, *options: str) -> tuple[int, dict[str, str]]:
    path = gated.path / "ledger.jsonl"
    path.unlink(missing_ok=True)
    start = gated.runpytest_subprocess if "-n" in options else gated.runpytest_inprocess
    done = start("-p", "no:cacheprovider", "--ledger", str(path), "--step", "s", *options)
    return int(done.ret), {entry.test.split("::")[-1]: entry.outcome for entry in ledger.read(path)}


@pytest.mark.parametrize(
    ("body", "status", "outcomes"),
    [
        (GOOD + EXPECTED, 0, {"test_good": "passed", "test_known": "xfailed"}),
        (GOOD + SKIPPED, 1, {"test_good": "passed", "test_skipped": "skipped"}),
        (GOOD + FAILED, 1, {"test_good": "passed", "test_failed": "failed"}),
    ],
    ids=["expected failure", "skipped", "failed"],
)
def test_outcome(gated: pytest.Pytester, body: str, status: int, outcomes: dict[str, str]) -> None:
    gated.makepyfile(body)
    assert run(gated) == (status, outcomes)


def test_skipped_module_fails_the_run(gated: pytest.Pytester) -> None:
    gated.makepyfile(test_one=GOOD, test_other=MODULE)
    assert run(gated) == (1, {"test_good": "passed"})


def test_workers_report_what_they_skip(gated: pytest.Pytester) -> None:
    gated.makepyfile(test_one=GOOD, test_two=SKIPPED)
    assert run(gated, "-n", "1") == (1, {"test_good": "passed", "test_skipped": "skipped"})
    gated.makepyfile(test_one=GOOD, test_two=MODULE)
    assert run(gated, "-n", "1") == (1, {"test_good": "passed"})


def test_tests_that_never_ran_fail_the_run(gated: pytest.Pytester) -> None:
    gated.makepyfile(GOOD + "import os\ndef test_exit():\n    import pytest; pytest.exit('early', returncode=0)\n")
    assert run(gated)[0] == 1


def test_marks_select(gated: pytest.Pytester) -> None:
    gated.makepyfile(MARKED)
    assert set(run(gated)[1]) == {"test_plain"}
    assert set(run(gated, "--spark")[1]) == {"test_plain", "test_jvm"}
    assert set(run(gated, "--nightly")[1]) == {"test_night", "test_night_on_jvm"}
    assert set(run(gated, "--whole", "--spark")[1]) == {"test_plain", "test_jvm", "test_night", "test_night_on_jvm"}


def test_listed_tests_alone_run(gated: pytest.Pytester) -> None:
    gated.makepyfile(test_some=MARKED)
    (gated.path / "list.txt").write_text("test_some.py::test_night\n")
    assert set(run(gated, "--nightly", "--tests-from", "list.txt")[1]) == {"test_night"}
    (gated.path / "list.txt").write_text("test_some.py::test_gone\n")
    assert run(gated, "--nightly", "--tests-from", "list.txt")[0] == 4


def test_violations_count_tests_that_have_no_entry() -> None:
    entries = [ledger.Entry("s", "a", "passed", 1.0), ledger.Entry("s", "b", "skipped", 0.0)]
    assert ledger.violations(2, entries) == ["skipped: b"]
    assert ledger.violations(3, entries[:1]) == ["2 of 3 collected tests never ran"]
