"""Connection settings for both Kafka clients, TLS and login included: librdkafka in Python, and Java's in Spark.

Options in a catalog may use the names of either client. Names of the other client are translated, or refused.
"""

from __future__ import annotations

import json
import re
from typing import Any, Protocol

from transom.catalog.kafka_options import MECHANISM, protocol
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import MICRO_BATCH_OPTIONS
from transom.catalog.tls import Tls
from transom.errors import UsageError

ISOLATION = "isolation.level"
"""The setting of both clients that decides whether messages of aborted transactions are read."""
COMMITTED = "read_committed"
"""The isolation level at which they are not read: librdkafka's default, but not that of the Java client."""
_JAAS = re.compile(r'\b(username|password)\s*=\s*"((?:[^"\\]|\\.)*)"')
_MODULES = {"PLAIN": "plain.PlainLoginModule", "SCRAM": "scram.ScramLoginModule"}
_ONLY_JAVA = ("ssl.truststore.", "ssl.keystore.", "ssl.engine.")
_ONLY_PYTHON = ("ssl.ca.pem", "ssl.certificate.", "ssl.key.location", "ssl.key.pem", "ssl.crl.location")


class BrokerSettings(Protocol):
    """The connection settings that Kafka sources, logs and sinks share."""

    @property
    def servers(self) -> str:
        """The Kafka brokers as HOST:PORT, separated by commas."""

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Additional settings of the Kafka client, as pairs (name, value)."""

    @property
    def user(self) -> str | None:
        """The user name for the login at the brokers; None without a login."""

    @property
    def password(self) -> str | None:
        """The password for the brokers, as a reference such as ${NAME}; None without one."""

    @property
    def tls(self) -> Tls | None:
        """The files for TLS, such as our certificate and those of trusted authorities; None without TLS."""


def python_settings(broker: BrokerSettings) -> dict[str, Any]:
    """Return the connection settings for the Python Kafka client; raise UsageError if an option is for Java only."""
    settings: dict[str, Any] = _common_settings(broker)
    jaas = settings.pop("sasl.jaas.config", None)
    if jaas is not None:
        settings |= {f"sasl.{name}": re.sub(r"\\(.)", r"\1", value) for name, value in _JAAS.findall(jaas)}
    if broker.user is not None:
        settings |= {
            "sasl.username": resolve_references(broker.user),
            "sasl.password": resolve_references(broker.password or ""),
        }
    if settings.get("ssl.truststore.type") == "PEM" and "ssl.truststore.location" in settings:
        settings["ssl.ca.location"] = settings.pop("ssl.truststore.location")
        del settings["ssl.truststore.type"]
    _refuse_options(settings, _ONLY_JAVA, "Java", "outside of Spark")
    if broker.tls is not None:
        files = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")
        paths = (broker.tls.ca, broker.tls.certificate, broker.tls.key_file)
        settings |= {name: path for name, path in zip(files, paths) if path is not None}
    return {**settings, "bootstrap.servers": resolve_references(broker.servers)}


def java_settings(broker: BrokerSettings) -> dict[str, str]:
    """Return the connection settings for Spark's Kafka client; raise UsageError if an option is for Python only."""
    settings = _common_settings(broker)
    if "sasl.mechanisms" in settings:
        settings["sasl.mechanism"] = settings.pop("sasl.mechanisms")
    user, password = settings.pop("sasl.username", None), settings.pop("sasl.password", "")
    if broker.user is not None:
        user, password = resolve_references(broker.user), resolve_references(broker.password or "")
    if user is not None:
        module = _MODULES.get(settings.get("sasl.mechanism", "PLAIN").partition("-")[0], _MODULES["PLAIN"])
        login = (("username", user), ("password", password))
        login_text = " ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in login)
        settings["sasl.jaas.config"] = f"org.apache.kafka.common.security.{module} required {login_text};"
    ca, key_store = settings.pop("ssl.ca.location", None), None
    if broker.tls is not None:
        ca, key_store = broker.tls.ca, broker.tls.certificate
    elif settings.get("ssl.certificate.location") == settings.get("ssl.key.location"):
        key_store = settings.pop("ssl.certificate.location", None)
        settings.pop("ssl.key.location", None)
    _refuse_options(settings, _ONLY_PYTHON, "Python", "on Spark")
    if ca is not None:
        settings |= {"ssl.truststore.location": ca, "ssl.truststore.type": "PEM"}
    if key_store is not None:
        settings |= {"ssl.keystore.location": key_store, "ssl.keystore.type": "PEM"}
    return {**settings, "bootstrap.servers": resolve_references(broker.servers)}


def is_secured(broker: BrokerSettings) -> bool:
    """Whether a Kafka connection uses TLS or a login."""
    return broker.tls is not None or broker.user is not None or "security.protocol" in dict(broker.options)


def _common_settings(broker: BrokerSettings) -> dict[str, str]:
    """Return the settings that Python's and Spark's Kafka clients share, with references to secrets resolved."""
    settings = {name: resolve_references(value) for name, value in broker.options if name not in MICRO_BATCH_OPTIONS}
    if broker.tls is not None:
        broker.tls.check()
    if broker.tls is not None or broker.user is not None:
        settings.setdefault(
            "security.protocol", protocol(tls=broker.tls is not None, has_login=broker.user is not None)
        )
    if broker.user is not None and "sasl.mechanisms" not in settings:
        settings.setdefault("sasl.mechanism", MECHANISM)
    return settings


def _refuse_options(
    settings: dict[str, str], prefixes: tuple[str, ...], supporting_client: str, refused_where: str
) -> None:
    """Raise UsageError, which says `refused_where`, if a setting has a prefix that only `supporting_client` knows.

    `supporting_client` is the one that knows it, and `refused_where` says in the message where it is not used.
    """
    for name in settings:
        if name.startswith(prefixes):
            hint = "write tls: {ca: PATH, certificate: PATH}, which both clients of Kafka are told"
            raise UsageError(
                f"the option {name} of Kafka's client for {supporting_client} cannot be used {refused_where}", hint=hint
            )
