"""Sizes, colours and fonts that all parts of a picture share."""

from __future__ import annotations

WIDTH = 860
LEFT = 30
EDGE = 14
RIGHT = WIDTH - EDGE - 28

INK = "#1f2933"
FADED = "#5b6673"
GREY = "#9aa5b1"
FAINT = "#d5dbe1"
PANEL = "#f6f8fa"
BEFORE = "#e9edf1"

SANS = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, 'SFMono-Regular', Menlo, Consolas, 'DejaVu Sans Mono', monospace"

BAR = 18
ROW = 30
NOTES = 14

TEXT_HALO: dict[str, str | int | float] = {
    "paint_order": "stroke",
    "stroke": PANEL,
    "stroke_width": 3,
    "stroke_linejoin": "round",
}
"""Attributes that keep text readable where lines cross it."""
