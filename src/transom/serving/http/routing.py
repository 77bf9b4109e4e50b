"""What the applications of `serve` and of `collect` have in common: errors as JSON, health, and metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from transom.serving.http.access import Refusal
from transom.serving.json_text import to_json


def create_routes(routes: Sequence[Route], handlers: Mapping[Any, Callable[..., Any]] | None = None) -> Starlette:
    """Return an application with these routes; what it refuses is JSON, also if a handler of `handlers` refuses it."""
    refusals = {HTTPException: _refuse_path, Refusal: _refuse}
    app = Starlette(routes=routes, exception_handlers={**refusals, **(handlers or {})})
    app.router.redirect_slashes = False
    return app


def refuse_parameters(request: Request, known: tuple[str, ...]) -> None:
    """Raise Refusal for a parameter that the route does not know, or that occurs twice."""
    names = [name for name, _ in request.query_params.multi_items()]
    if len(set(names)) < len(names) or not set(names) <= set(known):
        expected = f"parameters are {', '.join(known)}, each once" if known else "this path has no parameters"
        raise Refusal(HTTPStatus.BAD_REQUEST, expected)


def json_response(content: object, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return a response with JSON."""
    return Response(to_json(content), status, media_type="application/json")


def state_response(content: Mapping[str, object], *, is_good: bool) -> Response:
    """Return the response of `/healthz` or `/readyz`: 200 if the state is good, else 503."""
    return json_response(content, HTTPStatus.OK if is_good else HTTPStatus.SERVICE_UNAVAILABLE)


def metrics_response(collector: Collector) -> Response:
    """Return the response of `/metrics`: what a collector of Prometheus' client yields, as text."""
    return Response(exposition(collector), headers={"content-type": CONTENT_TYPE_LATEST})


def exposition(collector: Collector) -> bytes:
    """Return the metrics that a collector of Prometheus' client yields, in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry)


async def _refuse(request: Request, error: Exception) -> Response:
    """Return the response to a refused request."""
    assert isinstance(error, Refusal)  # noqa: S101 - it is registered for this class
    return error.response()


async def _refuse_path(request: Request, error: Exception) -> Response:
    """Return the response to a path that no route has."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for this class
    return Refusal(HTTPStatus(error.status_code), error.detail.lower()).response()
