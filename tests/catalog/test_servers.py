"""The sources that the collector serves, as a catalog describes them."""

from __future__ import annotations

import pytest

from transom.catalog import Catalog
from transom.catalog.page import describe_source
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import (
    Device,
    HttpPoll,
    HttpPush,
    Kafka,
    KafkaTopic,
    Modbus,
    Mqtt,
    OpcUa,
    Payload,
    Postgres,
    Register,
    RegisterSpace,
    RegisterType,
)
from transom.catalog.tls import Tls
from transom.errors import UsageError

from .marked import refused, says

OVEN = "  oven:\n    kind: sensed\n    attributes: {site: integer, temp: float}\n    sites: [1, 2]\n"
CAR = "  car:\n    kind: pushed\n    attributes: {plate: string, speed: integer}\n"
DOOR = "  door:\n    kind: stored\n    attributes: {plate: string}\n"
LONE = "  lone:\n    kind: sensed\n    attributes: {temp: float}\n"


def source(extent: str, words: str, folder=None):
    (found,) = Catalog.read(f"extents:\n{extent}    source: {words}\n", folder=folder).extents.values()
    return found.source


def test_modbus():
    devices = "{1: '10.0.0.1:502', 2: {address: 'plant:502', unit: 7}}"
    registers = "{temp: {address: 4, number: float32, space: input, scale: 0.1, offset: -40}}"
    found = source(OVEN, f"{{modbus: {{devices: {devices}, registers: {registers}, deadline: 200 ms, log: here}}}}")
    assert found == Modbus(
        (Device(1, "10.0.0.1:502"), Device(2, "plant:502", 7)),
        (Register("temp", 4, RegisterType.FLOAT32, RegisterSpace.INPUT, 0.1, -40.0),),
        200_000,
        "here",
    )
    assert [number.register_count for number in RegisterType] == [1, 1, 2, 2, 4, 2, 4, 1]


def test_one_register_of_one_device():
    found = source(LONE, "{modbus: {server: 'plant:502', registers: {temp: 4}}}")
    assert found == Modbus((Device(None, "plant:502"),), (Register("temp", 4),), 500_000, "log/lone")
    assert describe_source(found) == "collected by Modbus"


def test_opcua():
    words = "{opcua: {server: 'opc.tcp://plant:4840', nodes: {temp: 'ns=2;s={site}'}, user: a, password: '${SECRET}'}}"
    assert source(OVEN, words) == OpcUa(
        (Device(1, "opc.tcp://plant:4840"), Device(2, "opc.tcp://plant:4840")),
        (("temp", "ns=2;s={site}"),),
        500_000,
        "log/oven",
        "a",
        "${SECRET}",
    )


def test_http_that_is_fetched():
    words = "{http: {server: 'http://plant/{site}', fields: {temp: body.t}, headers: {X-Key: '${KEY}'}}}"
    assert source(OVEN, words) == HttpPoll(
        (Device(1, "http://plant/1"), Device(2, "http://plant/2")),
        (("temp", "body.t"),),
        (("X-Key", "${KEY}"),),
        500_000,
        "log/oven",
    )


def test_http_that_is_sent():
    words = "{http: {listen: '127.0.0.1:8080', path: /cars, time: at, token: '${file:token}'}}"
    fields = (("plate", "plate"), ("speed", "speed"))
    assert source(CAR, words) == HttpPush("127.0.0.1", 8080, "/cars", fields, "at", "${file:token}", "log/car")


def test_mqtt():
    words = "{mqtt: {broker: 'mqtts://plant', topic: 'road/{plate}/+/#', payload: value, version: '5', user: u}}"
    found = source(CAR, words)
    assert found == Mqtt(
        "mqtts://plant",
        "road/{plate}/+/#",
        Payload.VALUE,
        (("speed", "speed"),),
        None,
        "u",
        None,
        "transom-car",
        5,
        "log/car",
    )
    assert found.filter == "road/+/+/#"
    assert found.levels == ((1, "plate"),)


def test_kafka():
    options = "{security.protocol: SSL, ssl.key.password: '${KEY}'}"
    found = source(CAR, f"{{kafka: {{servers: 'a:1,b:2', topic: t, time: at, options: {options}, dead: d}}}}")
    fields = (("plate", "plate"), ("speed", "speed"))
    assert found == Kafka(
        "a:1,b:2", "t", fields, "at", (("security.protocol", "SSL"), ("ssl.key.password", "${KEY}")), "d"
    )
    assert describe_source(found) == "the topic t of a:1,b:2"


def test_lines_of_kafka_and_what_comes_with_them():
    words = "servers: 'a:1', topic: t, payload: csv"
    found = source(CAR, f"{{kafka: {{{words}, time: at, columns: [at, x, v], fields: {{plate: x, speed: v}}}}}}")
    fields = (("plate", "x"), ("speed", "v"))
    assert found == Kafka("a:1", "t", fields, "at", (), None, Payload.CSV, ("at", "x", "v"))
    found = source(CAR, f"{{kafka: {{{words}, envelope: {{plate: header.no.1}}}}}}")
    envelope = (("plate", "header.no.1"),)
    assert found == Kafka("a:1", "t", (("speed", "speed"),), None, (), None, Payload.CSV, ("speed",), envelope)


def test_postgresql():
    found = source(DOOR, "{postgresql: {url: 'postgresql://u@h/d', table: s.t, every: 1 min, fields: {plate: p}}}")
    assert found == Postgres("postgresql://u@h/d", "s.t", (("plate", "p"),), 60, None, "log/door")


def test_a_log_in_kafka():
    def log(words):
        return source(CAR, f"{{mqtt: {{broker: 'mqtt://a', topic: b, log: {words}}}}}").log

    assert log("here/it/is") == log("{address: here/it/is}") == "here/it/is"
    assert log("'kafka://a:1,b:2/car.log'") == KafkaTopic("a:1,b:2", "car.log")
    options = "{security.protocol: SASL_SSL, sasl.password: '${KEY}'}"
    found = log(f"{{address: 'kafka://a:1/car', options: {options}}}")
    assert found == KafkaTopic("a:1", "car", (("security.protocol", "SASL_SSL"), ("sasl.password", "${KEY}")))
    assert str(found) == "kafka://a:1/car"
    words = "{postgresql: {url: 'postgresql://u@h/d', table: s.t, every: 1 min, log: 'kafka://a:1/door'}}"
    assert source(DOOR, words).log == KafkaTopic("a:1", "door")


def test_tls(tmp_path):
    """One shape for all servers; paths are relative to the catalog."""
    ca, own, key = (str(tmp_path / name) for name in ("ca.pem", "own.pem", "own.key"))
    files = "tls: {ca: ca.pem, certificate: own.pem, key: own.key}"
    words = f"{{mqtt: {{broker: 'mqtts://a', topic: b, {files}}}}}"
    assert source(CAR, words, tmp_path).tls == Tls(ca, own, key)
    assert source(CAR, "{mqtt: {broker: 'mqtts://a', topic: b, tls: {}}}", tmp_path).tls == Tls()
    assert source(CAR, "{mqtt: {broker: 'mqtts://a', topic: b}}", tmp_path).tls is None
    assert source(CAR, f"{{http: {{listen: 'a:80', {files}}}}}", tmp_path).tls == Tls(ca, own, key)
    assert source(OVEN, "{http: {server: 'https://a', tls: {ca: /ca.pem}}}", tmp_path).tls == Tls("/ca.pem")
    words = f"{{opcua: {{server: 'opc.tcp://a', nodes: {{temp: n}}, {files}}}}}"
    assert source(OVEN, words, tmp_path).tls == Tls(ca, own, key)
    words = f"{{postgresql: {{url: 'postgresql://u@h/d', table: t, every: 1 s, {files}}}}}"
    assert source(DOOR, words, tmp_path).tls == Tls(ca, own, key)
    login = "user: eng, password: '${W}', tls: {ca: ca.pem, certificate: own.pem}"
    found = source(CAR, f"{{kafka: {{servers: 'a:1', topic: t, {login}}}}}", tmp_path)
    assert (found.user, found.password, found.tls) == ("eng", "${W}", Tls(ca, own))
    words = f"{{http: {{listen: 'a:80', log: {{address: 'kafka://a:1/t', {login}}}}}}}"
    assert source(CAR, words, tmp_path).log == KafkaTopic("a:1", "t", (), "eng", "${W}", Tls(ca, own))


PLANT = "devices: {1: 'a:1', 2: 'b:1'}"
LINES = "servers: 'a:1', topic: t, payload: csv"


@pytest.mark.parametrize(
    ("extent", "marked", "message", "hint"),
    [
        (
            DOOR,
            "{«mqtt»: {broker: 'mqtt://a', topic: b}}",
            "a stored extent cannot be read from a device or broker",
            "sensed or pushed",
        ),
        (OVEN, "{«mqtt»: {broker: 'mqtt://a', topic: b}}", "messages come to a pushed extent, not to a sensed one", ""),
        (CAR, "{«modbus»: {server: 'a:1', registers: {plate: 1, speed: 1}}}", None, "declare it"),
        (CAR, "{mqtt: {broker: «'a:1'», topic: b}}", "'a:1' is not an address", "mqtt://plant"),
        (
            CAR,
            "{mqtt: {broker: «'mqtt://me:pw@a'», topic: b}}",
            "secrets must not be written in the catalog",
            "${NAME}",
        ),
        (
            CAR,
            "{mqtt: {broker: 'mqtt://a', topic: b, password: «pw»}}",
            "secrets must not be written in the catalog",
            "${N",
        ),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: «'b/{colour}'»}}", "no attribute 'colour'", "plate, speed"),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: «'{plate}/{plate}'»}}", "plate occurs twice in the topic", None),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: «'a#'»}}", "'a#' is not a topic", "# the last"),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: b, payload: «value»}}", None, "payload: json"),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: '{plate}', payload: value, «time»: t}}", None, "leave it out"),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: b, payload: senml, «time»: t}}", None, "leave it out"),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: b, fields: {«colour»: c}}}", "no attribute 'colour'", None),
        (OVEN, "{modbus: «{registers: {temp: 1}}»}", "a source has either devices or a server", "server: ADDRESS"),
        (OVEN, "{modbus: {devices: {1: 'a:1', 2: «'a'»}, registers: {temp: 1}}}", None, "10.0.0.1:502"),
        (OVEN, "{modbus: {devices: {1: 'a:1', «3»: 'b:1'}, registers: {temp: 1}}}", "'3' is not a site", "sites"),
        (OVEN, "{modbus: {«devices»: {1: 'a:1'}, registers: {temp: 1}}}", "no device for the site '2'", None),
        (LONE, "{modbus: {«devices»: {1: 'a:1'}, registers: {temp: 1}}}", None, "sites: [1, 2]"),
        (LONE, "{http: {server: «'http://a/{site}'»}}", "the extent has no sites", "sites: [1, 2]"),
        (OVEN, f"{{modbus: {{{PLANT}, «registers»: {{site: 1}}}}}}", "no entry for temp", None),
        (OVEN, f"{{modbus: {{{PLANT}, registers: {{temp: 1}}, deadline: «2 s»}}}}", None, "500 ms"),
        (OVEN, f"{{modbus: {{{PLANT}, registers: {{temp: «-1»}}}}}}", "expected at least 0, not -1", None),
        (OVEN, "{http: {server: 'http://a', «token»: t}}", "token needs listen", "leave it out"),
        (CAR, "{kafka: {servers: «a», topic: t}}", "'a' is not a host and a port", None),
        (CAR, "{kafka: {servers: 'a:1', topic: «'t t'»}}", "'t t' is not a topic", None),
        (CAR, "{kafka: {servers: 'a:1', topic: t, options: {sasl.jaas.config: «x»}}}", None, "${NAME}"),
        (CAR, "{kafka: {servers: 'a:1', topic: t, «columns»: [plate]}}", "columns is for payload: csv", "leave it out"),
        (CAR, f"{{kafka: {{{LINES}, columns: «[]»}}}}", None, None),
        (CAR, f"{{kafka: {{{LINES}, columns: [plate, speed, «plate»]}}}}", "two cells are called 'plate'", None),
        (CAR, f"{{kafka: {{{LINES}, fields: «{{plate: x, speed: x}}»}}}}", "two cells are called 'x'", "columns: ["),
        (CAR, f"{{kafka: {{{LINES}, «columns»: [plate]}}}}", "no cell 'speed' for speed", "write plate"),
        (CAR, f"{{kafka: {{{LINES}, columns: [plate, v], fields: {{speed: «w»}}}}}}", "no cell 'w' for speed", None),
        (CAR, f"{{kafka: {{{LINES}, time: «at»}}}}", "no cell 'at'", "columns: [at"),
        (CAR, f"{{kafka: {{{LINES}, envelope: {{«lane»: key}}}}}}", "no attribute 'lane'", None),
        (CAR, f"{{kafka: {{{LINES}, envelope: {{plate: «offset»}}}}}}", "a message has no 'offset'", "header.NAME"),
        (CAR, f"{{kafka: {{{LINES}, envelope: {{plate: «header.»}}}}}}", "a message has no 'header.'", None),
        (CAR, f"{{kafka: {{{LINES}, envelope: {{plate: «timestamp»}}}}}}", None, "declare plate as timestamp"),
        (
            CAR,
            f"{{kafka: {{{LINES}, fields: {{plate: p}}, envelope: {{«plate»: key}}}}}}",
            "plate is in the fields already",
            None,
        ),
        (
            CAR,
            "{«postgresql»: {url: 'postgresql://h/d', table: t, every: 1 s}}",
            "a pushed extent cannot be a database table",
            None,
        ),
        (DOOR, "{postgresql: {url: 'postgresql://h/d', table: «'t;'», every: 1 s}}", "'t;' is not a table", None),
        (CAR, "{http: {listen: 'a:80', log: «'kafka://a/t'»}}", "'a' is not a host and a port", None),
        (CAR, "{http: {listen: 'a:80', log: «'kafka://a:1'»}}", "'' is not a topic", "kafka://HOST:PORT/TOPIC"),
        (CAR, "{http: {listen: 'a:80', log: «'kafka://me:pw@a:1/t'»}}", None, "10.0.0.1:502"),
        (CAR, "{http: {listen: 'a:80', log: «'s3://a/t'»}}", "'s3://a/t' cannot be the location of a log", "a folder"),
        (CAR, "{http: {listen: 'a:80', log: {address: l, «options»: {a: b}}}}", "options are for a log in Kafka", None),
        (
            CAR,
            "{http: {listen: 'a:80', log: {address: 'kafka://a:1/t', options: {sasl.password: «x»}}}}",
            "secrets must not be written in the catalog",
            "${NAME}",
        ),
        (
            CAR,
            "{http: {listen: 'a:80', log: {address: 'kafka://a:1/t', options: {ssl.key.pem: «'x ${Y}'»}}}}",
            "secrets must not be written in the catalog",
            "${NAME}",
        ),
        (
            CAR,
            "{kafka: {servers: 'a:1', topic: t, options: {sasl.jaas.config: «'x password=\"y\" realm=\"${Z}\";'»}}}",
            "secrets must not be written in the catalog",
            "${NAME}",
        ),
        (
            DOOR,
            "{postgresql: {url: «'postgresql://me@a/d?password=x'», table: t, every: 1 s}}",
            "secrets must not be written in the catalog",
            "${NAME}",
        ),
        (CAR, "{mqtt: {broker: 'mqtt://a', topic: b, «tls»: {}}}", "this address does not use TLS", "mqtts://"),
        (CAR, "{mqtt: {broker: «'mqtt://a/b'», topic: b}}", "'mqtt://a/b' is more than a host and a port", "entries"),
        (CAR, "{mqtt: {broker: «'mqtts://a?ca=x'», topic: b}}", None, "tls are entries"),
        (CAR, "{mqtt: {broker: 'mqtts://a', topic: b, tls: {«key»: k}}}", "a key needs a certificate", "PATH"),
        (CAR, "{mqtt: {broker: 'mqtts://a', topic: b, tls: {ca: «''»}}}", "'' is not a path", "PEM file"),
        (CAR, "{http: {listen: 'a:80', «tls»: {ca: c}}}", "a server with TLS needs a certificate", "key: PATH"),
        (OVEN, "{http: {server: 'http://a', «tls»: {}}}", "this address does not use TLS", "https://"),
        (
            OVEN,
            "{http: {server: 'http://a', headers: {X-Key: «abc»}}}",
            "secrets must not be written in the catalog",
            "${N",
        ),
        (OVEN, "{http: {server: «'http://a/?token=abc'»}}", "secrets must not be written in the catalog", "${NAME}"),
        (
            OVEN,
            "{opcua: {server: 'opc.tcp://a', nodes: {temp: n}, «tls»: {ca: c}}}",
            "tls of OPC UA needs a ca and a certificate",
            "certificate: PATH",
        ),
        (
            DOOR,
            "{postgresql: {url: 'postgresql://u@h/d?sslmode=require', table: t, every: 1 s, «tls»: {}}}",
            "the url and tls both configure TLS",
            "leave out",
        ),
        (CAR, "{kafka: {servers: 'a:1', topic: t, user: eng, password: «pw»}}", None, "${NAME}"),
        (
            CAR,
            "{kafka: {servers: 'a:1', topic: t, «user»: eng}}",
            "a login needs a user and a password, not user alone",
            "${NAME}",
        ),
        (
            CAR,
            "{kafka: {servers: 'a:1', topic: t, tls: {certificate: c, «key»: k}}}",
            "key and certificate have to be in one file for Kafka on Spark",
            "certificate: PATH",
        ),
        (
            CAR,
            "{kafka: {servers: 'a:1', topic: t, options: {«ssl.ca.locaton»: c}}}",
            "no option of Kafka is called ssl.ca.locaton",
            "did you mean ssl.ca.location?",
        ),
        (
            CAR,
            "{kafka: {servers: 'a:1', topic: t, options: {«ssl.ca.location»: c}}}",
            "ssl.ca.location is for TLS, and the connection is without",
            "security.protocol: SSL",
        ),
        (
            CAR,
            "{kafka: {servers: 'a:1', topic: t, tls: {}, options: {«security.protocol»: PLAINTEXT}}}",
            "security.protocol: PLAINTEXT is without TLS",
            "security.protocol: SSL",
        ),
        (CAR, "{http: {listen: 'a:80', log: {address: l, «tls»: {}}}}", "tls is for a log in Kafka", "leave it out"),
        (CAR, "{http: {listen: «'8080'»}}", "'8080' is not a host and a port", None),
        (CAR, "{http: {listen: 'a:80', path: «cars»}}", "'cars' is not a path", "/events"),
        (CAR, "{http: {listen: 'a:80', «deadline»: 1 s}}", "deadline cannot be combined with listen", None),
    ],
)
def test_refused(extent, marked, message, hint):
    text = f"extents:\n{extent}    source: {marked}\n"
    error = refused(text)
    assert message is None or error.message == message
    assert (hint or "") in (error.hint or "")


def test_columns_of_the_log():
    extent = "  car:\n    kind: pushed\n    attributes: {_seq: integer}\n"
    says(
        f"extents:\n{extent}    source: {{«mqtt»: {{broker: 'mqtt://a', topic: b}}}}\n",
        "the log has a column _seq already",
    )


def test_references(tmp_path, monkeypatch):
    monkeypatch.setenv("PLANT_KEY", "k3y")
    (tmp_path / "key").write_text("other\n")
    assert resolve_references("Bearer ${PLANT_KEY}") == "Bearer k3y"
    assert resolve_references(f"${{file:{tmp_path / 'key'}}}") == "other"
    with pytest.raises(UsageError, match="no NOBODY_SET_THIS"):
        resolve_references("${NOBODY_SET_THIS}")
    with pytest.raises(UsageError, match="cannot read"):
        resolve_references(f"${{file:{tmp_path / 'nothing'}}}")
