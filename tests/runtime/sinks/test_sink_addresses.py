"""Addresses of sinks: every option is used or refused by name, and no secret is written in one."""

from __future__ import annotations

import pytest

from transom.catalog.addresses import broker_tls, kafka_topic, libpq_parameters, read_address, webhook_tls
from transom.catalog.servers import KafkaTopic
from transom.catalog.tls import Tls
from transom.errors import UsageError
from transom.runtime.sinks.sink import Sink

OPEN = "secrets must not be written in an address"


def of(text: str):
    """The address of a sink, as it was read."""
    return read_address(Sink.read(text).address or "", "")


def test_kafka() -> None:
    assert kafka_topic(of("kafka://a:1,b:2/answers")) == KafkaTopic("a:1,b:2", "answers")
    found = kafka_topic(of("kafka://eng:${WORD}@a:1/answers?ca=/ca.pem&certificate=me.pem&linger.ms=5"))
    tls = Tls("/ca.pem", "me.pem")
    assert found == KafkaTopic("a:1", "answers", (("linger.ms", "5"),), "eng", "${WORD}", tls)
    found = kafka_topic(of("kafka://a:1/t?security.protocol=SSL&ssl.ca.location=/ca%20s.pem"))
    assert found.options == (("security.protocol", "SSL"), ("ssl.ca.location", "/ca s.pem"))


def test_postgresql() -> None:
    found = libpq_parameters(of("postgresql://eng:${file:/run/secrets/pg}@db:5433/plant/public.t?sslmode=require"))
    login = {"user": "eng", "password": "${file:/run/secrets/pg}"}
    assert found == {"host": "db", "port": "5433", "dbname": "plant", **login, "sslmode": "require"}
    found = libpq_parameters(of("postgresql://eng@[::1]/plant/t?ca=ca.pem&certificate=a.pem&key=b.pem"))
    files = {"sslmode": "verify-full", "sslrootcert": "ca.pem", "sslcert": "a.pem", "sslkey": "b.pem"}
    assert found == {"host": "::1", "dbname": "plant", "user": "eng", **files}


def test_mqtt_and_webhook() -> None:
    assert broker_tls(of("mqtt://a/t")) is None
    assert broker_tls(of("mqtts://a/t/u")) == Tls()
    assert broker_tls(of("mqtts://a/t?ca=x")) == Tls("x")
    assert webhook_tls(of("webhook:https://a/b?x=y&token=${T}")) is None
    assert webhook_tls(of("webhook:https://a/b?x=y#ca=x&certificate=y")) == Tls("x", "y")
    found = of("webhook:https://eng:${WORD}@a:8443/b/${file:/run/hook}?x=${Y}#ca=x")
    assert (found.user, found.password, found.hosts, found.path) == ("eng", "${WORD}", "a:8443", "/b/${file:/run/hook}")


@pytest.mark.parametrize(
    ("sink", "message", "hint"),
    [
        ("kafka://a:1/t?colour=red", "kafka has no option colour", "write one of "),
        ("kafka://a:1/t?ssl.ca.locaton=x", "kafka has no option ssl.ca.locaton", "did you mean ssl.ca.location?"),
        ("kafka://a:1/t?ssl.ca.location=x", "ssl.ca.location is for TLS, and the connection is without", "=SSL"),
        ("kafka://a:1/t?sasl.mechanism=PLAIN", "sasl.mechanism is for a login, and the connection is without", "SASL_"),
        ("kafka://a:1/t?ca=x&security.protocol=PLAINTEXT", "security.protocol: PLAINTEXT is without TLS", "=SSL"),
        ("kafka://a:1/t?ca=x&ssl.ca.location=y", "tls and ssl.ca.location both name files", "one of the two"),
        ("kafka://e:${W}@a:1/t?security.protocol=SSL", "security.protocol: SSL is without a login", "SASL_SSL"),
        ("kafka://e:${W}@a:1/t?sasl.username=x", "user and sasl.username both set the login", "one of the two"),
        ("kafka://e@a:1/t", "a login needs a user and a password", "${NAME}"),
        (
            "kafka://a:1/t?ca=x&certificate=y&key=z",
            "key and certificate have to be in one file for Kafka on Spark",
            "PATH",
        ),
        ("kafka://a:1/t?ca=x&ca=y", "the option ca is given twice", "leave out"),
        ("kafka://a:1/t?ca=", "the option ca has no value", "ca=..."),
        ("kafka://a:1/t#ca=x", "unknown fragment #ca=x", "leave it out"),
        ("kafka://eng:sesame@a:1/t", OPEN, "${NAME}"),
        ("kafka://a:1/t?sasl.password=sesame", OPEN, "${NAME}"),
        ("kafka://a:1/t?sasl.jaas.config=x", OPEN, "${NAME}"),
        ("kafka://a:1/t?ssl.key.password=x", OPEN, "${NAME}"),
        ("postgresql://eng:sesame@db/plant/t", OPEN, "${NAME}"),
        ("postgresql://eng@db/plant/t?password=sesame", OPEN, "${NAME}"),
        ("postgresql://eng@db/plant/t?password=${PG}", OPEN, "postgresql://USER:${NAME}@HOST"),
        ("postgresql://eng@db/plant/t?sslpassword=sesame", OPEN, "${NAME}"),
        ("postgresql://eng@db/plant/t?sslmod=require", "postgresql has no option sslmod", "did you mean sslmode?"),
        ("postgresql://eng@db/plant/t?sslrootcert=x", "sslrootcert without sslmode checks nothing", "verify-full"),
        ("postgresql://eng@db/plant/t?ca=x&sslmode=require", "ca and sslmode both configure TLS", None),
        ("postgresql://eng@db/plant/t?key=x", "a key needs a certificate", "certificate=PATH"),
        ("postgresql://eng@db:99999/plant/t", None, "postgresql://USER@HOST"),
        ("postgresql://eng:sesame/1@db/plant", None, "postgresql://USER@HOST"),
        ("postgresql://eng:1/sesame@db/plant", None, "postgresql://USER@HOST"),
        ("postgresql://eng@sesame@db/plant/t", None, "postgresql://USER@HOST"),
        ("kafka://" + "${A}" * 40 + "@@sesame/t", None, "kafka://HOST:PORT/TOPIC"),
        ("kafka://a:1:2/t", None, "kafka://HOST:PORT/TOPIC"),
        ("kafka://${A/t", None, "kafka://HOST:PORT/TOPIC"),
        ("mqtt://a/t?ca=x", "ca, certificate and key need an address with TLS", "mqtts://"),
        ("mqtts://a/t?qos=0", "mqtts has no option qos", "write one of "),
        ("mqtt://eng:sesame@a/t", OPEN, "${NAME}"),
        ("webhook:https://a/b?password=sesame", OPEN, "${NAME}"),
        ("webhook:https://a/b?api_key=sesame", OPEN, "${NAME}"),
        ("webhook:https://eng:sesame@a/b", OPEN, "${NAME}"),
        ("webhook:http://a/b#ca=x", "ca, certificate and key need an address with TLS", "https://"),
        ("webhook:https://a/b#top", None, "write one of "),
        ("postgres://eng:sesame@db/plant/t?password=sesame", None, "sinks are"),
    ],
)
def test_refused(sink: str, message: str | None, hint: str | None) -> None:
    with pytest.raises(UsageError) as refused:
        Sink.read(sink)
    assert message is None or refused.value.message == message
    assert (hint or "") in (refused.value.hint or "")
    assert "sesame" not in str(refused.value)
