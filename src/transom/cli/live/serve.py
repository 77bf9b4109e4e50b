"""The command `serve`: all queries of a project in one Spark application."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transom.cli import output
from transom.cli import run as running
from transom.cli.arguments import Quiet
from transom.cli.live.listening import (
    CertificateOption,
    KeyOption,
    ListenOption,
    ProxyOption,
    TokenOption,
    read_listening,
)
from transom.cli.output import log_event, remark, say, use_json_lines, warn
from transom.cli.signals import StopRequest
from transom.errors import EngineError

if TYPE_CHECKING:
    from transom.serving.events import Event
    from transom.serving.http.server import Listening
    from transom.serving.supervisor import Supervisor

ProjectPath = Annotated[
    Path, typer.Argument(metavar="[PROJECT]", help="The transom.toml, or its folder; default: this folder.")
]
MOST_STOPS = 32
"""Queries that are stopped at the same time; each may take until the end of its micro-batch."""
STEP_SECONDS = 0.5
"""Seconds between two looks at the project's files and queries."""


def serve(
    project: ProjectPath = Path(),
    listen: ListenOption = "127.0.0.1:8470",
    no_http: Annotated[bool, typer.Option("--no-http", help="Answer no requests of programs.")] = False,
    token_file: TokenOption = None,
    tls_certificate: CertificateOption = None,
    tls_key: KeyOption = None,
    behind_proxy: ProxyOption = None,
    master: running.MasterOption = None,
    log_format: running.LogFormatOption = running.LogFormat.auto,
    quiet: Quiet = False,
) -> None:
    """Run all queries of a project until you stop it; it follows changes of their files, and answers programs."""
    output.set_verbosity(quiet=quiet)
    with use_json_lines(running.wants_json(log_format, once=False)), running.stop_on_signal() as stop:
        running.require_spark()
        from transom.serving.starting import SESSION_SETTINGS, SparkStarter
        from transom.serving.supervisor import Supervisor
        from transom.serving.watch import ProjectWatch

        listening = None
        if not no_http:
            hint = "or leave it out with --no-http"
            listening = read_listening(listen, token_file, tls_certificate, tls_key, behind_proxy, hint)
        watch = ProjectWatch(project)
        starter = SparkStarter(running.start_session(master, SESSION_SETTINGS))
        with ThreadPoolExecutor(1) as starts, ThreadPoolExecutor(MOST_STOPS) as stops:
            supervisor = Supervisor(watch, starter, starts, stops, on_event=print_event)
            stop.listen()  # PySpark has replaced the handler of SIGINT
            with http_server(supervisor, listening) as address:
                if address is not None:
                    remark(f"listening on {address}", err=True)
                supervise(supervisor, stop)


@contextmanager
def http_server(supervisor: Supervisor, listening: Listening | None) -> Iterator[str | None]:
    """Serve a project over HTTP in the block, unless `listening` is None; yield the address.

    `transom status` finds the address in the state folder of the project.
    """
    if listening is None:
        yield None
        return
    from transom.serving.address import published_address, reachable
    from transom.serving.http.app import ProjectServer

    with ProjectServer(supervisor, listening) as server, ExitStack() as at_end:
        state = supervisor.project.state
        try:
            at_end.enter_context(published_address(state, reachable(server.address)))
        except OSError as error:
            warn(f"warning: cannot write the address to {state}, so `transom status` needs the URL: {error.strerror}")
        yield server.address


def supervise(supervisor: Supervisor, stop: StopRequest) -> None:
    """Run the queries until a stop is requested, then stop them between two micro-batches."""
    stop.polled = True
    try:
        while not stop.requested:
            supervisor.step()
            time.sleep(STEP_SECONDS)
    except EngineError:
        if not stop.requested:  # under spark-submit, a signal to the process group ends Spark, too
            raise
    finally:
        supervisor.stop()
        while not supervisor.has_stopped:
            supervisor.step()
            time.sleep(STEP_SECONDS / 5)


CHANGES = {
    "accepted": "its changed files take over",
    "withdrawn": "its files are again those that run",
    "refused": "its changed files are refused, and the old query goes on",
    "waiting": "its changed files cannot be checked yet, and the old query goes on",
}
"""What `serve` prints about the changed files of a query that runs."""


def _what_happened(event: Event) -> str:
    """Return what an event that is no micro-batch tells."""
    if event.kind == "change":
        return CHANGES[event.fields["change"]]
    return str(event.fields.get("status", "read again"))


def print_event(event: Event) -> None:
    """Print an event of the project: as a line of JSON, or as text without the micro-batches."""
    if output.is_json():
        if not (output.is_quiet() and event.kind == "batch"):
            log_event(event.kind, query=event.query, **event.fields)
        return
    if event.kind == "batch" or (output.is_quiet() and "message" not in event.fields):
        return
    about = event.query or "project"
    text = f"{about}: {_what_happened(event)}"
    if message := event.fields.get("message"):
        lines = str(message).splitlines()
        say("\n".join([f"{text}: {lines[0]}", *lines[1:]]), "yellow", err=True)
        return
    say(text, err=True)
    for note in event.fields.get("notes", ()):
        say(f"  {note}", err=True)
