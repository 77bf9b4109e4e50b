"""Build the site, or serve it while you write: `python -m website build` and `python -m website serve`.

`build` ends with exit code 1 on a dead link. The version shown is that of the package. The address of the repository,
and with it the edit links, and the address of the site come from `Source` and `Documentation` under `[project.urls]` in
`pyproject.toml`; without them the site has neither.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from transom.version import __version__
from website.llms import FILE, text

ROOT = Path(__file__).parents[1]
GENERATORS = ("mkdocs", "zensical")
EDIT = "edit/main/docs/"
"""The path below the repository's address at which a page can be edited, as on GitHub; others: `TRANSOM_EDIT`."""


def settings(project: Path = ROOT / "pyproject.toml") -> dict[str, str]:
    """The environment variables that `mkdocs.yml` reads: the version, and the addresses that the project declares."""
    urls = tomllib.loads(project.read_text("utf-8"))["project"].get("urls", {})
    values = {
        "TRANSOM_VERSION": __version__,
        "TRANSOM_REPOSITORY": urls.get("Source"),
        "TRANSOM_SITE": urls.get("Documentation"),
    }
    return {name: value for name, value in values.items() if value}


def environment(folder: Path) -> dict[str, str]:
    """The environment of a site generator; what is in this process's environment already has precedence."""
    inside = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder  # Zensical wants a relative path
    values = {"NO_MKDOCS_2_WARNING": "1", **settings(), **os.environ, "TRANSOM_SITE_FOLDER": str(inside)}
    if values.get("TRANSOM_REPOSITORY"):
        values.setdefault("TRANSOM_EDIT", EDIT)
    return values


def run(generator: str, *arguments: str, folder: Path = ROOT / "site") -> int:
    """Run a site generator in the repository with the site's settings; returns its exit code.

    `TRANSOM_REPOSITORY=https://... python -m website build` builds a site with edit links, whatever is declared.
    """
    command = [sys.executable, "-m", generator, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment(folder), check=False).returncode  # noqa: S603


def build(generator: str, folder: Path) -> int:
    """Build the site into a folder, which is emptied before; returns the exit code of the generator."""
    if generator == "mkdocs":
        return run("mkdocs", "build", "--strict", "--quiet", folder=folder)
    if not folder.is_relative_to(ROOT):
        print(f"Zensical writes only into {ROOT}, and {folder} is outside", file=sys.stderr)
        return 2
    return run("zensical", "build", "--strict", "--clean", folder=folder)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m website", description="The documentation as a site.")
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="build it; a dead link is an error")
    builder.add_argument("--site-dir", type=Path, default=ROOT / "site", metavar="FOLDER")
    commands.add_parser("llms", help="write docs/llms.txt, the list of all pages for language models")
    for command in (builder, commands.add_parser("serve", help="serve it, and build it again after each change")):
        command.add_argument("--with", dest="generator", choices=GENERATORS, default=GENERATORS[0])
    options = parser.parse_args()
    if options.command == "llms":
        FILE.write_text(text(), "utf-8")
        return 0
    if options.command == "build":
        return build(options.generator, options.site_dir.resolve())
    return run(options.generator, "serve")


if __name__ == "__main__":
    sys.exit(main())
