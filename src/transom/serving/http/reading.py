"""What a program reads of a served project: the responses that `transom status` uses, checked and typed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from transom.errors import UsageError
from transom.serving.http.client import ProjectClient


class RowSums(BaseModel):
    """The rows of all sources of a query by outcome, since its first start."""

    read: int
    used: int
    late: int
    rejected: int
    outside: int


class StateSize(BaseModel):
    """The rows in the state of a query, and their bound: as text, and as a number if it is one."""

    rows: int
    bound: str
    bound_rows: int | None


class ListedChange(BaseModel):
    """What becomes of a query's changed files while its run goes on: `refused` or `checking`, since when, and why."""

    status: str
    since: datetime
    error: str | None


class ListedQuery(BaseModel):
    """One query of a served project; figures are None before its first start."""

    name: str
    status: str
    since: datetime
    restarts: int
    lag_seconds: float | None
    watermark_delay_seconds: float | None
    rows: RowSums | None
    state: StateSize | None
    error: str | None
    change: ListedChange | None


class ServedProject(BaseModel):
    """A served project: its address, whether it is ready, the error of its file, and its queries."""

    address: str
    ready: bool
    error: str | None
    queries: list[ListedQuery]


def read_served(client: ProjectClient) -> tuple[ServedProject, dict[str, Any]]:
    """Ask a server for its queries; return them typed, and as the JSON objects that it has sent.

    What needs no token is asked first, so that the token goes to no other kind of server. Raise UsageError if the
    responses are not those of `transom serve`.
    """
    ready = client.get("/readyz", authorized=False)
    if not isinstance(ready.get("ready"), bool):
        raise UsageError(f"{client.url} answers, but is no `transom serve`", detail="/readyz has another content")
    document = {"address": client.url, "ready": ready["ready"], **client.get("/queries")}
    try:
        return ServedProject.model_validate(document, strict=False), document
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{client.url} answers, but is no `transom serve` of this version",
            detail=f"/queries: {where}: {first['msg']}",
            hint="use the version of Transom that serves the project",
        ) from error
