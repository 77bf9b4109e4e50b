"""The syntax tests of W3C: every query that is right is read, every other one is refused with its place."""

from __future__ import annotations

import pytest

from tests.conformance.manifests import MISSING, Entry, available, entries
from transom.errors import QueryError
from transom.languages.sparql.parse import parse
from transom.languages.sparql.rules import check
from transom.languages.sparql.unparse import comments_of, format_text, unparse

pytestmark = pytest.mark.skipif(not available(), reason=MISSING)
KINDS = ("PositiveSyntaxTest", "NegativeSyntaxTest")
COUNTS = {"sparql10": (149, 50), "sparql11": (66, 48)}
"""How many tests there are of queries that are right, and of others."""


def all_of(version: str) -> list[Entry]:
    """All tests; in SPARQL 1.1 those of SERVICE have a list of their own."""
    federated = entries(version, "manifest-sparql11-fed.ttl") if version == "sparql11" else []
    return entries(version) + federated


def syntax_tests(version: str) -> list[Entry]:
    """The syntax tests of queries; those of updates have other kinds."""
    return [entry for entry in all_of(version) if entry.kind.removesuffix("11") in KINDS]


def queries(version: str) -> list[Entry]:
    """All tests with a query, each query once."""
    right = {e.query: e for e in all_of(version) if e.query.suffix == ".rq" and not e.kind.startswith("Negative")}
    return list(right.values())


def refusal(text: str) -> QueryError | None:
    """Why a query is refused, if it is."""
    try:
        check(parse(text))
    except QueryError as error:
        error.within(text)
        return error
    return None


@pytest.mark.parametrize("version", COUNTS)
def test_no_test_is_lost(version: str) -> None:
    kinds = [entry.kind for entry in syntax_tests(version)]
    positive = sum(kind.startswith("Positive") for kind in kinds)
    assert (positive, len(kinds) - positive) == COUNTS[version]


@pytest.mark.parametrize("version", COUNTS)
def test_right_queries_are_read_and_others_are_refused(version: str) -> None:
    broken = []
    for entry in syntax_tests(version):
        refused = refusal(entry.text)
        if (refused is not None) == entry.kind.startswith("Positive"):
            broken.append(f"{entry.name}: {refused or 'is not refused'}")
        elif refused is not None and refused.position is None:
            broken.append(f"{entry.name} is refused without a place")
    assert not broken, "\n".join(broken)


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
