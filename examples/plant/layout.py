"""How a plant is laid out: its devices, its ports, how long an hour is; and the catalog and the queries that follow.

`python -m examples.plant.layout` prints the catalog of the plant as it stands in this folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
QUERIES = ("alarm", "energy", "drift")
UNITS = 5
"""Ovens behind one gateway."""
TANKS = 10
"""Tanks that one OPC UA server knows."""
ZONE = 4
"""Ovens that stand side by side."""
USER, PASSWORD = "plant", "PLANT_PASSWORD"


@dataclass(frozen=True)
class Layout:
    """So many devices of each kind, from which port on, and the seconds of an hour and of a reading's deadline.

    `broken` adds an oven that takes a connection and never answers, and one that takes none.
    """

    ovens: int = 40
    tanks: int = 30
    rooms: int = 20
    machines: int = 10
    lines: int = 4
    hour: int = 3600
    deadline: int = 500
    pause: float = 1.0
    broken: bool = False
    ports: dict[str, int] = field(default_factory=dict)

    @property
    def devices(self) -> int:
        """All that are asked and all that send."""
        return self.ovens + self.tanks + self.rooms + self.machines + 2 * self.broken

    def port(self, name: str) -> int:
        """Where something listens: as chosen, or where it always does."""
        return self.ports.get(name) or 28_100 + self.names.index(name)

    @property
    def names(self) -> list[str]:
        """All that has a port."""
        return ["mqtt", "kafka", "controller", "postgresql", *self.asked, "hanging", "refusing"]

    @property
    def asked(self) -> list[str]:
        """Where devices answer."""
        gateways = [f"gateway-{n}" for n in range(-(-self.ovens // UNITS))]
        servers = [f"tanks-{n}" for n in range(-(-self.tanks // TANKS))]
        return ["rooms", *gateways, *servers]

    def database(self) -> str:
        """Where the tariff and the answers are."""
        return f"postgresql://{USER}@127.0.0.1:{self.port('postgresql')}/postgres"

    def sink(self, query: str) -> str:
        """Where the answers of a query go."""
        kafka = f"kafka://127.0.0.1:{self.port('kafka')}/alarms"
        return kafka if query == "alarm" else f"{self.database()}/public.{query}"

    def oven(self, site: int) -> tuple[str, int]:
        """The address and the unit of an oven."""
        if site > self.ovens:
            return f"127.0.0.1:{self.port('hanging' if site == self.ovens + 1 else 'refusing')}", 1
        gateway, unit = divmod(site - 1, UNITS)
        return f"127.0.0.1:{self.port(f'gateway-{gateway}')}", unit + 1

    def catalog(self) -> str:
        """The catalog, as text."""
        return "\n".join(self._catalog()) + "\n"

    def _catalog(self) -> Iterator[str]:
        ovens = range(1, self.ovens + 2 * self.broken + 1)
        yield f"# A plant of {self.devices} devices, written by layout.py. The collector logs all but meter."
        yield from ("tick: 1 s", "epoch: 2026-01-01T00:00:00Z", "", "extents:", "  oven:")
        read = "site:integer, zone:integer, temp:float, serial:integer"
        yield f"    declare: sensed ({read}) RATE 1 SEC SITES ({_listed(ovens)})"
        yield from ("    source:", "      modbus:", "        devices:")
        for site in ovens:
            address, unit = self.oven(site)
            yield f"          {site}: {{address: '{address}', unit: {unit}}}"
        yield "        registers:"
        yield "          temp: {address: 0, number: float32}"
        yield "          serial: {address: 2, number: uint32}"
        yield "          zone: 4"
        yield from (f"        deadline: {self.deadline} ms", "", "  tank:")
        tanks = range(1, self.tanks + 1)
        yield f"    declare: sensed (site:integer, level:float, serial:integer) RATE 1 SEC SITES ({_listed(tanks)})"
        yield from ("    source:", "      opcua:", "        devices:")
        for site in tanks:
            yield f"          {site}: opc.tcp://127.0.0.1:{self.port(f'tanks-{(site - 1) // TANKS}')}/"
        yield "        nodes: {level: 'ns=2;s={site}.level', serial: 'ns=2;s={site}.serial'}"
        yield from (f"        deadline: {self.deadline} ms", "", "  room:")
        rooms = _listed(range(1, self.rooms + 1))
        yield f"    declare: sensed (site:integer, temp:float, serial:integer) RATE 1 SEC SITES ({rooms})"
        yield from ("    source:", "      http:", f"        server: http://127.0.0.1:{self.port('rooms')}/{{site}}")
        yield "        fields: {temp: body.temp}"
        yield from (f"        deadline: {self.deadline} ms", "", "  vibration:")
        yield "    declare: pushed (machine:string, number:integer, mm:float)"
        yield f"    rate: {max(1, round(2 * self.machines / self.pause))} per s"
        yield f"    keys: {max(1, self.machines)}"
        yield from ("    source:", "      mqtt:", f"        broker: mqtt://127.0.0.1:{self.port('mqtt')}")
        yield from (
            "        topic: plant/{machine}/vibration",
            f"        user: {USER}",
            f"        password: ${{{PASSWORD}}}",
        )
        yield from ("", "  # one partition: its rows come in the order of their times", "  meter:")
        yield "    declare: pushed (line:string, number:integer, watts:float)"
        yield from ("    lateness: 2 s", f"    rate: {2 * self.lines} per s", f"    keys: {self.lines}", "    source:")
        yield f"      kafka: {{servers: '127.0.0.1:{self.port('kafka')}', topic: meters, time: at}}"
        yield from ("", "  tariff:", "    declare: stored (line:string, price:float)", f"    rows: {self.lines}")
        yield from (
            "    source:",
            f"      postgresql: {{url: '{self.database()}', table: public.tariff, every: {self.hour} s}}",
        )

    def query(self, name: str) -> str:
        """A query of this folder, with hours as long as they are here."""
        text = (HERE / f"{name}.sneeql").read_text("utf-8")
        hour = f"{self.hour} SEC"
        return text.replace("NOW-3599", f"NOW-{self.hour - 1}").replace("3600 SEC", hour).replace("1 HOUR", hour)

    def write(self, folder: Path) -> None:
        """The layout itself, the catalog and the queries into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "layout.json").write_text(json.dumps(asdict(self)), "utf-8")
        (folder / "catalog.yaml").write_text(self.catalog(), "utf-8")
        for name in QUERIES:
            (folder / f"{name}.sneeql").write_text(self.query(name), "utf-8")

    @staticmethod
    def read(folder: Path) -> Layout:
        """The layout of a plant that was written into a folder."""
        return Layout(**json.loads((folder / "layout.json").read_text("utf-8")))


def _listed(sites: range) -> str:
    return ", ".join(map(str, sites))


if __name__ == "__main__":
    print(Layout().catalog(), end="")
