"""Sinks as the user writes them: the console, a folder of files, or the address of a server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transom.catalog.addresses import broker_tls, kafka_topic, libpq_parameters, read_address, webhook_tls
from transom.errors import UsageError

SINK_FORMS = (
    "console",
    "parquet:DIR",
    "jsonl:DIR",
    "kafka://HOST:PORT/TOPIC",
    "postgresql://USER@HOST:PORT/DATABASE/TABLE",
    "mqtt://USER@HOST:PORT/TOPIC",
    "webhook:URL",
)
FOLDER_FORMATS = {"parquet": "parquet", "jsonl": "json"}
_SERVER_KINDS = ("kafka", "postgresql", "mqtt", "mqtts")


@dataclass(frozen=True)
class Sink:
    """A kind of sink, and the folder it writes into or the address it sends to."""

    kind: str
    folder: str | None = None
    address: str | None = None

    @staticmethod
    def read(text: str) -> Sink:
        """Parse a sink such as console, parquet:DIR or kafka://...; raise UsageError if it is invalid."""
        kind, _, rest = text.partition(":")
        if kind == "console" and not rest:
            return Sink("console")
        if kind in FOLDER_FORMATS and rest:
            return Sink(kind, rest if "://" in rest else str(Path(rest).absolute()))
        if kind in _SERVER_KINDS and rest.startswith("//"):
            return _server_sink(kind, text)
        if kind == "webhook" and rest.startswith(("http://", "https://")):
            return _server_sink(kind, rest)
        raise UsageError(f"no sink is called {_mask_secrets(text)}", hint=f"sinks are {', '.join(SINK_FORMS)}")

    def attach(self, writer: Any) -> Any:
        """Set a console or folder sink on a Spark writer, streaming or batch; raise UsageError for a server."""
        if self.address is not None:
            raise UsageError(f"{self.kind} takes the answers of a live run", hint="a replay writes files")
        if self.folder is None:
            return writer.format("console").option("truncate", "false").option("numRows", 50)
        return writer.format(FOLDER_FORMATS[self.kind]).option("path", self.folder)

    def __str__(self) -> str:
        """The sink as the user writes it: its kind, and its folder or address."""
        target = self.folder or self.address
        return self.kind if target is None else f"{self.kind}:{target}"


def _server_sink(kind: str, text: str) -> Sink:
    """Parse the sink of a server, such as kafka://...; raise UsageError if its address or an option is invalid."""
    form = next(form for form in SINK_FORMS if form.startswith(kind.removesuffix("s")))
    address = read_address(text, form)
    if (kind in _SERVER_KINDS and not address.name) or (kind == "postgresql" and address.name.count("/") != 1):
        raise UsageError(f"{kind} goes to {form}, and the address is another", hint=f"write {form}")
    match kind:
        case "kafka":
            kafka_topic(address)
        case "postgresql":
            libpq_parameters(address)
        case "mqtt" | "mqtts":
            broker_tls(address)
        case _:
            webhook_tls(address)
    return Sink("mqtt" if kind == "mqtts" else kind, None, text)


def _mask_secrets(text: str) -> str:
    """Return the text of a sink for an error message, without user and options, which may hold secrets."""
    return re.sub(r"//[^/@]*@", "//...@", text).partition("?")[0]
