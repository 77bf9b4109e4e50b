"""Fuzzing of the parser, the translator and the catalog reader: `python -m tests.fuzz.fuzz --count 200000 --seed 1`.

Every input follows from the seed and its number, so `--only NUMBER` repeats one. What is read must come out as text
and back, only TransomErrors may be raised (but no PlanError, which says that Transom is at fault), each must render,
and each input must take less than a second.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pool
from random import Random
from typing import Any

from transom.catalog.catalog import Catalog
from transom.errors import PlanError, TransomError
from transom.languages.cql import parse as cql_parse
from transom.languages.cql import translate as cql_translate
from transom.languages.cql import unparse as cql_unparse
from transom.languages.sneeql.parse import parse
from transom.languages.sneeql.translate import translate
from transom.languages.sneeql.unparse import format_text, unparse
from transom.languages.sql.layout import comments_of
from transom.languages.sql.parse import MAX_TEXT_LENGTH

from .mutate import mutate
from .seeds import catalog, catalog_seeds, cql_seeds, query_seeds

SLOWEST = 1.0
"""Seconds that one input may take."""
CHUNK = 500


@dataclass
class Tally:
    """What became of some inputs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    slowest: tuple[float, int, str] = (0.0, -1, "")

    @classmethod
    def of(cls, parts: Iterable[Tally]) -> Tally:
        """The results of all parts."""
        total = cls()
        for part in parts:
            total.add(part)
        return total

    def add(self, other: Tally) -> None:
        """Take over the results of other inputs."""
        self.outcomes += other.outcomes
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)

    @property
    def count(self) -> int:
        """How many inputs there were."""
        return sum(self.outcomes.values())


def input_of(seed: int, number: int) -> tuple[str, str]:
    """The kind and the text of one input; every second one is a catalog, every fourth a query of CQL."""
    dice = Random(f"{seed}-{number}")
    kind = ("sneeql", "catalog", "cql", "catalog")[number % 4]
    seeds = {"sneeql": query_seeds, "cql": cql_seeds, "catalog": catalog_seeds}[kind]()
    return kind, mutate(dice.choice(seeds), seeds, dice)


def refused(error: TransomError, text: str) -> None:
    """An error that was raised on purpose: Transom is not at fault, and it can be shown."""
    if isinstance(error, PlanError):
        raise error
    if not str(error.within(text)).strip():
        raise AssertionError("an error without words")


def functions(kind: str) -> tuple[Callable[[str], Any], Callable[..., Any], Callable[..., str], Callable[..., str]]:
    """parse, translate, unparse and format_text of a language."""
    if kind == "cql":
        return cql_parse.parse, cql_translate.translate, cql_unparse.unparse, cql_unparse.format_text
    return parse, translate, unparse, format_text


def read_query(kind: str, text: str) -> tuple[str, Any]:
    """What became of a query: refused by the parser, by the translator, or translated."""
    parsing, translating, _, _ = functions(kind)
    try:
        query = parsing(text)
    except TransomError as error:
        refused(error, text)
        return "not parsed", None
    try:
        translating(query, catalog())
    except TransomError as error:
        refused(error, text)
        return "not translated", query
    return "translated", query


def read_catalog(text: str) -> tuple[str, None]:
    """What became of a catalog: refused or read."""
    try:
        Catalog.read(text)
    except TransomError as error:
        refused(error, text)
        return "not read", None
    return "read", None


def check_text(kind: str, text: str, query: Any) -> None:
    """A query comes out as text and back, in canonical form and with its comments."""
    parsing, _, writing, formatting = functions(kind)
    tidy = formatting(text, query)
    assert [c for _, c in comments_of(tidy)] == [c for _, c in comments_of(text)], "format lost a comment"
    for again in (writing(query), tidy):
        if len(again) <= MAX_TEXT_LENGTH:
            assert parsing(again) == query, "the query has changed"


def check(seed: int, number: int) -> Tally:
    """What became of one input."""
    tally = Tally()
    kind, text = input_of(seed, number)
    began = time.process_time()
    try:
        outcome, query = read_catalog(text) if kind == "catalog" else read_query(kind, text)
        took = time.process_time() - began
        tally.slowest = (took, number, text)
        assert took < SLOWEST, f"took {took:.2f} s"
        if query is not None:
            check_text(kind, text, query)
    except Exception:
        outcome = "failed"
        tally.failures.append((number, text, traceback.format_exc(limit=-4)))
    tally.outcomes[outcome] += 1
    return tally


def check_all(seed: int, numbers: range) -> Tally:
    """What became of some inputs, one after the other."""
    return Tally.of(check(seed, number) for number in numbers)


def _chunk(job: tuple[int, range]) -> Tally:
    return check_all(*job)


def run(seed: int, count: int, processes: int) -> Iterator[Tally]:
    """The results of all inputs, chunk by chunk."""
    query_seeds(), cql_seeds(), catalog_seeds(), catalog()
    jobs = [(seed, range(start, min(start + CHUNK, count))) for start in range(0, count, CHUNK)]
    if processes == 1:
        yield from map(_chunk, jobs)
        return
    with Pool(processes) as pool:
        yield from pool.imap_unordered(_chunk, jobs)


def shown(text: str, longest: int = 2000) -> str:
    """A text as a Python literal, its middle left out if it is long."""
    words = ascii(text)
    return words if len(words) <= longest else f"{words[: longest // 2]} ... {words[-longest // 2 :]}"


def main() -> int:
    """Fuzz from the command line; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Fuzz the parser, the translator and the catalog reader.")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", type=int, help="show and check one input")
    options = parser.parse_args()
    if options.only is not None:
        print(ascii(input_of(options.seed, options.only)[1]))
        total = check(options.seed, options.only)
    else:
        total = Tally()
        began = time.monotonic()
        for tally in run(options.seed, options.count, options.processes):
            total.add(tally)
            if sys.stderr.isatty():
                rate = total.count / (time.monotonic() - began)
                print(
                    f"\r{total.count:,} inputs, {rate:,.0f} per s, {len(total.failures)} failed",
                    end="",
                    file=sys.stderr,
                )
        if sys.stderr.isatty():
            print(file=sys.stderr)
    different = {why.splitlines()[-1]: (number, text, why) for number, text, why in reversed(total.failures)}
    for number, text, why in list(different.values())[:20]:
        print(f"--only {number} ({len(text)} characters): {shown(text)}\n{why}")
    took, number, text = total.slowest
    outcomes = ", ".join(f"{total.outcomes[name]:,} {name}" for name in sorted(total.outcomes))
    print(
        f"{outcomes}; slowest {took:.2f} s for --only {number} {shown(text, 60)}; "
        f"{total.count - len(total.failures):,} passed, {len(total.failures)} failed"
    )
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
