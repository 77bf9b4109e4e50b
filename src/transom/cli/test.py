"""The command `test`, which runs test cases for queries."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import output
from transom.cli.arguments import Quiet
from transom.cli.errors import print_error
from transom.cli.files import PROJECT_FILE, write_text
from transom.cli.output import remark, say
from transom.cli.run import MasterOption, start_session, status_message
from transom.errors import CaseError, TransomError, UsageError

if TYPE_CHECKING:
    from transom.testing.cases import CaseFile
    from transom.testing.run import Outcome


def run_tests(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE", help="Files of test cases, and projects or folders of NAME.test.yaml.", show_default=False
        ),
    ] = None,
    spark: Annotated[bool, typer.Option("--spark", help="Run the queries on Spark.")] = False,
    master: MasterOption = None,
    select: Annotated[
        str | None, typer.Option("--select", "-k", metavar="TEXT", help="Only cases whose name contains TEXT.")
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Write the actual answers into the files.")] = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run test cases for queries: rows in, answers out. The exit code is 1 if a case fails."""
    output.set_verbosity(quiet=quiet)
    if update and spark:
        raise UsageError("--update takes the answers of the reference engine", hint="leave out --spark")
    from transom.testing.junit import junit as junit_xml
    from transom.testing.run import run_case

    started = time.perf_counter()
    read, errors = read_files(files or [Path()], select)
    session = start_session(master) if spark and read else None
    outcomes: dict[Path, list[Outcome]] = {}
    codes = [error.exit_code for error in errors.values()]
    for file, cases in read.items():
        outcomes[file.path] = results = []
        for case in cases:
            with status_message(f"running {case.name}"):
                results.append(run_case(case, session))
        if update:
            results = update_file(file, results)
        for outcome in results:
            if not outcome.passed:
                codes.append(1 if outcome.error is None else outcome.error.exit_code)
                say(f"{file.path}:{outcome.case.line}: {outcome.case.name}: FAILED", "bold red")
                print_lines(outcome.lines())
        outcomes[file.path] = results
    if junit is not None:
        write_text(junit, junit_xml(outcomes, errors))
    print_totals([outcome for results in outcomes.values() for outcome in results], len(errors), started)
    if any(codes):
        raise SystemExit(max(codes))


def read_files(paths: list[Path], select: str | None) -> tuple[dict[CaseFile, list[Any]], dict[Path, TransomError]]:
    """Read test files, and those in folders; return the selected cases of each file, and the errors of wrong files.

    UsageError if there is no test file, or no selected case.
    """
    from transom.testing.cases import ENDING, read_cases

    paths_to_read: dict[Path, None] = {}
    for path in map(folder_of_project, paths):
        below = files_below(path) if path.is_dir() else []
        if path.is_dir() and not below:
            raise UsageError(f"no test file in the folder {path}", hint=f"names of test files end in {ENDING}")
        paths_to_read |= dict.fromkeys(below or [path])
    read: dict[CaseFile, list[Any]] = {}
    errors: dict[Path, TransomError] = {}
    for path in paths_to_read:
        try:
            file = read_cases(path)
        except CaseError as error:
            print_error(error)
            errors[path] = error
            continue
        cases = [case for case in file.cases if select is None or select.lower() in case.name.lower()]
        if cases:
            read[file] = cases
    if not read and not errors:
        raise UsageError(f"no case is selected by -k {select}", hint="give a part of the name of a case")
    return read, errors


def folder_of_project(path: Path) -> Path:
    """Return the folder of the project file that a path names, since its test files are there; else the path itself."""
    return path.parent if path.name == PROJECT_FILE and path.is_file() else path


def files_below(folder: Path) -> list[Path]:
    """Return the test files in a folder and the folders below it, sorted by name, without hidden ones."""
    from transom.testing.cases import ENDING

    files = sorted(folder.rglob(f"*{ENDING}"))
    return [file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts)]


def update_file(file: CaseFile, outcomes: list[Outcome]) -> list[Outcome]:
    """Write the actual answers of cases into their file, say which cases changed, and return the new outcomes."""
    from transom.testing.cases import read_cases
    from transom.testing.run import run_case
    from transom.testing.update import updated_text

    changed = [outcome for outcome in outcomes if not all(step.agrees for step in outcome.steps)]
    if not changed:
        return outcomes
    write_text(file.path, updated_text(file, changed))
    for outcome in changed:
        removed, added = (
            sum(len(rows) for rows in kind) for kind in zip(*((s.missing, s.unexpected) for s in outcome.steps))
        )
        rows = "row" if removed == 1 else "rows"
        say(f"{file.path}:{outcome.case.line}: {outcome.case.name}: updated, {removed} {rows} removed, {added} added")
    reread = read_cases(file.path)
    return [run_case(reread.cases[outcome.case.number]) for outcome in outcomes]


def print_lines(lines: list[str]) -> None:
    """Print the differences of a case: missing rows in red, unexpected rows in green."""
    for line in lines:
        style = {"- ": "red", "+ ": "green"}.get(line.lstrip()[:2], "")
        say(f"  {line}", style)


def print_totals(outcomes: list[Outcome], errors: int, monotonic_start: float) -> None:
    """Print how many cases passed and failed, and the seconds since `monotonic_start`."""
    failed = sum(not outcome.passed for outcome in outcomes)
    parts = [f"{len(outcomes) - failed} passed", *([f"{failed} failed"] if failed else [])]
    parts += [f"{errors} {'file' if errors == 1 else 'files'} wrong"] if errors else []
    count = f"{len(outcomes)} {'case' if len(outcomes) == 1 else 'cases'}"
    remark(f"{count}: {', '.join(parts)} ({time.perf_counter() - monotonic_start:.1f} s)")
