"""Sources that the collector acquires rows from: sensors that are asked, and messages that come. Settings only.

Text may hold references `${NAME}` and `${file:PATH}`; they are resolved when a connection is made, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from transom.catalog.growing import Growing
from transom.catalog.payload import Payload as Payload
from transom.catalog.tls import Tls
from transom.model.types import Value


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of Kafka that is written, as a log or as a sink; `options` are settings of Kafka's own."""

    servers: str
    topic: str
    options: tuple[tuple[str, str], ...] = ()
    user: str | None = None
    password: str | None = None
    tls: Tls | None = None

    def __str__(self) -> str:
        return f"kafka://{self.servers}/{self.topic}"


Place: TypeAlias = str | Topic
"""Where a log is: a folder, relative to the catalog, or a topic."""


class Number(Enum):
    """How a number lies in registers, the most significant one first."""

    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BIT = "bit"

    @property
    def words(self) -> int:
        """How many registers it takes."""
        return {"16": 1, "32": 2, "64": 4}.get(self.value[-2:], 1)


class Space(Enum):
    """Which registers of a device are read."""

    HOLDING = "holding"
    INPUT = "input"
    COIL = "coil"
    DISCRETE = "discrete"


@dataclass(frozen=True, slots=True)
class Register:
    """Where the value of an attribute lies in a device: value = number * scale + offset."""

    attribute: str
    address: int
    number: Number = Number.INT16
    space: Space = Space.HOLDING
    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Device:
    """The place of one site: a host and port with a unit, or a URL."""

    site: Value
    address: str
    unit: int = 1


@dataclass(frozen=True, slots=True)
class Modbus:
    """Devices that are asked over Modbus TCP; `deadline` in microseconds is how long each has for an answer."""

    devices: tuple[Device, ...]
    registers: tuple[Register, ...]
    deadline: int
    log: Place


@dataclass(frozen=True, slots=True)
class OpcUa:
    """Nodes that are read from OPC UA servers; `{site}` in a node's name is the site."""

    devices: tuple[Device, ...]
    nodes: tuple[tuple[str, str], ...]
    deadline: int
    log: Place
    user: str | None = None
    password: str | None = None
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class HttpPoll:
    """JSON that is fetched from URLs; `fields` says where in it the attributes are."""

    devices: tuple[Device, ...]
    fields: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    deadline: int
    log: Place
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class HttpPush:
    """JSON that others send to the collector by POST; `time` is the field with the instant, arrival if None."""

    host: str
    port: int
    path: str
    fields: tuple[tuple[str, str], ...]
    time: str | None
    token: str | None
    log: Place
    tls: Tls | None = None


@dataclass(frozen=True, slots=True)
class Mqtt:
    """Messages of an MQTT broker; a level `{name}` of the topic is an attribute."""

    broker: str
    topic: str
    payload: Payload
    fields: tuple[tuple[str, str], ...]
    time: str | None
    user: str | None
    password: str | None
    client: str
    version: int
    log: Place
    tls: Tls | None = None

    @property
    def levels(self) -> tuple[tuple[int, str], ...]:
        """The levels of the topic that are attributes: which one, and the attribute's name."""
        parts = self.topic.split("/")
        return tuple((place, part[1:-1]) for place, part in enumerate(parts) if part[:1] == "{" and part[-1:] == "}")

    @property
    def filter(self) -> str:
        """The topic as the broker knows it: a wildcard for each level that is an attribute."""
        named = {place for place, _ in self.levels}
        return "/".join("+" if place in named else part for place, part in enumerate(self.topic.split("/")))


@dataclass(frozen=True, slots=True)
class Postgres(Growing):
    """A table of PostgreSQL that is read every so many ticks; its log holds what appeared and what left."""

    url: str
    table: str
    columns: tuple[tuple[str, str], ...]
    every: int
    password: str | None
    log: Place
    tls: Tls | None = None


BATCHES = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
"""Options of a topic that are not for its clients but for Spark's connector: how much a micro-batch reads."""


@dataclass(frozen=True, slots=True)
class Kafka:
    """Messages of a Kafka topic; `time` is the field or predicate with the instant, the broker's stamp if None.

    `dead` is the folder for what cannot be read or is late; without it a message that cannot be read stops the query.
    `columns` are the cells of a line of CSV, `schema` is the text of a schema of Avro. `envelope` says which attributes
    are not in the value of a message: `key`, `timestamp`, or `header.` and its name.
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


Polled: TypeAlias = Modbus | OpcUa | HttpPoll
"""Sensors that are asked at every tick of acquisition."""

Collected: TypeAlias = Modbus | OpcUa | HttpPoll | HttpPush | Mqtt | Postgres
"""What the collector serves; `log` is what it writes and queries read."""
