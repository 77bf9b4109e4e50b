"""The command `status`: how the queries of a project get on that `transom serve` runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transom.cli import output
from transom.cli.live.listening import TokenOption, read_token
from transom.cli.output import say
from transom.errors import ProjectError, TransomError, Unavailable

if TYPE_CHECKING:
    from transom.serving.http.reading import ServedProject

ProjectOrUrl = Annotated[
    str,
    typer.Argument(
        metavar="PROJECT|URL", help="The transom.toml, or its folder, or the URL of `serve`; default: this folder."
    ),
]
AuthorityOption = Annotated[
    Path | None, typer.Option("--tls-ca", metavar="FILE", help="For https: the certificates to trust, as PEM.")
]
SETTLED = ("running", "ended")
"""The statuses of queries that need no attention."""


class StatusFormat(StrEnum):
    """How `status` shows the queries."""

    text = "text"
    json = "json"


def show_status(
    project: ProjectOrUrl = ".",
    token_file: TokenOption = None,
    tls_ca: AuthorityOption = None,
    format: Annotated[StatusFormat, typer.Option(help="How to show the queries.")] = StatusFormat.text,
) -> None:
    """Show how the queries of a served project get on: status, rows, lag, state and last error of each."""
    output.set_verbosity()
    from transom.serving.http.client import ProjectClient
    from transom.serving.http.reading import read_served

    token = None if token_file is None else read_token(token_file)
    served, document = read_served(ProjectClient(find_server(project), token, tls_ca))
    if format is StatusFormat.json:
        import json

        say(json.dumps(document, ensure_ascii=False, indent=2), json=True)
    else:
        from transom.cli.printing.queries import print_queries

        print_queries(served)
    if code := exit_code(served):
        raise SystemExit(code)


def find_server(project: str) -> str:
    """Return the URL of the server that `project` means: a URL, a project file, or the folder of one."""
    if "://" in project:
        return project
    from transom.project.project import find_project, read_project
    from transom.serving.address import ADDRESS_FILE, read_address

    file = find_project(Path(project)) or Path(project)
    try:
        state = read_project(file).state
    except ProjectError:
        state = file.absolute().parent / "state"
        if not (state / ADDRESS_FILE).exists():
            raise
    return read_address(state, file)


def exit_code(served: ServedProject) -> int:
    """Return 0 if all queries run or have ended, 1 if one or its change has failed, 75 if some are not settled."""
    unsettled = [query for query in served.queries if query.status not in SETTLED]
    changes = [query.change for query in served.queries if query.change is not None]
    failed = any(query.status == "refused" or query.error for query in unsettled) or any(c.error for c in changes)
    if served.error is not None or failed:
        return TransomError.exit_code
    return Unavailable.exit_code if unsettled or changes or not served.ready else 0
