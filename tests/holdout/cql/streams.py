"""Streams of moving objects and windows over them, drawn from a seed."""

from __future__ import annotations

import random
from typing import Any

from tests.holdout.cql.meaning import Stored, Stream
from tests.holdout.cql.space import KM, MICRO, Region
from tests.holdout.cql.windows import Spec
from tests.holdout.expressions import Columns, Expressions

MOVING: Columns = [("id", "string"), ("x", "float"), ("y", "float"), ("load", "integer")]
TRAIN: Columns = [("id", "string"), ("x", "float"), ("load", "integer")]
ALARMS: Columns = [("id", "string"), ("level", "integer"), ("weight", "float")]
OWNERS: Columns = [("id", "string"), ("name", "string"), ("rank", "integer")]
IDS = ("a", "b", "c")

PLANE = (
    Region("Zone", ((2, 2), (8, 2), (8, 8), (2, 8))),
    Region("Tri", ((0, 0), (10, 0), (0, 10))),
    Region("Bend", ((0, 0), (9, 0), (9, 4), (5, 4), (5, 9), (0, 9))),
    Region("Ring", ((1, 1), (9, 1), (9, 9), (1, 9)), more=(((3, 3), (3, 6), (6, 6), (6, 3)),)),
    Region("Isles", ((0, 0), (4, 0), (4, 4), (0, 4)), more=(((6, 5), (10, 5), (8, 10)),), islands=True),
)
EARTH = {
    "antimeridian": Region("Fiji", ((178, -19), (-179, -19), (-179, -16), (178, -16)), earth=True),
    "pole": Region("Arctic", ((-180, 89), (180, 89), (180, 90), (-180, 90)), earth=True),
    "south": Region("Antarctic", ((-180, -90), (180, -90), (180, -89.5), (-180, -89.5)), earth=True),
    "sea": Region("Sea", ((120, 25), (122, 25), (123, 27), (120, 28)), earth=True),
}
SPATIAL = ("time space", "space time", "space space", "region", "region time", "region space", "region range")


class Streams:
    """Draws the catalog, the rows and the windows of one question."""

    def __init__(self, source: random.Random, where: str | None = None) -> None:
        self.random = source
        self.draw = Expressions(source)
        self.seconds = source.choice([1, 1, 10])
        self.last = source.randrange(16, 36)
        self.two_keys = False
        """Whether windows by key go by `id` and `load`."""
        self.where = where or source.choice(list(EARTH))
        self.extents: dict[str, Stored] = {}
        self.inputs: dict[str, Any] = {}
        self.catalog: dict[str, Any] = {"tick": f"{self.seconds} s", "extents": {}, "regions": {}}
        for region in (*PLANE, *EARTH.values()):
            corners = [list(corner) for corner in region.corners]
            on = "earth" if region.earth else "plane"
            simple = not region.more and source.random() < 0.5
            form = {"polygon": corners} if simple else {"wkt": region.wkt()}
            self.catalog["regions"][region.name] = {**form, "on": on}
        self._moving()
        self._alarms()

    # extents

    def _moving(self) -> None:
        declared = "pushed (id:string, x:float, y:float, load:integer)"
        plane = {"declare": declared, "position": {"x": "x", "y": "y", "unit": "km"}}
        earth = {"declare": declared, "position": {"lon": "x", "lat": "y"}}
        train = {"declare": "pushed (id:string, x:float, load:integer)", "position": {"x": "x", "unit": "km"}}
        several = self._tracks(IDS[: self.random.choice([2, 3])], earth=False)
        self._add("cars", {**plane, "object": "id"}, Stored(MOVING, several, place=(1, 2)))
        self._add("car", plane, Stored(MOVING, self._tracks(IDS[:1], earth=False), place=(1, 2)))
        line = [(t, (one[0], one[1], one[3])) for t, one in self._tracks(IDS[:1], earth=False)]
        self._add("train", train, Stored(TRAIN, line, place=(1, -1)))
        fleet = self._tracks(IDS[: self.random.choice([2, 3])], earth=True)
        self._add("ships", {**earth, "object": "id"}, Stored(MOVING, fleet, place=(1, 2), earth=True))
        self._add("ship", earth, Stored(MOVING, self._tracks(IDS[:1], earth=True), place=(1, 2), earth=True))

    def _tracks(self, ids: tuple[str, ...], earth: bool) -> Stream:
        rows: list[tuple[int, int, tuple[Any, ...]]] = []
        for key in ids:
            ticks = sorted(self.random.choices(range(self.last + 1), k=self.random.randrange(4, 16)))
            if self.random.random() < 0.5:
                ticks[0] = 0
            place = self._beginning(earth)
            for number, tick in enumerate(ticks):
                if number:
                    place = self._moved(place, earth)
                shown: tuple[Any, Any] = place
                if number and self.random.random() < 0.06:
                    shown = (place[0], None)
                rows.append((tick, self.random.randrange(1000), (key, *shown, self.draw.value("integer"))))
        rows.sort(key=lambda one: one[0])
        return [(tick, row) for tick, _, row in rows]

    def _beginning(self, earth: bool) -> tuple[float, float]:
        grid = self.random.randrange
        if not earth:
            return grid(0, 20) / 2, grid(0, 20) / 2
        match self.where:
            case "antimeridian":
                return self.random.choice([-179.5, 179.5, 179.0, -180.0, 180.0]), grid(-160, -120) / 8
            case "pole":
                return grid(-1440, 1440) / 8, 89 + grid(0, 9) / 8
            case "south":
                return grid(-1440, 1440) / 8, -90 + grid(0, 9) / 8
            case _:
                return 120 + grid(0, 20) / 8, 25 + grid(0, 20) / 8

    def _moved(self, place: tuple[float, float], earth: bool) -> tuple[float, float]:
        step = self.random.choice([0, 1, 1, 2, 3, 6])
        dx, dy = self.random.choice([-1, 0, 1, 1]) * step, self.random.choice([-1, 0, 1]) * step
        if not earth:
            return place[0] + dx / 2, place[1] + dy / 2
        if self.where in ("pole", "south"):
            x, y = place[0] + self.random.randrange(-400, 400) / 8, place[1] + dy / 16
        else:
            x, y = place[0] + dx / 8, place[1] + dy / 8
        x = x if abs(x) <= 190 else (x + 180) % 360 - 180
        return x, max(-90.0, min(90.0, y))

    def _alarms(self) -> None:
        ticks = sorted(self.random.choices(range(self.last + 1), k=self.random.randrange(4, 16)))
        rows = [(t, (self.random.choice(IDS), self.draw.value("integer"), self.draw.value("float"))) for t in ticks]
        self._add("alarms", {"declare": "pushed (id:string, level:integer, weight:float)"}, Stored(ALARMS, rows))
        changes = sorted({0, *self.random.sample(range(1, self.last), self.random.choice([0, 0, 1, 2]))})
        versions = {
            tick: [
                (key, self.draw.value("string"), self.draw.value("integer"))
                for key in IDS
                for _ in range(self.random.choice([0, 1, 1, 2]))
            ]
            for tick in changes
        }
        declared = {"declare": "stored (id:string, name:string, rank:integer)"}
        self._add("owners", declared, Stored(OWNERS, versions=versions))

    def _add(self, name: str, declaration: dict[str, Any], extent: Stored) -> None:
        self.catalog["extents"][name] = declaration
        self.extents[name] = extent
        self.inputs[name] = extent.versions if extent.versions is not None else [(t, *row) for t, row in extent.rows]

    # windows

    def region(self, extent: str) -> Region:
        """A region that the objects of an extent may visit."""
        return EARTH[self.where] if self.extents[extent].earth else self.random.choice(PLANE)

    def _time(self, ticks: int) -> str:
        seconds = ticks * self.seconds
        if seconds % 60 == 0:
            return self.random.choice([f"'{seconds // 60} minutes'", f"'{seconds} seconds'", f"{seconds} s"])
        return self.random.choice([f"'{seconds} seconds'", f"{seconds} seconds", f"'{seconds} s'"])

    def _length(self, length: int) -> str:
        for unit, size in (("nmi", 1852), ("mi", 1609.344), ("ft", 0.3048)):
            if length % KM and length % round(size * MICRO) == 0:
                return f"'{length // round(size * MICRO)} {unit}'"
        if length % KM == 0:
            return self.random.choice([f"'{length // KM} km'", f"'{length // KM} kms'", f"'{length // MICRO} m'"])
        return self.random.choice([f"'{length // MICRO} m'", f"'{length / KM} km'"])

    def window(self, kind: str, extent: str, by_key: bool = False) -> Spec:
        """A window of a kind over an extent."""
        draw = self.random
        key = "PARTITION BY id " if by_key else ""
        if by_key and self.two_keys:
            key = "PARTITION BY id, load "
        earth = self.extents[extent].earth if extent in self.extents else False
        ticks, pace = draw.randrange(1, 12), draw.randrange(1, 7)
        far = draw.randrange(1, 24) * (4 * KM if earth else KM // 2)
        apart = draw.randrange(1, 10) * (3 * KM if earth else KM // 2)
        if draw.random() < 0.15:
            far = draw.randrange(1, 8) * round(1609.344 * MICRO) * (10 if earth else 1)
            apart = draw.randrange(1, 5) * (18520 if earth else 1852) * MICRO
        place = self.region(extent) if kind.startswith("region") else None
        inside = f"RANGE BY {place.name} RATTR SPACE" if place else ""
        in_space = f"RANGE BY {self._length(far)} RATTR SPACE"
        in_time = f"RANGE BY {self._time(ticks)} RATTR TIME"
        by_space = f"SLIDE BY {self._length(apart)} SATTR SPACE"
        by_time = f"SLIDE BY {self._time(pace)} SATTR TIME"
        match kind:
            case "time":
                text = draw.choice([f"RANGE {self._time(ticks)}, SLIDE {self._time(pace)}", f"{in_time}, {by_time}"])
                return Spec("time", f"[{key}{text}]", ticks, pace, by_key=by_key)
            case "each":
                return Spec("time", f"[{key}RANGE {self._time(ticks)}]", ticks, 1, by_key=by_key)
            case "now":
                return Spec("time", f"[{key}NOW]", 0, 1, by_key=by_key)
            case "rows":
                return Spec("rows", f"[{key}{draw.choice(['ROWS', 'ROW'])} {pace}]", pace, by_key=by_key)
            case "rows slide":
                return Spec("rows slide", f"[{key}ROWS {ticks} SLIDE {pace}]", ticks, pace, by_key=by_key)
            case "unbounded":
                return Spec("unbounded", f"[{key}UNBOUNDED]", by_key=by_key, grows=True)
            case "region":
                return Spec("region", f"[{key}{inside}]", region=place, by_key=by_key, grows=True)
            case "region time":
                return Spec("region time", f"[{key}{inside}, {by_time}]", 0, pace, place, by_key)
            case "region space":
                return Spec("region space", f"[{key}{inside}, {by_space}]", 0, apart, place, by_key)
            case "region range":
                return Spec("region range", f"[{key}{inside}, {in_time}]", ticks, 0, place, by_key)
            case "space space":
                return Spec("space space", f"[{key}{in_space}, {by_space}]", far, apart, by_key=by_key)
            case "space time":
                return Spec("space time", f"[{key}{in_space}, {by_time}]", far, pace, by_key=by_key)
            case _:
                return Spec("time space", f"[{key}{in_time}, {by_space}]", ticks, apart, by_key=by_key)
