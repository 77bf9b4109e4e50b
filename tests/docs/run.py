"""Running the blocks of a page, in order and in a folder of their own, and telling what they gave."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from tests.docs.pages import ROOT, Block, alone
from transom.catalog.catalog import Catalog
from transom.cli.app import main
from transom.errors import CatalogError

NOT_RUN = {
    "pip install": "needs the network; continuous integration does it in a clean environment",
    "pytest": "runs the tests, and so would run itself",
    "just docs serve": "does not end",
    "just plant": "starts servers; tests/servers/test_plant.py runs a smaller plant",
    "docker": "needs Docker; tests/servers/kafka/test_tutorial.py starts the same broker from its jars",
}
"""The commands that the documentation shows and no test runs, with the reason."""

SPARK_NOISE = re.compile(
    r"WARNING: Using incubator modules|Using Spark's default log4j profile|Setting default log level"
    r"|To adjust logging level|\d\d/\d\d/\d\d \d\d:\d\d:\d\d WARN "
)
"""What Spark logs while a process of its own starts; the pages leave it out, and say so."""

PASSIVE = {"text", "csv", "json", "svg", "toml", "turtle"}
"""Languages of blocks that are only files or answers."""


@dataclass
class Session:
    """A page while it runs: its folder, the names that its Python blocks share, and the last exit code.

    `typed`: every command is a process of its own, as a reader types it. `programs`: the folder of its `transom` and
    `python`. `environment`: more variables for it. `stand_ins`: what the page writes, such as the address of a server,
    and what stands for it in this run.
    """

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__page__"})
    code: int = 0
    typed: bool = False
    stand_ins: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    programs: Path = Path(sys.executable).parent

    @staticmethod
    def begin(folder: Path, page: Path) -> Session:
        """A session in a folder with a copy of the examples, or for a tutorial in an empty one."""
        if not alone(page):
            shutil.copytree(ROOT / "examples", folder / "examples")
        return Session(folder)

    def run(self, block: Block, answer: Block | None) -> tuple[Block, list[str]] | None:
        """Run one block; if it does not give what the page says, the block that says so and what it should say."""
        self.keep(block)
        match block.language:
            case "console":
                given = self.console(block)
                return (block, given) if unlike(list(block.lines), given) else None
            case "python" if block.title is not None:
                return None  # a program: a command runs it
            case "python":
                given = self.python(block.text)
            case "sneeql" | "cql" | "sparql":
                given = self.query(block, answered=answer is not None)
            case "yaml" if (block.title or "").endswith((".test.yaml", ".yml")):
                return None  # test cases, which a command runs, or a workflow
            case "yaml":
                given = self.catalog(block.text, refused=answer is not None)
            case language:
                assert language in PASSIVE, f"no test knows what to do with {language!r}"
                return None
        if answer is None:
            return None
        return (answer, given) if unlike(list(answer.lines), given) else None

    def end(self) -> None:
        """End what the page started in the background, by the files that it put the ids of processes into."""
        for file in self.folder.glob("*.pid"):
            process = Path("/proc", file.read_text("utf-8").strip())
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == self.folder:
                    os.kill(int(process.name), signal.SIGKILL)

    def keep(self, block: Block) -> None:
        """A block with a title is a file of that name."""
        if block.title is not None and not block.title.startswith("--"):
            self.write(block.title, block.text)

    def write(self, path: str, text: str) -> None:
        """A file in the folder of the page."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(self.real(text), "utf-8")

    def real(self, text: str) -> str:
        """What the page writes, with its stand-ins."""
        for shown, stand_in in self.stand_ins.items():
            text = text.replace(shown, stand_in)
        return text

    def shown(self, text: str) -> str:
        """What was printed, as the page writes it: without stand-ins and without the folder."""
        for shown, stand_in in self.stand_ins.items():
            text = text.replace(stand_in, shown)
        return text.replace(f"{self.folder}{os.sep}", "")

    def console(self, block: Block) -> list[str]:
        """The block with the output that its commands really give; what stands for any lines stays."""
        output: list[str] = []
        for command, said in commands_of(block):
            given = said if not_run(command) else self.command(command)
            output += [f"$ {command}", *(given if unlike(said, given) else said)]
        return output

    def command(self, command: str) -> list[str]:
        """What a command prints: transom runs in this process, anything else in a shell."""
        if command == "echo $?":
            return [str(self.code)]
        if command.startswith("transom ") and not self.typed and not re.search(r"[|<>]", command):
            return self.transom(*shlex.split(command)[1:])
        path = os.pathsep.join([str(self.programs), os.environ.get("PATH", "")])
        done = subprocess.run(  # noqa: S602 - the commands are those of our own pages
            self.real(command),
            shell=True,
            cwd=self.folder,
            env={**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
        self.code = done.returncode
        lines = tidy(self.shown(done.stdout.decode("utf-8")))
        return [line for line in lines if not (self.typed and SPARK_NOISE.match(line))]

    def transom(self, *arguments: str) -> list[str]:
        """What `transom` prints, errors included."""
        if self.typed:
            return self.command(shlex.join(["transom", *arguments]))
        with self.captured() as printed, mock.patch.object(sys, "argv", ["transom", *arguments]):
            try:
                main()
                self.code = 0
            except SystemExit as stop:
                self.code = stop.code if isinstance(stop.code, int) else 0
        return self.said(printed)

    def python(self, text: str) -> list[str]:
        """What a Python block prints."""
        with self.captured() as printed:
            exec(compile(text, "page", "exec"), self.names)  # noqa: S102 - the pages are our own
        return self.said(printed)

    def said(self, printed: io.StringIO) -> list[str]:
        """What was printed, with paths as the page writes them."""
        return tidy(self.shown(printed.getvalue()))

    def catalog(self, text: str, *, refused: bool) -> list[str]:
        """The message that refuses a catalog; one that nobody calls wrong is read."""
        try:
            Catalog.read(text, folder=self.folder)
        except CatalogError as error:
            if not refused:
                raise
            return tidy(f"error: {error}")
        return []

    def query(self, block: Block, *, answered: bool) -> list[str]:
        """The answer to a query over the page's catalog, or the message that refuses it."""
        options = shlex.split(block.title or "") if (block.title or "").startswith("--") else []
        ending = {"sparql": "rq"}.get(block.language, block.language)
        name = f"query.{ending}" if options or block.title is None else block.title
        self.write(name, block.text)
        if not (self.folder / name).with_name("catalog.yaml").exists():
            options += ["--catalog", "examples/roads/catalog.yaml"]
        given = self.transom("simulate" if answered else "check", name, *options)
        assert answered or self.code == 0, "\n".join(given)
        return given

    @contextlib.contextmanager
    def captured(self) -> Iterator[io.StringIO]:
        """Run inside the page's folder with all output in one place."""
        printed = io.StringIO()
        plain = {"COLUMNS": "100", "NO_COLOR": "1"}
        with (
            contextlib.chdir(self.folder),
            mock.patch.dict(os.environ, plain),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            os.environ.pop("FORCE_COLOR", None)
            yield printed


def commands_of(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the output that the page gives it."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.lines:
        if line.startswith("$ "):
            commands.append((line[2:].rstrip(), []))
        else:
            assert commands, f"output before the first command: {line}"
            commands[-1][1].append(line)
    return commands


def not_run(command: str) -> str | None:
    """The exception that a command falls under, if any."""
    return next((start for start in NOT_RUN if re.match(rf"{re.escape(start)}\b", command)), None)


def tidy(output: str) -> list[str]:
    """Lines without blanks at their ends, and no blank lines at the end."""
    return [line.rstrip() for line in output.rstrip().split("\n")] if output.strip() else []


def unlike(said: list[str], given: list[str]) -> bool:
    """Whether output differs from what a page says; a line `...` there stands for any lines, `(... s)` for a time."""

    def form(line: str) -> str:
        return re.escape(line.rstrip()).replace(r"\(\.\.\.\ s\)", r"\((?:\d+(?:\.\d+)?|\.\.\.) s\)") + "\n"

    pattern = "".join("(?:.*\n)*?" if line.strip() == "..." else form(line) for line in said)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in given)) is None
