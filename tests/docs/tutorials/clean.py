"""A new virtual environment with what a page says to install, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT, blocks_of
from tests.docs.run import commands_of


def install_line(page: Path) -> str:
    """The command of a page that installs Transom."""
    consoles = (block for block in blocks_of(page) if block.language == "console")
    commands = [command for block in consoles for command, _ in commands_of(block)]
    (line,) = (command for command in commands if command.startswith("pip install "))
    return line


def clean_environment(line: str, folder: Path) -> Path:
    """Type an install line in the checkout, in a new environment in a folder; the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    programs = folder / "bin"
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    path = os.pathsep.join([str(programs), variables.get("PATH", "")])
    done = subprocess.run(  # noqa: S602 - the line is one of our own pages
        line, shell=True, cwd=ROOT, env={**variables, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return programs
