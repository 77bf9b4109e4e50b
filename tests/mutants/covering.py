"""Which tests ran a line, by coverage with one context per test (`--cov-context=test`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tests.mutants.site import Site
from tests.mutants.stages import SLOW

Lines = dict[int, set[str]]


class CoverageMap:
    """Tests per line of each source file; empty if there is no map."""

    def __init__(self, files: dict[str, Lines]):
        self.files = files

    @classmethod
    def read(cls, path: Path | None) -> CoverageMap:
        """From coverage's own file, or from its JSON report with `--show-contexts`."""
        if path is None:
            return cls({})
        if path.read_bytes()[:6] != b"SQLite":
            report = json.loads(path.read_text("utf-8"))["files"]
            return cls({below(name): numbers(file.get("contexts", {}).items()) for name, file in report.items()})
        from coverage import CoverageData

        data = CoverageData(str(path))
        data.read()
        return cls({below(name): numbers(data.contexts_by_lineno(name).items()) for name in data.measured_files()})

    def tests(self, mutant: Site) -> list[str]:
        """The tests that ran the statement of a mutant."""
        lines = self.files.get(mutant.path, {})
        found: set[str] = set()
        for line in range(mutant.statement, mutant.line + 1):
            found |= lines.get(line, set())
        return sorted(found)

    def slow(self, mutant: Site, most: int = 12) -> list[str]:
        """Those of them that need Spark or servers; of many, some from every file."""
        return spread([test for test in self.tests(mutant) if test.startswith(SLOW)], most)

    def plain(self, mutant: Site, most: int = 200) -> list[str]:
        """Those of them that need neither."""
        return spread([test for test in self.tests(mutant) if not test.startswith(SLOW)], most)


def below(name: str) -> str:
    """A path as it is below the root of the repository."""
    return "src/transom/" + name.rpartition("/transom/")[2] if "/transom/" in name else name


def numbers(lines: Iterable[tuple[int | str, Iterable[str]]]) -> Lines:
    """Tests by line, without the phase (setup, run, teardown) that pytest-cov appends."""
    return {int(line): {test.partition("|")[0] for test in tests if "::" in test} for line, tests in lines}


def spread(tests: list[str], most: int) -> list[str]:
    """At most so many tests, taken from all files in turn."""
    files: dict[str, list[str]] = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    taken: list[str] = []
    while len(taken) < most and any(files.values()):
        for waiting in files.values():
            if waiting and len(taken) < most:
                taken.append(waiting.pop(0))
    return taken
