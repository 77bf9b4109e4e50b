"""Where answers go: the console, files that take each micro-batch exactly once, or servers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transom.catalog.addresses import broker_tls, database, hook_tls, kafka_topic, read_address
from transom.errors import UsageError

SINKS = (
    "console",
    "parquet:DIR",
    "jsonl:DIR",
    "kafka://HOST:PORT/TOPIC",
    "postgresql://USER@HOST:PORT/DATABASE/TABLE",
    "mqtt://USER@HOST:PORT/TOPIC",
    "webhook:URL",
)
FORMATS = {"parquet": "parquet", "jsonl": "json"}
_SERVERS = ("kafka", "postgresql", "mqtt", "mqtts")


@dataclass(frozen=True)
class Sink:
    """A kind of sink, and the folder it writes into or the address it sends to."""

    kind: str
    folder: str | None = None
    address: str | None = None

    @staticmethod
    def read(text: str) -> Sink:
        """A sink as one writes it; the address of a server may hold references, and no secret."""
        kind, _, rest = text.partition(":")
        if kind == "console" and not rest:
            return Sink("console")
        if kind in FORMATS and rest:
            return Sink(kind, rest if "://" in rest else str(Path(rest).absolute()))
        if kind in _SERVERS and rest.startswith("//"):
            return _server(kind, text)
        if kind == "webhook" and rest.startswith(("http://", "https://")):
            return _server(kind, rest)
        raise UsageError(f"no sink is called {_masked(text)}", hint=f"sinks are {', '.join(SINKS)}")

    def attach(self, writer: Any) -> Any:
        """A writer of Spark's, streaming or batch, that writes here."""
        if self.address is not None:
            raise UsageError(f"{self.kind} takes the answers of a live run", hint="a replay writes files")
        if self.folder is None:
            return writer.format("console").option("truncate", "false").option("numRows", 50)
        return writer.format(FORMATS[self.kind]).option("path", self.folder)

    def __str__(self) -> str:
        place = self.folder or self.address
        return self.kind if place is None else f"{self.kind}:{place}"


def _server(kind: str, text: str) -> Sink:
    """A sink at an address; what cannot be one, holds a secret, or has an option that means nothing is refused."""
    form = next(form for form in SINKS if form.startswith(kind.removesuffix("s")))
    address = read_address(text, form)
    if (kind in _SERVERS and not address.name) or (kind == "postgresql" and address.name.count("/") != 1):
        raise UsageError(f"{kind} goes to {form}, and the address is another", hint=f"write {form}")
    match kind:
        case "kafka":
            kafka_topic(address)
        case "postgresql":
            database(address)
        case "mqtt" | "mqtts":
            broker_tls(address)
        case _:
            hook_tls(address)
    return Sink("mqtt" if kind == "mqtts" else kind, None, text)


def _masked(text: str) -> str:
    """A sink as one wrote it, without what may be a secret."""
    return re.sub(r"//[^/@]*@", "//...@", text).partition("?")[0]
