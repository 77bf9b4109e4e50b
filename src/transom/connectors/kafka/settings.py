"""What Kafka's two clients are told of brokers, TLS and a login: librdkafka in Python, and Java's client in Spark.

The options of a catalog may have the names of either; what only the other one has is translated, or refused by name.
"""

from __future__ import annotations

import json
import re
from typing import Any, Protocol

from transom.catalog.kafka_options import MECHANISM, protocol
from transom.catalog.references import resolved
from transom.catalog.servers import BATCHES
from transom.catalog.tls import Tls
from transom.errors import UsageError

_JAAS = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')
_MODULES = {"PLAIN": "plain.PlainLoginModule", "SCRAM": "scram.ScramLoginModule"}
_ONLY_JAVA = ("ssl.truststore.", "ssl.keystore.", "ssl.engine.")
_ONLY_PYTHON = ("ssl.ca.pem", "ssl.certificate.", "ssl.key.location", "ssl.key.pem", "ssl.crl.location")


class Brokers(Protocol):
    """What a source, a log and a sink in Kafka have in common."""

    @property
    def servers(self) -> str:
        """Hosts and ports, with commas between them."""

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Settings of Kafka's own."""

    @property
    def user(self) -> str | None:
        """Who we are."""

    @property
    def password(self) -> str | None:
        """A reference."""

    @property
    def tls(self) -> Tls | None:
        """Whom to trust, and what to show."""


def python_settings(place: Brokers) -> dict[str, Any]:
    """The settings of a connection as librdkafka names them."""
    found: dict[str, Any] = _given(place)
    jaas = found.pop("sasl.jaas.config", None)
    if jaas is not None:
        found |= {f"sasl.{name}": re.sub(r"\\(.)", r"\1", value) for name, value in _JAAS.findall(jaas)}
    if place.user is not None:
        found |= {"sasl.username": resolved(place.user), "sasl.password": resolved(place.password or "")}
    if found.get("ssl.truststore.type") == "PEM" and "ssl.truststore.location" in found:
        found["ssl.ca.location"] = found.pop("ssl.truststore.location")
        del found["ssl.truststore.type"]
    _refuse(found, _ONLY_JAVA, "Java", "outside of Spark")
    if place.tls is not None:
        files = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")
        paths = (place.tls.ca, place.tls.certificate, place.tls.key_file)
        found |= {name: path for name, path in zip(files, paths) if path is not None}
    return {**found, "bootstrap.servers": resolved(place.servers)}


def java_settings(place: Brokers) -> dict[str, str]:
    """The settings of a connection as Java's client names them."""
    found = _given(place)
    if "sasl.mechanisms" in found:
        found["sasl.mechanism"] = found.pop("sasl.mechanisms")
    user, password = found.pop("sasl.username", None), found.pop("sasl.password", "")
    if place.user is not None:
        user, password = resolved(place.user), resolved(place.password or "")
    if user is not None:
        module = _MODULES.get(found.get("sasl.mechanism", "PLAIN").partition("-")[0], _MODULES["PLAIN"])
        said = (("username", user), ("password", password))
        words = " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in said)
        found["sasl.jaas.config"] = f"org.apache.kafka.common.security.{module} required {words};"
    ca, both = found.pop("ssl.ca.location", None), None
    if place.tls is not None:
        ca, both = place.tls.ca, place.tls.certificate
    elif found.get("ssl.certificate.location") == found.get("ssl.key.location"):
        both = found.pop("ssl.certificate.location", None)
        found.pop("ssl.key.location", None)
    _refuse(found, _ONLY_PYTHON, "Python", "on Spark")
    if ca is not None:
        found |= {"ssl.truststore.location": ca, "ssl.truststore.type": "PEM"}
    if both is not None:
        found |= {"ssl.keystore.location": both, "ssl.keystore.type": "PEM"}
    return {**found, "bootstrap.servers": resolved(place.servers)}


def is_secured(place: Brokers) -> bool:
    """Whether a connection has TLS or a login."""
    return place.tls is not None or place.user is not None or "security.protocol" in dict(place.options)


def _given(place: Brokers) -> dict[str, str]:
    """The options, and what TLS and a login mean for both clients."""
    found = {name: resolved(value) for name, value in place.options if name not in BATCHES}
    if place.tls is not None:
        place.tls.check()
    if place.tls is not None or place.user is not None:
        found.setdefault("security.protocol", protocol(tls=place.tls is not None, user=place.user is not None))
    if place.user is not None and "sasl.mechanisms" not in found:
        found.setdefault("sasl.mechanism", MECHANISM)
    return found


def _refuse(found: dict[str, str], prefixes: tuple[str, ...], whose: str, where: str) -> None:
    for name in found:
        if name.startswith(prefixes):
            hint = "write tls: {ca: PATH, certificate: PATH}, which both clients of Kafka are told"
            raise UsageError(f"the option {name} of Kafka's client for {whose} cannot be used {where}", hint=hint)
