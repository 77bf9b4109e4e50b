"""Running the stages for each mutant, in a copy of the working tree."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.mutants.covering import CoverageMap
from tests.mutants.draw import ROOT
from tests.mutants.site import Site
from tests.mutants.stages import BUILD, SLOW, Stage, related

JAR = Path("src/transom/transom-kernel.jar")
FAILED = re.compile(
    r"^(?:FAILED|ERROR) (\S+?::[^\[\n]+\[.*?\](?= - |$)|\S+)(?: - .*)?$"
    r"|MethodSource \[className = '([^']+)', methodName = '([^']+)'",
    re.MULTILINE,
)
CONFIRM = "{python} -m pytest -q -p no:cacheprovider --deep --kernel --spark --servers {options} {test}"
"""Runs a test that failed once more, with the sources as they are: it must pass."""


@dataclass
class Runner:
    """A copy of the tree, the stages and the file of results."""

    stages: Sequence[Stage]
    results: Path
    copy: Path
    root: Path = ROOT
    lock: Path | None = None
    spark_tests: str = ""
    coverage: CoverageMap = field(default_factory=lambda: CoverageMap({}))
    build: str = BUILD
    left_out: list[str] = field(default_factory=list)
    """Tests that fail with the sources as they are."""

    def run(self, mutants: Sequence[Site], again: bool = False) -> None:
        """Every mutant through every stage that has no result yet."""
        copy_tree(self.root, self.copy)
        known = {} if again else recorded(self.results)
        for mutant in mutants:
            done = known.get(mutant.name, {})
            if any(one["outcome"] != "passed" for one in done.values()):
                continue
            with self.applied(mutant) as built:
                for stage in self.stages if built else ():
                    if stage.name in done or not stage.concerns(mutant):
                        continue
                    command = stage.filled(self.values(mutant))
                    if command is None:
                        continue
                    if not self.passes(mutant, stage, command):
                        break

    def values(self, mutant: Site) -> dict[str, str]:
        """What the placeholders of a command stand for."""
        near = self.coverage.plain(mutant) or related(self.copy, mutant)
        return {
            "python": shlex.quote(sys.executable),
            "related": shlex.join(near),
            "covering": shlex.join(self.coverage.slow(mutant)),
            "spark": self.spark_tests,
        }

    def passes(self, mutant: Site, stage: Stage, command: str) -> bool:
        """Run one stage and record what came of it. A test that fails without the mutant too is left out."""
        while True:
            outcome, seconds, output = self.execute(command, stage.seconds, stage.alone)
            test = first_failure(output) if outcome == "failed" else ""
            if not test.startswith("tests/") or test in self.left_out or self.confirmed(mutant, test):
                break
            print(f"{test} fails without a mutant: left out", flush=True)
            self.left_out.append(test)
        self.note(mutant, stage.name, outcome, seconds, test, output)
        return outcome == "passed"

    def confirmed(self, mutant: Site, test: str) -> bool:
        """Whether a test that failed with a mutant passes without it."""
        with self.unchanged(mutant):
            options = "" if "::" in test else "--collect-only"
            values = {"python": shlex.quote(sys.executable), "options": options, "test": shlex.quote(test)}
            return self.execute(CONFIRM.format(**values), 600, test.startswith(SLOW))[0] == "passed"

    @contextmanager
    def unchanged(self, mutant: Site) -> Iterator[None]:
        """The copy without the mutant and what was built from it."""
        names = [name for name in self.git("diff", "--name-only", "-z").split("\0") if name]
        changed = {path: path.read_bytes() for path in (self.copy / name for name in names) if path.is_file()}
        self.restore(mutant)
        try:
            yield
        finally:
            for path, content in changed.items():
                path.write_bytes(content)
            forget_bytecode(self.copy / mutant.path)

    def restore(self, mutant: Site) -> None:
        """All files as they were when the copy was made."""
        self.git("checkout", "-q", "--", ".")
        forget_bytecode(self.copy / mutant.path)

    def git(self, *words: str) -> str:
        """A command of git in the copy, whose index holds the files as they were."""
        return subprocess.run(["git", *words], cwd=self.copy, capture_output=True, text=True, check=True).stdout

    def execute(self, command: str, seconds: float, alone: bool = False) -> tuple[str, float, str]:
        """A command in the copy, with the lock if it must run alone: its outcome, its time, its output."""
        with locked(self.lock if alone else None):
            begun = time.monotonic()
            process = subprocess.Popen(
                ["bash", "-c", command],
                cwd=self.copy,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            try:
                output, _ = process.communicate(timeout=seconds)
                outcome = "passed" if process.returncode == 0 else "failed"
            except subprocess.TimeoutExpired:
                output, outcome = "", "hang"
            finally:
                end_group(process)
        return outcome, time.monotonic() - begun, output

    def environment(self) -> dict[str, str]:
        """The copy's sources before any that are installed."""
        paths = [str(self.copy / "src"), str(self.copy)]
        without = shlex.join(word for test in self.left_out for word in ("--deselect", test))
        options = f"{os.environ.get('PYTEST_ADDOPTS', '')} {without}".strip()
        added = {"PYTHONPATH": os.pathsep.join(paths), "PYTHON": sys.executable, "PYTEST_ADDOPTS": options}
        return {**os.environ, **added}

    @contextmanager
    def applied(self, mutant: Site) -> Iterator[bool]:
        """The copy with a mutant, and for Java with the jar that it makes; afterwards as before."""
        path = self.copy / mutant.path
        try:
            path.write_bytes(mutant.applied(path.read_bytes()))
            forget_bytecode(path)
            built = True
            if mutant.layer == "kernel":
                outcome, _, output = self.execute(self.build, 180)
                built = outcome == "passed"
                if not built:
                    print(f"{mutant.name}: the kernel was not built\n{output}", flush=True)
            yield built
        finally:
            self.restore(mutant)

    def note(self, mutant: Site, stage: str, outcome: str, seconds: float, test: str, output: str) -> None:
        """Append one result; the end of the output only where something failed."""
        line: dict[str, Any] = {"mutant": mutant.as_json(), "stage": stage, "outcome": outcome}
        line |= {"seconds": round(seconds, 1), "test": test, "output": output[-1500:] if outcome == "failed" else ""}
        self.results.parent.mkdir(parents=True, exist_ok=True)
        with self.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{mutant.name} {stage}: {outcome} in {seconds:.0f} s {test}", flush=True)


def copy_tree(root: Path, copy: Path) -> None:
    """The files of the working tree as git knows them, and the kernel's jar, into a folder of their own."""
    if copy.exists():
        shutil.rmtree(copy)
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, text=True, check=True
    )
    for name in [*filter(None, listed.stdout.split("\0")), JAR.as_posix()]:
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name)
    # what a mutant changes is taken back from the index; tests ask git for the files of the project
    subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
    subprocess.run(["git", "add", "-A", "-f"], cwd=copy, check=True)


def forget_bytecode(path: Path) -> None:
    """Remove compiled files: a change within a second and of the same length would go unnoticed."""
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()


@contextmanager
def locked(path: Path | None) -> Iterator[None]:
    """Wait for a lock file, as `flock` does."""
    if path is None:
        yield
        return
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def end_group(process: subprocess.Popen[str]) -> None:
    """Kill what a command left running."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()


def first_failure(output: str) -> str:
    """The first test that failed, as pytest or JUnit names it."""
    for match in FAILED.finditer(output):
        return match[1] or f"{match[2]}.{match[3]}"
    return ""


def recorded(results: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The last result of every stage, by the mutant's name."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    if results.is_file():
        for line in results.read_text("utf-8").splitlines():
            one = json.loads(line)
            found.setdefault(one["mutant"]["name"], {})[one["stage"]] = one
    return found


def summary(mutants: Sequence[Site], results: Path) -> tuple[str, int]:
    """Every mutant with the test that caught it, and how many survived."""
    known, lines, caught, open_ = recorded(results), [], 0, 0
    for mutant in mutants:
        done = known.get(mutant.name, {})
        bad = [one for one in done.values() if one["outcome"] != "passed"]
        if bad:
            caught += 1
            by = "a hang" if bad[-1]["outcome"] == "hang" else bad[-1]["test"] or bad[-1]["outcome"]
            verdict = f"caught by {by} ({bad[-1]['stage']})"
        elif done:
            verdict = f"SURVIVED {', '.join(done)}"
        else:
            open_ += 1
            verdict = "not run"
        lines.append(f"{mutant.layer:10} {mutant.name} {mutant.shown}\n{'':10} {verdict}")
    survived = len(mutants) - caught - open_
    lines.append(f"{len(mutants)} mutants: {caught} caught, {survived} survived, {open_} not run")
    return "\n".join(lines), survived
