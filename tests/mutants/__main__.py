"""Draws mutants and runs the tests against them.

    python -m tests.mutants draw --seed 19 --count 30
    python -m tests.mutants run --seed 19 --count 30 --results build/mutants.jsonl
    python -m tests.mutants summary --seed 19 --count 30 --results build/mutants.jsonl

A run works in a copy of the working tree and goes on where the file of results ends. `--stages` chooses stages and
their order; `--stage NAME=COMMAND` changes a command or adds one. `draw --json` writes a list that `--mutants FILE`
takes instead of a seed; lines may have moved since. Drawing needs javac and Spark's jars
(TRANSOM_SPARK_JARS), as `kernel/build` does.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

from tests.mutants.covering import CoverageMap
from tests.mutants.draw import ROOT, all_compiles, draw, loaded, saved
from tests.mutants.run import Runner, summary
from tests.mutants.stages import BUILD, COMMANDS, SECONDS, Stage

DEFAULT = "related,plain,junit,twins,covering,spark"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["draw", "run", "summary"])
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--json", action="store_true", help="draw: one mutant per line, as JSON")
    parser.add_argument("--mutants", type=Path, help="a list that was drawn before, instead of a seed")
    parser.add_argument("--only", default="", help="names or layers, separated by commas")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.jsonl", help="a file of JSON lines")
    parser.add_argument("--stages", default=DEFAULT, help=f"in order, separated by commas; by default {DEFAULT}")
    parser.add_argument("--stage", action="append", default=[], metavar="NAME=COMMAND", help="changes or adds a stage")
    parser.add_argument("--seconds", type=float, help="the time limit of every stage")
    parser.add_argument("--build", default=BUILD, help="the command that makes the kernel's jar")
    parser.add_argument("--spark-tests", default="", help="options and tests for the stage spark")
    parser.add_argument("--map", type=Path, help="coverage with contexts: the tests that ran the line come first")
    parser.add_argument("--lock", type=Path, help="hold this file's lock while a command runs")
    parser.add_argument("--copy", type=Path, help="where the copy of the tree is made; by default a temporary folder")
    parser.add_argument("--again", action="store_true", help="run mutants that have results already")
    return parser.parse_args()


def stages(given: argparse.Namespace) -> list[Stage]:
    """The stages that were asked for."""
    commands = COMMANDS | dict(one.split("=", 1) for one in given.stage)
    names = given.stages.split(",")
    unknown = [name for name in names if name not in commands]
    if unknown:
        sys.exit(f"no stage {', '.join(unknown)}; there are {', '.join(commands)}")
    return [Stage(name, commands[name], given.seconds or SECONDS.get(name, 3600)) for name in names]


def main() -> int:
    """Do what is asked for."""
    given = arguments()
    if given.mutants:
        mutants = loaded(given.mutants.read_text("utf-8"))
    else:
        mutants = draw(given.seed, given.count, compiles=partial(all_compiles, ROOT))
    wanted = set(filter(None, given.only.split(",")))
    mutants = [mutant for mutant in mutants if not wanted or {mutant.name, mutant.layer} & wanted]
    if given.action == "draw" and given.json:
        print(saved(mutants), end="")
        return 0
    if given.action == "draw":
        print("\n".join(f"{mutant.layer:10} {mutant.name} {mutant.kind:10} {mutant.shown}" for mutant in mutants))
        return 0
    if given.action == "run":
        with tempfile.TemporaryDirectory(prefix="transom-mutants-") as folder:
            runner = Runner(
                stages(given),
                given.results.absolute(),
                (given.copy or Path(folder) / "copy").absolute(),
                lock=given.lock,
                spark_tests=given.spark_tests,
                coverage=CoverageMap.read(given.map),
                build=given.build,
            )
            runner.run(mutants, again=given.again)
    text, survivors = summary(mutants, given.results)
    print(text)
    return int(survivors > 0)


if __name__ == "__main__":
    sys.exit(main())
