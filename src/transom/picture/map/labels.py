"""Place labels on a map: beside what they name, on as few tracks as possible and never on one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from transom.picture.map.frame import HALO, LEFT, PLOT_WIDTH, MapFrame
from transom.picture.svg import Attribute, label, text_width

Box = tuple[float, float, float, float]
"""The left, upper, right and lower pixel of a rectangle."""

Pixel = tuple[float, float]
"""The x and the y pixel of a point."""

CELL = 5.0
HEIGHT = 14.0
MARGIN = 8.0


class LabelBoard:
    """The area of a map, with what is on it: cells that tracks cross, and boxes of labels and symbols."""

    def __init__(self, frame: MapFrame) -> None:
        """Start an empty board of the size of a map's plot; labels and symbols are added to it later."""
        self._limits: Box = (LEFT + 2, frame.plot_top + 2, LEFT + PLOT_WIDTH - 2, frame.bottom - 2)
        self._cells: set[tuple[int, int]] = set()
        self._boxes: list[Box] = []

    def add_line(self, points: Sequence[Pixel]) -> None:
        """Mark the cells that a track crosses, so that labels avoid them."""
        for (x1, y1), (x2, y2) in pairwise(points):
            steps = int(max(abs(x2 - x1), abs(y2 - y1)) / CELL) + 1
            for step in range(min(steps, 400) + 1):
                share = step / min(steps, 400)
                self._cells.add((int((x1 + (x2 - x1) * share) / CELL), int((y1 + (y2 - y1) * share) / CELL)))

    def add_box(self, box: Box) -> None:
        """Mark the box of a symbol, or of anything else that no label may cover."""
        self._boxes.append(box)

    def add_symbol(self, point: Pixel, radius: float) -> None:
        """Mark the area of a symbol around a point, which no label may cover."""
        x, y = point
        self._boxes.append((x - radius, y - radius, x + radius, y + radius))

    def crossed(self, box: Box) -> float:
        """Return the share of a box and its margin that tracks cross, plus 1 if a label or symbol is there."""
        left, top, right, bottom = box[0] - MARGIN, box[1] - MARGIN, box[2] + MARGIN, box[3] + MARGIN
        covered = any(left < b[2] and b[0] < right and top < b[3] and b[1] < bottom for b in self._boxes)
        return self._crossed((left, top, right, bottom)) + covered

    def write(
        self,
        text: str,
        anchors: Iterable[Pixel],
        svg_attributes: Mapping[str, Attribute],
        *,
        font_size: float,
        max_crossed_share: float = 1.0,
    ) -> str | None:
        """Return SVG of a text at its best free anchor; None if no box is free, or tracks cross too much of each.

        `svg_attributes` are attributes of the text, and `max_crossed_share` is the greatest share of the box that
        tracks may cross.
        """
        width = text_width(text, font_size)
        best: tuple[float, Pixel, Box] | None = None
        for x, y in anchors:
            box = (x - 1, y - HEIGHT / 2, x + width + 1, y + HEIGHT / 2)
            if not self._is_free(box):
                continue
            crossed = self._crossed(box)
            if best is None or crossed < best[0] - 1e-9:
                best = (crossed, (x, y), box)
            if crossed == 0:
                break
        if best is None or best[0] > max_crossed_share:
            return None
        _, (x, y), box = best
        self._boxes.append(box)
        return label(x, y + font_size * 0.36, text, size=font_size, **HALO, **svg_attributes)

    def _is_free(self, box: Box) -> bool:
        """Whether a box lies on the map and covers no label or symbol."""
        left, top, right, bottom = box
        limits = self._limits
        if left < limits[0] or top < limits[1] or right > limits[2] or bottom > limits[3]:
            return False
        return not any(left < b[2] and b[0] < right and top < b[3] and b[1] < bottom for b in self._boxes)

    def _crossed(self, box: Box) -> float:
        """Return the share, from 0 to 1, of the grid cells below a box that are crossed by tracks."""
        columns = range(int(box[0] / CELL), int(box[2] / CELL) + 1)
        rows = range(int(box[1] / CELL), int(box[3] / CELL) + 1)
        crossed = sum((column, row) in self._cells for column in columns for row in rows)
        return crossed / (len(columns) * len(rows))


def beside(point: Pixel, text: str, font_size: float, distance: float) -> Iterator[Pixel]:
    """Yield where a text's box may begin: `distance` pixels right, left, above or below of a point, then further."""
    x, y = point
    width = text_width(text, font_size)
    for away in (distance, distance + 8):
        yield x + away, y
        yield x - away - width, y
        yield x - width / 2, y - away - HEIGHT / 2
        yield x - width / 2, y + away + HEIGHT / 2
        for slant in (-1, 1):
            yield x + away * 0.8, y + slant * (away * 0.6 + HEIGHT / 2)
            yield x - away * 0.8 - width, y + slant * (away * 0.6 + HEIGHT / 2)


def inside(outline: Sequence[Pixel], text: str, font_size: float) -> Iterator[Pixel]:
    """Yield (x, y) where the box of a text may begin: inside an outline, from its top down, then outside of it.

    If the text fits nowhere inside, it may stand above or below the outline.
    """
    width = text_width(text, font_size)
    left, right = min(x for x, _ in outline), max(x for x, _ in outline)
    top, bottom = min(y for _, y in outline), max(y for _, y in outline)
    rows = max(2, min(24, int((bottom - top) / 12)))
    columns = max(2, min(24, int((right - left) / 20)))
    for row in range(rows):
        y = top + HEIGHT / 2 + 4 + row * max(bottom - top - HEIGHT - 8, 0) / max(rows - 1, 1)
        for column in range(columns):
            x = left + 4 + column * (right - left - width - 8) / max(columns - 1, 1)
            corners = [(x - 3, y - HEIGHT / 2), (x + width + 3, y - HEIGHT / 2), (x - 3, y + HEIGHT / 2)]
            corners.append((x + width + 3, y + HEIGHT / 2))
            if all(_is_inside(outline, corner) for corner in corners):
                yield x, y
    for x in ((left + right - width) / 2, left, right - width):
        yield x, top - HEIGHT / 2 - 3
        yield x, bottom + HEIGHT / 2 + 3
    for y in (top + HEIGHT / 2, (top + bottom) / 2, bottom - HEIGHT / 2):
        yield right + 5, y
        yield left - 5 - width, y


def _is_inside(outline: Sequence[Pixel], point: Pixel) -> bool:
    """Whether a pixel lies inside a closed outline, by the even-odd rule."""
    x, y = point
    crossings = 0
    for (x1, y1), (x2, y2) in pairwise(outline):
        if (y1 > y) != (y2 > y) and x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
            crossings += 1
    return crossings % 2 == 1
