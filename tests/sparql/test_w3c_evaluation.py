"""The evaluation tests of W3C on the reference engine; what does not pass is listed with its reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conformance.evaluation import evaluation_tests, exclusions, failure
from tests.conformance.manifests import MISSING, available, entries

pytestmark = pytest.mark.skipif(not available(), reason=MISSING)
COUNTS = {"sparql10": 283, "sparql11": 232}


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


def test_a_wrong_answer_is_noticed() -> None:
    first, second, *_ = [e for e in evaluation_tests(entries("sparql10")) if e.name.startswith("basic/list")]
    assert failure(first) is None
    assert failure(replace(first, result=second.result)) is not None
    assert failure(replace(first, data=())) is not None
