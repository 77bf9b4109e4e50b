"""The connection over which the dead letters of an extent return: a topic, a broker, or an HTTP receiver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from transom.catalog.extent import Extent
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import HttpPush, Kafka, Mqtt
from transom.catalog.tls import Tls
from transom.connectors.dead_letters.resend import Sender
from transom.errors import UsageError

_ANYWHERE = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]", "::": "[::1]"}  # noqa: S104 - addresses to replace
"""Addresses at which a receiver listens on all interfaces, and how to reach it on this computer."""


def target_name(extent: Extent, to: str | None) -> str:
    """Return the name of the place to which dead letters of an extent return; `to` replaces a topic or a receiver."""
    match extent.source:
        case Kafka(topic=topic):
            return to or resolve_references(topic)
        case HttpPush(tls=Tls(ca=str())):
            hint = "send the messages yourself: _raw of the entries with _kind = 'dead' in the log"
            raise UsageError("the receiver asks senders for a certificate, and resend has none", hint=hint)
        case HttpPush() as source:
            scheme = "http" if source.tls is None else "https"
            return to or f"{scheme}://{_ANYWHERE.get(source.host, source.host)}:{source.port}{source.path}"
        case Mqtt(broker=broker):
            if to is not None:
                hint = "leave out --to: each message returns to its own topic"
                raise UsageError(f"{extent.name} reads several topics of an MQTT broker", hint=hint)
            url = urlsplit(resolve_references(broker))
            return f"{url.scheme}://{url.hostname}" + (f":{url.port}" if url.port else "")
        case _:
            raise UsageError(f"{extent.name} receives no messages, so nothing can be sent to it")


@contextmanager
def open_sender(extent: Extent, to: str | None, authority: Path | None, *, repeat: bool) -> Iterator[Sender]:
    """Open the connection to the target of an extent's dead letters, with the TLS and login of its source.

    `to` and the `authority` to trust are for receivers as in their URLs; `repeat` makes a receiver take a message that
    it has recognised before.
    """
    target = target_name(extent, to)
    match extent.source:
        case Kafka() as source:
            from transom.connectors.dead_letters.to_topic import TopicSender

            with closing(TopicSender(source, target)) as topic_sender:
                yield topic_sender
        case Mqtt() as source:
            from transom.connectors.dead_letters.to_broker import BrokerSender

            with closing(BrokerSender(source, target)) as broker_sender:
                yield broker_sender
        case HttpPush() as source:
            from transom.connectors.dead_letters.to_receiver import ReceiverSender

            with closing(ReceiverSender(source, target, authority, repeat=repeat)) as receiver_sender:
                yield receiver_sender
