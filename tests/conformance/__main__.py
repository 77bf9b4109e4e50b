"""`just conformance`: all W3C tests of SPARQL queries, and a table of what passes.

With `--some`, Spark takes every fifth of its tests; the last line says how many.
"""

from __future__ import annotations

import sys
from collections import Counter

from transom.errors import QueryError
from transom.languages.sparql.parse import parse
from transom.languages.sparql.rules import check

from . import as_stream, on_spark
from .evaluation import evaluation_tests, exclusions, failure
from .manifests import MISSING, Entry, available, entries

VERSIONS = ("sparql10", "sparql11")
SYNTAX = ("PositiveSyntaxTest", "NegativeSyntaxTest")
ON_SPARK = ("aggregates/", "grouping/")
"""The folders of SPARQL 1.1 that Spark takes; of SPARQL 1.0 it takes all."""


def all_of(version: str) -> list[Entry]:
    """All tests of queries; in SPARQL 1.1 those of SERVICE have a list of their own."""
    federated = entries(version, "manifest-sparql11-fed.ttl") if version == "sparql11" else []
    return entries(version) + [entry for entry in federated if entry.kind.removesuffix("11") in SYNTAX]


def syntax_tests(version: str) -> list[Entry]:
    """The syntax tests of queries; a few of updates have the same kind, and another ending."""
    found = [entry for entry in all_of(version) if entry.kind.removesuffix("11") in SYNTAX]
    return [entry for entry in found if entry.query.suffix != ".ru"]


def spark_tests() -> list[tuple[str, Entry]]:
    """The evaluation tests that Spark takes, each with its version."""
    found = [(version, entry) for version in VERSIONS for entry in evaluation_tests(entries(version))]
    return [(version, entry) for version, entry in found if version == "sparql10" or entry.name.startswith(ON_SPARK)]


def refusal(text: str) -> QueryError | None:
    """Why a query is refused, if it is."""
    try:
        check(parse(text))
    except QueryError as error:
        error.within(text)
        return error
    return None


def syntax_failure(entry: Entry) -> str | None:
    """Why a syntax test does not pass, or None if it does."""
    refused = refusal(entry.text)
    if (refused is None) == entry.kind.startswith("Negative"):
        return str(refused or "it is not refused")
    return "it is refused without a place" if refused is not None and refused.position is None else None


def main() -> int:
    """Print the table; 1 if a test fails that is not excluded, or passes that is; 2 without the suite."""
    if not available():
        print(MISSING)
        return 2
    excluded = exclusions()
    broken: list[str] = []
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for version in VERSIONS:
        for kind, tests, judge in (
            ("evaluation", evaluation_tests(entries(version)), failure),
            ("syntax", syntax_tests(version), syntax_failure),
        ):
            folders: Counter[str] = Counter()
            for entry in tests:
                why = judge(entry)
                name = f"{version}/{entry.name}"
                passed[f"{version} {kind}"] += why is None
                folders[entry.name.partition("/")[0]] += why is None
                if (why is None) == (name in excluded):
                    broken.append(f"{name}: {why or 'passes, and is excluded'}")
            total[f"{version} {kind}"] = len(tests)
            for folder, number in Counter(entry.name.partition("/")[0] for entry in tests).items():
                print(f"{version:9} {kind:11} {folder:25} {folders[folder]:4} of {number}")
    streams = as_stream.possible()
    over_streams = as_stream.failures(streams, as_stream.simulated)
    broken += [f"{entry.name} (stream): {why}" for entry, why in zip(streams, over_streams, strict=True) if why]
    judged = spark_tests()[:: 5 if "--some" in sys.argv[1:] else 1]
    ours = on_spark.failures([entry for _, entry in judged])
    for (version, entry), why in zip(judged, ours, strict=True):
        if (why is None) == (f"{version}/{entry.name} (spark)" in excluded):
            broken.append(f"{version}/{entry.name} (spark): {why or 'passes, and is excluded'}")
    print(*broken, sep="\n" if broken else "")
    for name, number in total.items():
        print(f"{name}: {passed[name]} of {number}")
    print(f"evaluation over streams: {over_streams.count(None)} of {len(streams)} (reference)")
    both = sum(passed[f"{version} syntax"] for version in VERSIONS), sum(total[f"{v} syntax"] for v in VERSIONS)
    print(f"evaluation on Spark: {ours.count(None)} of {len(ours)}; syntax: {both[0]} of {both[1]}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
