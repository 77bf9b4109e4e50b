"""The routes by which programs ask a running collector, and the server that has them."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from transom.collector.status import CollectorStatus
from transom.project.entries import LimitsEntry
from transom.serving.http.collector_metrics import CollectorMetrics
from transom.serving.http.routing import create_routes, metrics_response, state_response
from transom.serving.http.server import AppServer, Listening


class CollectorServer(AppServer):
    """The HTTP server of a collector, in a thread; as a context, it stops at the end of the block."""

    def __init__(self, status: CollectorStatus, listening: Listening) -> None:
        """Open the address, and tell the status of a collector there; raise Unavailable if the address is in use.

        The limits are those of a project that declares none.
        """
        super().__init__(create_collector_app(status), listening, LimitsEntry())


def create_collector_app(status: CollectorStatus) -> Starlette:
    """Return the application that answers requests about a collector, and does not check who asks."""

    async def healthz(request: Request) -> Response:
        """Whether the collector works; 503 if it has hung."""
        return state_response({"healthy": status.is_healthy}, is_good=status.is_healthy)

    async def readyz(request: Request) -> Response:
        """Whether the first start of each extent is over; 503 before, and while the collector stops."""
        up = sum(extent.is_up for extent in status.extents.values())
        content = {"ready": status.is_ready, "extents": {"up": up, "down": len(status.extents) - up}}
        return state_response(content, is_good=status.is_ready)

    async def metrics(request: Request) -> Response:
        """The figures of the collector for Prometheus."""
        return metrics_response(CollectorMetrics(status))

    return create_routes([Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])
