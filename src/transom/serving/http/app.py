"""The routes by which programs ask a running project, and the server that has them."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from transom.errors import DataError, TransomError, UsageError
from transom.model.run_time import parse_time
from transom.serving.answers import AnswerFolder, AnswerRows
from transom.serving.http.access import Refusal
from transom.serving.http.formats import MEDIA_TYPES, encode
from transom.serving.http.metrics import ProjectCollector
from transom.serving.http.routing import (
    create_routes,
    json_response,
    metrics_response,
    refuse_parameters,
    state_response,
)
from transom.serving.http.server import AppServer, Listening
from transom.serving.http.streams import FollowedFolder, follow_answers, follow_events
from transom.serving.member import Member, Status
from transom.serving.newest import KeyColumns, NewestRows, newest_of_each
from transom.serving.supervisor import Supervisor
from transom.serving.views import details, project_view

DEFAULT_ROWS = 100
_EVENTS = "text/event-stream"
_BY_TYPE = {
    "application/json": "json",
    "text/csv": "csv",
    "application/vnd.apache.arrow.stream": "arrow",
    _EVENTS: "events",
}


def create_app(supervisor: Supervisor) -> Starlette:
    """Return the application that answers requests about a project, and does not check who asks."""
    routes = Routes(supervisor, supervisor.project.limits.answer_rows)
    return create_routes(
        [
            Route("/healthz", routes.healthz),
            Route("/readyz", routes.readyz),
            Route("/metrics", routes.metrics),
            Route("/events", routes.events),
            Route("/queries", routes.queries),
            Route("/queries/{name}", routes.query),
            Route("/queries/{name}/answers", routes.answers),
        ],
        {TransomError: _refuse_answers},
    )


class ProjectServer(AppServer):
    """The HTTP server of a project, in a thread; as a context, it stops at the end of the block."""

    def __init__(self, supervisor: Supervisor, listening: Listening) -> None:
        """Open the address, and serve the project there; raise Unavailable if the address is in use."""
        super().__init__(create_app(supervisor), listening, supervisor.project.limits)


class Routes:
    """The functions behind the routes."""

    def __init__(self, supervisor: Supervisor, most_rows: int) -> None:
        """Answer requests about the queries of a supervisor, with at most `most_rows` rows at once."""
        self._supervisor = supervisor
        self._most_rows = most_rows
        self._followed_folders: dict[str, FollowedFolder] = {}

    async def healthz(self, request: Request) -> Response:
        """Whether the supervisor works; 503 if it has hung."""
        healthy = self._supervisor.is_healthy
        return state_response({"healthy": healthy}, is_good=healthy)

    async def readyz(self, request: Request) -> Response:
        """Whether the first start of each query is over; 503 before, and while the project stops."""
        ready = self._supervisor.is_ready
        members = list(self._supervisor.members.values())
        counts = {status.value: sum(member.status is status for member in members) for status in Status}
        content = {"ready": ready, "queries": {status: count for status, count in counts.items() if count}}
        return state_response(content, is_good=ready)

    async def metrics(self, request: Request) -> Response:
        """The figures of the project for Prometheus."""
        return metrics_response(ProjectCollector(self._supervisor))

    async def queries(self, request: Request) -> Response:
        """All queries with their status."""
        refuse_parameters(request, ())
        return json_response(project_view(self._supervisor))

    async def query(self, request: Request) -> Response:
        """One query: its text, its plan, and how its run gets on."""
        refuse_parameters(request, ())
        return json_response(await run_in_threadpool(details, self._member(request)))

    async def events(self, request: Request) -> Response:
        """What happens in the project, from now on or after the event that the reader has seen last."""
        refuse_parameters(request, ("query",))
        query = request.query_params.get("query")
        if query is not None and query not in self._supervisor.members:
            raise Refusal(HTTPStatus.NOT_FOUND, "no query has this name", "/queries lists them")
        events = self._supervisor.events
        text = request.headers.get("last-event-id")
        if text is not None and not (text.isascii() and text.isdecimal() and len(text) <= 18):
            raise Refusal(HTTPStatus.BAD_REQUEST, "Last-Event-ID is the number of an event")
        last = events.last if text is None else int(text)
        return StreamingResponse(follow_events(events, last, query), media_type=_EVENTS)

    async def answers(self, request: Request) -> Response:
        """The newest answers of a query, or those since a tick; with the format events those that come."""
        refuse_parameters(request, ("format", "limit", "newest", "since"))
        member = self._member(request)
        folder = AnswerFolder(member.declared.settings.sink)
        format = _format(request)
        if format == "events":
            if {"limit", "newest", "since"} & set(request.query_params):
                raise Refusal(HTTPStatus.BAD_REQUEST, "events begin now", "leave out limit, newest and since")
            followed = self._followed(member.declared.settings.sink, folder)
            return StreamingResponse(follow_answers(followed), media_type=_EVENTS)
        limit = self._limit(request)
        first = _instant_of(member, request.query_params.get("since"))
        newest = self._newest_of_each(member, request, limit)
        body, more = await run_in_threadpool(_encode_newest, folder, limit, first, newest, format)
        headers = {"transom-more": str(more).lower(), "content-type": MEDIA_TYPES[format]}
        return Response(body, headers=headers)

    def _followed(self, sink: str, folder: AnswerFolder) -> FollowedFolder:
        """Return the folder of a sink as all its readers share it; those of former sinks are forgotten."""
        sinks = {member.declared.settings.sink for member in list(self._supervisor.members.values())}
        self._followed_folders = {name: kept for name, kept in self._followed_folders.items() if name in sinks}
        return self._followed_folders.setdefault(sink, FollowedFolder(folder, self._most_rows))

    def _member(self, request: Request) -> Member:
        """Return the query that the path names; raise Refusal if there is none."""
        member = self._supervisor.members.get(request.path_params["name"])
        if member is None:
            raise Refusal(HTTPStatus.NOT_FOUND, "no query has this name", "/queries lists them")
        return member

    def _limit(self, request: Request) -> int:
        """Return how many rows the reader wants at most; raise Refusal if that is no number, or too many."""
        text = request.query_params.get("limit", str(min(DEFAULT_ROWS, self._most_rows)))
        if not (text.isascii() and text.isdecimal() and len(text) <= 9 and 1 <= int(text) <= self._most_rows):
            raise Refusal(HTTPStatus.BAD_REQUEST, f"limit is a number from 1 to {self._most_rows}")
        return int(text)

    def _newest_of_each(self, member: Member, request: Request, limit: int) -> NewestRows | None:
        """Return what collects the newest rows by the columns of the parameter `newest`; None without it."""
        columns = request.query_params.get("newest")
        if columns is None:
            return None
        if member.last is None:
            raise UsageError("the query has never run, so its columns are not known", hint="leave out newest")
        try:
            return NewestRows(KeyColumns(member.last, columns), limit, self._most_rows)
        except UsageError as error:
            raise Refusal(HTTPStatus.BAD_REQUEST, error.message, error.hint) from error


def _encode_newest(
    folder: AnswerFolder, limit: int, first: datetime | None, newest: NewestRows | None, format: str
) -> tuple[bytes, bool]:
    """Read the newest rows of a folder, or those of each key, and encode them; also return whether there are others."""
    answers: AnswerRows = folder.newest(limit, first) if newest is None else newest_of_each(folder, newest, first)
    return encode(answers, format), answers.more


def _instant_of(member: Member, since: str | None) -> datetime | None:
    """Return the instant at which the tick of the parameter `since` ends; None without it."""
    if since is None:
        return None
    if member.last is None:
        raise UsageError("the query has never run, so its ticks are not known", hint="leave out since")
    calendar = member.last.query.catalog.calendar
    try:
        return calendar.instant_of(parse_time(since, "since", calendar) + 1)
    except OverflowError:
        raise UsageError("since lies after the year 9999", hint="give an earlier tick") from None


def _format(request: Request) -> str:
    """Return the format that a reader asks for by the parameter `format`, or else by the header Accept."""
    format = request.query_params.get("format")
    if format is None:
        types = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
        return next((_BY_TYPE[name] for name in types if name in _BY_TYPE), "json")
    if format not in _BY_TYPE.values():
        raise Refusal(HTTPStatus.BAD_REQUEST, f"formats are {', '.join(_BY_TYPE.values())}")
    return format


async def _refuse_answers(request: Request, error: Exception) -> Response:
    """Return the response to a request for answers that cannot be read back: 400, 409 or 413."""
    assert isinstance(error, TransomError)  # noqa: S101 - it is registered for this class
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if isinstance(error, DataError) else HTTPStatus.CONFLICT
    if "since" in request.query_params and "since" in (error.hint or "") + error.message:
        status = HTTPStatus.BAD_REQUEST
    return Refusal(status, error.message, error.hint).response()
