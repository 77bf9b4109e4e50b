"""Render an SVG drawing to PNG with the library resvg, which the extra `png` installs."""

from __future__ import annotations

from transom.errors import UsageError, install_hint

ZOOM = 2.0
"""The pixels of the image for one pixel of the drawing, so that text stays sharp in print and on fine screens."""


def to_png(svg: str) -> bytes:
    """Convert an SVG drawing to a PNG image; raise UsageError if the extra `png` is not installed."""
    try:
        import resvg_py
    except ImportError as error:
        raise UsageError(
            "PNG needs the library resvg_py, which is not installed",
            hint=f"{install_hint('png')}; or let the name end in .svg",
        ) from error
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=ZOOM, background="white"))
