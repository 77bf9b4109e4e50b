"""Draws the benchmarks' lines of JSON as one SVG picture.

    python -m benchmarks.plot lines.jsonl [-o benchmarks.svg]

Bars show ratios on a logarithmic scale; they start at 1 and go right where ours is faster. A small stroke marks the
wanted ratio. Curves are drawn over the number of keys. If several lines have the same measurement, the last counts.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

WIDE, MARGIN, LABEL, BAR = 860, 24, 250, 22
OURS, AHEAD, BEHIND, OTHER, WANTED, INK, FAINT = (
    "#0f766e",
    "#14b8a6",
    "#dc6b4a",
    "#64748b",
    "#b45309",
    "#1e293b",
    "#cbd5e1",
)
LINES = (OURS, "#b45309", "#4f46e5", OTHER)

Entry = Mapping[str, Any]


@dataclass
class Picture:
    """SVG shapes, placed from top to bottom; `y` is where the next part begins."""

    shapes: list[str] = field(default_factory=list)
    y: float = MARGIN

    def text(self, x: float, y: float, said: str, *, anchor: str = "start", size: int = 12, fill: str = INK) -> None:
        """Add a line of text."""
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"'
        self.shapes.append(f"<text {place}>{escape(said)}</text>")

    def line(self, points: Sequence[tuple[float, float]], stroke: str = FAINT, width: float = 1) -> None:
        """Add a line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{width}"/>')

    def bar(self, x: float, y: float, to: float, fill: str) -> None:
        """Add a horizontal bar from `x` to `to`."""
        left, wide = min(x, to), max(abs(to - x), 1)
        self.shapes.append(f'<rect x="{left:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{BAR - 8}" fill="{fill}"/>')

    def dot(self, x: float, y: float, fill: str) -> None:
        """Add a dot."""
        self.shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{fill}"/>')

    def title(self, said: str, more: str) -> None:
        """Add the title and subtitle of a part."""
        self.text(MARGIN, self.y + 14, said, size=16)
        self.text(MARGIN, self.y + 32, more, fill=OTHER)
        self.y += 48

    def svg(self) -> str:
        """The picture as SVG."""
        high = self.y + MARGIN
        size = f'width="{WIDE}" height="{high:.0f}" viewBox="0 0 {WIDE} {high:.0f}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif">'
        return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *self.shapes, "</svg>\n"])


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale from values to coordinates between `start` and `end`."""

    least: float
    most: float
    start: float
    end: float

    @staticmethod
    def over(values: Iterable[float], start: float, end: float) -> Scale:
        """A scale that covers all positive values, with some margin."""
        found = [value for value in values if value > 0]
        return Scale(min(found) / 1.15, max(found) * 1.15, start, end)

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        share = math.log(value / self.least) / math.log(self.most / self.least)
        return self.start + share * (self.end - self.start)

    def marks(self) -> list[float]:
        """Tick marks of the scale: powers of ten, and 2 and 5 times them if the scale is short."""
        powers = range(math.floor(math.log10(self.least)), math.ceil(math.log10(self.most)) + 1)
        factors = (1,) if self.most / self.least > 3000 else (1, 2, 5)
        found = [factor * 10.0**power for power in powers for factor in factors]
        return [value for value in found if self.least <= value <= self.most]


def short(value: float) -> str:
    """A number with three digits and the suffix k or M."""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def name_of(entry: Entry) -> str:
    """The label of an entry, which identifies its measurement."""
    if entry["bench"] == "peers":
        return f"peers: {entry['peer']}"
    words = [entry["bench"], *(entry[part] for part in ("contest", "task") if part in entry)]
    if "range/slide" in entry:
        words.append(f"{entry['range/slide']}:1")
    if entry.get("keys", 1) != 1:
        words.append(f"{entry['keys']:,} keys")
    return ", ".join(words)


def read(paths: Iterable[Path]) -> list[Entry]:
    """Read all entries; of those with the same measurement, keep the last."""
    found: dict[str, Entry] = {}
    for path in paths:
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            name = f"{name_of(entry)} {entry.get('kernel', '')}"
            found.pop(name, None)
            found[name] = entry
    return list(found.values())


def ratios(picture: Picture, entries: Sequence[Entry]) -> None:
    """Draw a bar from 1 to the ratio of each entry."""
    shown = [entry for entry in entries if entry.get("ratio") and entry["bench"] not in ("grid", "start")]
    if not shown:
        return
    picture.title(
        "Times as fast", "throughput of Transom divided by that of the other contestant; the stroke is the target"
    )
    values = [entry["ratio"] for entry in shown] + [entry["wanted"] for entry in shown if entry.get("wanted")]
    scale = Scale.over([0.8, 1.25, *values], MARGIN + LABEL, WIDE - MARGIN - 50)
    high = BAR * len(shown)
    for mark in scale.marks():
        picture.line([(scale.at(mark), picture.y), (scale.at(mark), picture.y + high)], INK if mark == 1 else FAINT)
        picture.text(scale.at(mark), picture.y + high + 15, f"{mark:g}", anchor="middle", size=11, fill=OTHER)
    for entry in shown:
        value, wanted = entry["ratio"], entry.get("wanted")
        picture.text(MARGIN + LABEL - 10, picture.y + 14, name_of(entry), anchor="end")
        picture.bar(scale.at(1), picture.y + 4, scale.at(value), AHEAD if value >= (wanted or 1) else BEHIND)
        if wanted:
            picture.line([(scale.at(wanted), picture.y + 1), (scale.at(wanted), picture.y + BAR - 1)], WANTED, 3)
        right = max(scale.at(value), scale.at(wanted or value), scale.at(1))
        picture.text(right + 6, picture.y + 15, f"{value:g}", size=11)
        picture.y += BAR
    picture.y += 44


def peers(picture: Picture, entries: Sequence[Entry]) -> None:
    """Draw a bar with the events per CPU second of each engine, labelled with its guarantee after a kill."""
    shown = [entry for entry in entries if entry["bench"] == "peers" and entry.get("events/cpu s")]
    if not shown:
        return
    picture.title("Events per CPU second", "one file of events, 60 s windows every second, 1,000 keys")
    most = max(entry["events/cpu s"] for entry in shown)
    start, end = MARGIN + LABEL, WIDE - MARGIN - 60
    for entry in shown:
        value = entry["events/cpu s"]
        keeps = entry["keeps"].partition(":")[0]
        picture.text(start - 10, picture.y + 14, f"{entry['peer']} ({entry['engine']})", anchor="end")
        picture.bar(start, picture.y + 4, start + (end - start) * value / most, OURS if keeps != "nothing" else FAINT)
        picture.text(start + 6, picture.y + 15, keeps, size=11, fill="white" if keeps != "nothing" else INK)
        picture.text(start + (end - start) * value / most + 6, picture.y + 15, short(value), size=11)
        picture.y += BAR
    picture.y += 30


def curves(picture: Picture, title: str, more: str, lines: Mapping[str, Mapping[int, float]]) -> None:
    """Draw curves over the number of keys, labelled at their ends; both scales are logarithmic."""
    lines = {name: points for name, points in lines.items() if any(value > 0 for value in points.values())}
    if not lines:
        return
    picture.title(title, more)
    high = 200.0
    across = Scale.over([key for points in lines.values() for key in points], MARGIN + 60, WIDE - MARGIN - 150)
    values = [value for points in lines.values() for value in points.values()]
    up = Scale.over(values, picture.y + high, picture.y)
    for mark in up.marks():
        picture.line([(across.start, up.at(mark)), (across.end, up.at(mark))])
        picture.text(across.start - 8, up.at(mark) + 4, short(mark), anchor="end", size=11, fill=OTHER)
    for key in sorted({key for points in lines.values() for key in points}):
        picture.text(across.at(key), picture.y + high + 18, f"{key:,}", anchor="middle", size=11, fill=OTHER)
    picture.text(across.end + 10, picture.y + high + 18, "keys", size=11, fill=OTHER)
    taken: list[float] = []
    for number, (name, points) in enumerate(lines.items()):
        colour = LINES[number % len(LINES)]
        places = [(across.at(key), up.at(value)) for key, value in sorted(points.items()) if value > 0]
        picture.line(places, colour, 2)
        for x, y in places:
            picture.dot(x, y, colour)
        y = places[-1][1] + 4
        while any(abs(y - other) < 14 for other in taken):
            y += 14
        taken.append(y)
        picture.text(across.end + 10, y, name, fill=colour)
    picture.y += high + 44


def by_keys(entries: Sequence[Entry], bench: str, figure: str) -> dict[str, dict[int, float]]:
    """One figure of a benchmark, by contestant and number of keys."""
    found: dict[str, dict[int, float]] = {}
    for entry in entries:
        if entry["bench"] == bench:
            for name, value in entry[figure].items():
                found.setdefault(name, {})[entry["keys"]] = value or 0
    return found


def draw(entries: Sequence[Entry]) -> str:
    """Draw all parts for which there are entries, as SVG."""
    picture = Picture()
    ratios(picture, entries)
    peers(picture, entries)
    curves(picture, "Rows per second in", "60 s windows every second", by_keys(entries, "keys", "rows/s"))
    state = by_keys(entries, "keys", "state bytes")
    window = {entry["keys"]: float(entry["window bytes"]) for entry in entries if entry["bench"] == "keys"}
    curves(picture, "Bytes of state, at most", "the rows of a window are its content", {**state, "content": window})
    grid: dict[str, dict[int, float]] = {}
    for entry in entries:
        if entry["bench"] == "grid":
            grid.setdefault(f"range/slide {entry['range/slide']}", {})[entry["keys"]] = entry["ratio"] or 0
    curves(picture, "Kernel to native panes", "rows per second; above 1 the kernel is faster", grid)
    return picture.svg()


def main() -> None:
    """Read the entries and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", type=Path, nargs="+", help="files of lines of JSON")
    parser.add_argument("-o", "--out", type=Path, default=Path("benchmarks.svg"))
    given = parser.parse_args()
    given.out.write_text(draw(read(given.lines)))


if __name__ == "__main__":
    main()
