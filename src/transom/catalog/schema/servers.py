"""The structure of server entries as pydantic models; `resolve.server` checks their meaning."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from transom.catalog.schema.entry import Entry

_NUMBERS = Literal["int16", "uint16", "int32", "uint32", "int64", "float32", "float64", "bit"]


class TlsEntry(Entry):
    """`{ca: plant-ca.pem, certificate: eng.pem, key: eng.key}`, or `{}` for the system's authorities."""

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None


class DeviceEntry(Entry):
    """`127.0.0.1:502`, `opc.tcp://plant:4840`, `http://plant/1`, or `{address: 127.0.0.1:502, unit: 7}`."""

    address: str
    unit: int = Field(default=1, ge=0, le=255)

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a device entry, the text of its address, to a mapping; other data is unchanged."""
        return {"address": data} if isinstance(data, str) else data


class RegisterEntry(Entry):
    """`40`, or `{address: 40, number: float32, space: input, scale: 0.1, offset: -40}`."""

    address: int = Field(ge=0, le=65535)
    number: _NUMBERS = "int16"
    space: Literal["holding", "input", "coil", "discrete"] = "holding"
    scale: float = 1.0
    offset: float = 0.0

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a Modbus register entry, the number of its address, to a mapping."""
        return {"address": data} if isinstance(data, int) else data


class LogEntry(Entry):
    """`log/oven`, `kafka://plant:9092/oven`, or `{address: kafka://plant:9092/oven, options: {...}}`."""

    address: str = Field(min_length=1)
    options: dict[str, str] = Field(default_factory=dict)
    user: str | None = None
    password: str | None = None
    tls: TlsEntry | None = None

    @classmethod
    def expand(cls, data: object) -> object:
        """Expand the short form of a `log` entry, the text of its address, to a mapping; other data is unchanged."""
        return {"address": data} if isinstance(data, str) else data


class PolledEntry(Entry):
    """The keys of all polled sources: one device per site or one server for all, a deadline, a log."""

    devices: dict[str | int, DeviceEntry] | None = None
    server: str | None = None
    deadline: str | None = None
    log: LogEntry | None = None


class ModbusEntry(PolledEntry):
    """`modbus: {devices: {1: "10.0.0.1:502"}, registers: {temp: 40}}`."""

    registers: dict[str, RegisterEntry] = Field(min_length=1)


class OpcUaEntry(PolledEntry):
    """`opcua: {server: "opc.tcp://plant:4840", nodes: {temp: "ns=2;s={site}.temp"}}`."""

    nodes: dict[str, str] = Field(min_length=1)
    user: str | None = None
    password: str | None = None
    tls: TlsEntry | None = None


class HttpEntry(PolledEntry):
    """`http: {server: "http://plant/{site}", fields: {temp: t}}`, or `http: {listen: "127.0.0.1:8080"}`."""

    headers: dict[str, str] = Field(default_factory=dict)
    listen: str | None = None
    path: str = "/"
    token: str | None = None
    time: str | None = None
    fields: dict[str, str] = Field(default_factory=dict)
    tls: TlsEntry | None = None


class MqttEntry(Entry):
    """`mqtt: {broker: "mqtt://plant:1883", topic: "plant/{line}/temp", payload: json}`."""

    broker: str
    topic: str
    payload: Literal["json", "senml", "value"] = "json"
    fields: dict[str, str] = Field(default_factory=dict)
    time: str | None = None
    user: str | None = None
    password: str | None = None
    client: str | None = None
    version: Literal["3.1.1", "5"] = "3.1.1"
    tls: TlsEntry | None = None
    log: LogEntry | None = None


class TopicEntry(Entry):
    """`kafka: {servers: 'plant:9092', topic: readings}`."""

    servers: str
    topic: str
    user: str | None = None
    password: str | None = None
    tls: TlsEntry | None = None
    options: dict[str, str] = Field(default_factory=dict)
    dead: str | None = None


class KafkaEntry(Entry):
    """`kafka: {servers: 'plant:9092', topic: power, time: at, envelope: {machine: key}}`."""

    servers: str
    topic: str
    payload: Literal["json", "csv", "avro"] = "json"
    columns: list[str] | None = Field(default=None, min_length=1)
    record: str | None = Field(default=None, alias="schema")
    envelope: dict[str, str] = Field(default_factory=dict)
    fields: dict[str, str] = Field(default_factory=dict)
    time: str | None = None
    user: str | None = None
    password: str | None = None
    tls: TlsEntry | None = None
    options: dict[str, str] = Field(default_factory=dict)
    dead: str | None = None


class PostgresEntry(Entry):
    """`postgresql: {url: 'postgresql://eng@db:5432/plant', table: tariff, every: 1 min}`."""

    url: str
    table: str
    every: str
    fields: dict[str, str] = Field(default_factory=dict)
    password: str | None = None
    tls: TlsEntry | None = None
    log: LogEntry | None = None
