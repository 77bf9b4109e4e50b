"""The syntax tests of W3C: every query that is right is read, every other one is refused with its place."""

from __future__ import annotations

import pytest

from tests.conformance.__main__ import all_of, syntax_failure, syntax_tests
from tests.conformance.manifests import MISSING, Entry, available
from transom.languages.sparql.parse import parse
from transom.languages.sparql.unparse import comments_of, format_text, unparse

pytestmark = pytest.mark.skipif(not available(), reason=MISSING)
COUNTS = {"sparql10": (149, 50), "sparql11": (66, 40)}
"""How many tests there are of queries that are right, and of others."""


def queries(version: str) -> list[Entry]:
    """All tests with a query, each query once."""
    right = {e.query: e for e in all_of(version) if e.query.suffix == ".rq" and not e.kind.startswith("Negative")}
    return list(right.values())


@pytest.mark.parametrize("version", COUNTS)
def test_no_test_is_lost(version: str) -> None:
    kinds = [entry.kind for entry in syntax_tests(version)]
    positive = sum(kind.startswith("Positive") for kind in kinds)
    assert (positive, len(kinds) - positive) == COUNTS[version]


@pytest.mark.parametrize("version", COUNTS)
def test_right_queries_are_read_and_others_are_refused(version: str) -> None:
    failures = [(entry.name, syntax_failure(entry)) for entry in syntax_tests(version)]
    broken = [f"{name}: {why}" for name, why in failures if why is not None]
    assert not broken, "\n".join(broken)


@pytest.mark.deep
@pytest.mark.parametrize("version", COUNTS)
def test_queries_survive_formatting(version: str) -> None:
    found = queries(version)
    assert len(found) > 200
    for entry in found:
        text = entry.text
        query = parse(text)
        assert parse(unparse(query)) == query, entry.name
        tidy = format_text(text, query)
        assert parse(tidy) == query, entry.name
        assert [words for _, words in comments_of(tidy)] == [words for _, words in comments_of(text)], entry.name
        assert format_text(tidy, parse(tidy)) == tidy, entry.name
