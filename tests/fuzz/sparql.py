"""Fuzzing of SPARQL: `python -m tests.fuzz.sparql --count 200000 --seed 1`; it promises what `tests.fuzz.fuzz` does."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from functools import cache
from multiprocessing import Pool
from random import Random

from transom.errors import TransomError
from transom.languages.sparql.parse import parse
from transom.languages.sparql.rules import check as check_rules
from transom.languages.sparql.syntax import SparqlQuery
from transom.languages.sparql.unparse import comments_of, format_text, unparse
from transom.languages.sql.parse import MAX_TEXT_LENGTH

from ..cases import golden_cases
from ..sparql.syntax_trees import Trees
from .fuzz import CHUNK, SLOWEST, Tally, refused, shown
from .mutate import TOKEN, mutate

WORDS = (
    *("SELECT", "DISTINCT", "REDUCED", "CONSTRUCT", "DESCRIBE", "ASK", "FROM", "NAMED", "STREAM", "WHERE", "UNION"),
    *("WINDOW RANGE 10 S SLIDE", "WINDOW RANGE 5 FIXED", "WINDOW ELEMS 3", "SLIDE 5", "RANGE 0", "MINUTE", "WEEK"),
    *("OPTIONAL {", "GRAPH ?g {", "SERVICE <x> {", "MINUS {", "FILTER(", "BIND(1 AS ?x)", "VALUES ?x { 1 UNDEF }"),
    *("EXISTS {", "NOT EXISTS {", "IN (1, 2)", "NOT IN ()", "AS ?y", "GROUP BY ?x", "HAVING(", "ORDER BY DESC(?x)"),
    *("LIMIT 1", "OFFSET 2", "PREFIX ex: <http://ex/>", "BASE <http://b/>", "COUNT(*)", "SUM(", "REGEX(?x, 'a')"),
    *("STR(", "IF(", "BOUND(?x)", "NOW()", "?x", "$y", "_:b", "ex:p", ":", "a", "<http://ex/p>", "<>", "[", "]", "[]"),
    *("(", ")", "()", "{", "}", ".", ";", ",", "^", "/", "|", "!", "*", "+", "?", "||", "&&", "=", "!=", "<=", "@en"),
    *("^^ex:t", "'a'", '"""b"""', "1", "-1", "1.5", "+2e3", "true", "\\u0041", "\\U0001F600", "\\uD800", "\\x", "#"),
)


@cache
def seeds() -> tuple[str, ...]:
    """Queries to begin with: those of the golden file, and generated ones."""
    golden = [case.text for case in golden_cases("streaming-sparql")]
    return (*golden * 4, *(unparse(Trees(seed).query(room=1 + seed % 4)) for seed in range(200)))


def input_of(seed: int, number: int) -> str:
    """One input: words of SPARQL put in or in place of others, and then all that is done to texts."""
    dice = Random(f"sparql-{seed}-{number}")
    tokens = TOKEN.findall(dice.choice(seeds()))
    for _ in range(dice.choice((0, 0, 1, 1, 2, 4))):
        place = dice.randrange(len(tokens))
        tokens[place] = dice.choice(("", tokens[place])) + f" {dice.choice(WORDS)} "
    return mutate("".join(tokens), seeds(), dice) if dice.random() < 0.7 else "".join(tokens)


def read(text: str) -> tuple[str, SparqlQuery | None]:
    """What became of a query: refused by the parser, by a rule, or taken."""
    try:
        query = parse(text)
    except TransomError as error:
        refused(error, text)
        return "not parsed", None
    try:
        check_rules(query, {"": "http://ex/"})
    except TransomError as error:
        refused(error, text)
        return "against a rule", query
    return "taken", query


def check_text(text: str, query: SparqlQuery) -> None:
    """A query comes out as text and back, in canonical form and with its comments."""
    tidy = format_text(text, query)
    if len(tidy) > MAX_TEXT_LENGTH:
        return
    assert [c for _, c in comments_of(tidy)] == [c for _, c in comments_of(text)], "format lost a comment"
    assert parse(unparse(query)) == query, "the query has changed"
    assert parse(tidy) == query, "the query has changed"


def check(seed: int, number: int) -> Tally:
    """What became of one input."""
    tally = Tally()
    text = input_of(seed, number)
    began = time.process_time()
    try:
        outcome, query = read(text)
        took = time.process_time() - began
        tally.slowest = (took, number, text)
        assert took < SLOWEST, f"took {took:.2f} s"
        if query is not None:
            check_text(text, query)
    except Exception:
        outcome = "failed"
        tally.failures.append((number, text, traceback.format_exc(limit=-4)))
    tally.outcomes[outcome] += 1
    return tally


def check_all(seed: int, numbers: range) -> Tally:
    """What became of some inputs, one after the other."""
    parse("ASK {}")
    return Tally.of(check(seed, number) for number in numbers)


def _chunk(job: tuple[int, range]) -> Tally:
    return check_all(*job)


def main() -> int:
    """Fuzz from the command line; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Fuzz the parser of SPARQL.")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    jobs = [(options.seed, range(start, min(start + CHUNK, options.count))) for start in range(0, options.count, CHUNK)]
    total = Tally()
    if options.processes > 1:
        with Pool(options.processes) as pool:
            for tally in pool.imap_unordered(_chunk, jobs):
                total.add(tally)
    else:
        for tally in map(_chunk, jobs):
            total.add(tally)
    different = {why.splitlines()[-1]: (number, text, why) for number, text, why in reversed(total.failures)}
    for number, text, why in list(different.values())[:20]:
        print(f"number {number} ({len(text)} characters): {shown(text)}\n{why}")
    outcomes = ", ".join(f"{total.outcomes[name]:,} {name}" for name in sorted(total.outcomes))
    took, number, _ = total.slowest
    print(f"{outcomes}; slowest {took:.2f} s for {number}; {len(total.failures)} failed")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
