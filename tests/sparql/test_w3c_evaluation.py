"""The evaluation tests of W3C on the reference engine; what does not pass is listed with its reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.__main__ import syntax_tests
from tests.conformance.evaluation import evaluation_tests, exclusions, failure
from tests.conformance.manifests import MISSING, available, entries

pytestmark = pytest.mark.skipif(not available(), reason=MISSING)
COUNTS = {"sparql10": 283, "sparql11": 235}


@pytest.mark.parametrize("version", COUNTS)
def test_answers(version: str) -> None:
    tests = evaluation_tests(entries(version))
    assert len(tests) == COUNTS[version]
    excluded = exclusions()
    broken = []
    for entry in tests:
        why = failure(entry)
        if (why is None) == (f"{version}/{entry.name}" in excluded):
            broken.append(f"{entry.name}: {why or 'passes, and is excluded'}")
    assert not broken, "\n".join(broken)


def test_the_table_of_the_documentation_is_that_of_the_suite() -> None:
    page = (Path(__file__).parents[2] / "docs/sparql.md").read_text("utf-8")
    _, _, table = page.partition("| folder | 1.0 evaluation | 1.0 syntax | 1.1 evaluation | 1.1 syntax |\n")
    told = {}
    for line in table.partition("\n\n")[0].splitlines()[1:]:
        folder, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        told[folder] = cells
    kinds = [tests for v in COUNTS for tests in (evaluation_tests(entries(v)), syntax_tests(v))]
    counts = [Counter(entry.name.partition("/")[0] for entry in tests) for tests in kinds]
    wanted = {folder: [count[folder] for count in counts] for count in counts for folder in count}
    wanted["all"] = [count.total() for count in counts]
    assert not exclusions()  # all pass, or the table says which do not
    assert told == {folder: [f"{n} of {n}" if n else "" for n in numbers] for folder, numbers in wanted.items()}


def test_a_wrong_answer_is_noticed() -> None:
    first, second, *_ = [e for e in evaluation_tests(entries("sparql10")) if e.name.startswith("basic/list")]
    assert failure(first) is None
    assert failure(replace(first, result=second.result)) is not None
    assert failure(replace(first, data=())) is not None


def test_an_answer_in_csv_has_no_types_and_is_compared() -> None:
    first, second, third = [e for e in evaluation_tests(entries("sparql11")) if e.kind == "CSVResultFormatTest"]
    assert [failure(entry) for entry in (first, second, third)] == [None, None, None]
    for other in (second, third):
        assert failure(replace(first, result=other.result)) is not None
