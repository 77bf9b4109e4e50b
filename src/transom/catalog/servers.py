"""Settings of collected sources, polled sensors and pushed messages, and of Kafka topics.

Text may contain references `${NAME}` and `${file:PATH}`, which are resolved only when a connection is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from transom.catalog.growing import GrowingTable
from transom.catalog.payload import Payload as Payload
from transom.catalog.tls import Tls
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A Kafka topic that is written as a log or a sink; `options` are settings of the Kafka client."""

    servers: str
    topic: str
    options: tuple[tuple[str, str], ...] = ()
    user: str | None = None
    password: str | None = None
    tls: Tls | None = None

    def __str__(self) -> str:
        """Return the address of the topic, without options and login."""
        return f"kafka://{self.servers}/{self.topic}"


LogLocation: TypeAlias = str | KafkaTopic
"""The location of a log: a folder, relative to the catalog, or a topic."""


class RegisterType(Enum):
    """How a number is encoded in registers; the most significant register is first."""

    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BIT = "bit"

    @property
    def register_count(self) -> int:
        """The number of 16-bit Modbus registers that a value of this type occupies."""
        return {"16": 1, "32": 2, "64": 4}.get(self.value[-2:], 1)


class RegisterSpace(Enum):
    """The register space to read."""

    HOLDING = "holding"
    INPUT = "input"
    COIL = "coil"
    DISCRETE = "discrete"


@dataclass(frozen=True, slots=True)
class Register:
    """The register of an attribute: value = number * scale + offset."""

    attribute: str
    address: int
    number: RegisterType = RegisterType.INT16
    space: RegisterSpace = RegisterSpace.HOLDING
    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Device:
    """The device of one site: a host and port with a unit, or a URL."""

    site: Value
    address: str
    unit: int = 1


@dataclass(frozen=True, slots=True)
class Modbus:
    """Devices polled over Modbus TCP; `deadline` is the time for an answer, in microseconds."""

    devices: tuple[Device, ...]
    registers: tuple[Register, ...]
    deadline: int
    log: LogLocation


@dataclass(frozen=True, slots=True)
class OpcUa:
    """Nodes polled from OPC UA servers; `{site}` in a node's name is replaced by the site."""

    devices: tuple[Device, ...]
    nodes: tuple[tuple[str, str], ...]
    deadline: int
    log: LogLocation
    user: str | None = None
    password: str | None = None
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class HttpPoll:
    """JSON polled from URLs; `fields` maps attributes to paths in it."""

    devices: tuple[Device, ...]
    fields: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    deadline: int
    log: LogLocation
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class HttpPush:
    """JSON that senders POST to the collector; `time` is the field with the time, None for arrival time."""

    host: str
    port: int
    path: str
    fields: tuple[tuple[str, str], ...]
    time: str | None
    token: str | None
    log: LogLocation
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class Mqtt:
    """Messages from an MQTT broker; a level `{name}` of the topic is an attribute."""

    broker: str
    topic: str
    payload: Payload
    fields: tuple[tuple[str, str], ...]
    time: str | None
    user: str | None
    password: str | None
    client: str
    version: int
    log: LogLocation
    tls: Tls | None = None

    @property
    def levels(self) -> tuple[tuple[int, str], ...]:
        """The levels of the MQTT topic that hold attributes, as pairs of level number (from 0) and attribute name."""
        parts = self.topic.split("/")
        return tuple((index, part[1:-1]) for index, part in enumerate(parts) if part[:1] == "{" and part[-1:] == "}")

    @property
    def filter(self) -> str:
        """The MQTT topic filter for the subscription: a wildcard for each level that holds an attribute."""
        attribute_levels = {index for index, _ in self.levels}
        return "/".join("+" if index in attribute_levels else part for index, part in enumerate(self.topic.split("/")))


@dataclass(frozen=True, slots=True)
class Postgres(GrowingTable):
    """A PostgreSQL table scanned every `every` ticks; its log holds insertions and deletions."""

    url: str
    table: str
    columns: tuple[tuple[str, str], ...]
    every: int
    password: str | None
    log: LogLocation
    tls: Tls | None = None


MICRO_BATCH_OPTIONS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
"""Options of a topic for Spark's connector, not for Kafka clients: the size of a micro-batch."""


@dataclass(frozen=True, slots=True)
class Kafka:
    """Messages of a Kafka topic; `time` is the field or predicate with the time, None for the broker's timestamp.

    `dead` is the folder for dead letters, rejected messages and late rows; without it, a rejected message stops the
    query. `columns` are the columns of a CSV line, `schema` is the text of an Avro schema. `envelope` maps attributes
    that are not in the payload to `key`, `timestamp`, or `header.` and a name.
    """

    servers: str
    topic: str
    fields: tuple[tuple[str, str], ...]
    time: str | None
    options: tuple[tuple[str, str], ...]
    dead: str | None
    payload: Payload = Payload.JSON
    columns: tuple[str, ...] = ()
    envelope: tuple[tuple[str, str], ...] = ()
    schema: str | None = None
    user: str | None = None
    password: str | None = None
    tls: Tls | None = None


PolledSource: TypeAlias = Modbus | OpcUa | HttpPoll
"""Sensors that are polled at every acquisition tick."""

CollectedSource: TypeAlias = Modbus | OpcUa | HttpPoll | HttpPush | Mqtt | Postgres
"""Sources that the collector serves; it writes `log`, and queries read it."""
