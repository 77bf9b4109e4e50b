"""Build SVG as plain strings: elements, escaped text, and reproducible number formats."""

from __future__ import annotations

import re

Attribute = str | int | float
"""The type of an element's attribute value."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}

_LETTER_WIDTHS = dict.fromkeys("iljI.,:;'|!", 0.29) | dict.fromkeys(" tfr()[]-", 0.38)
_LETTER_WIDTHS |= dict.fromkeys("mwMW…←", 0.92)


def escape(text: str) -> str:
    """Escape text for XML content and attributes; characters that XML does not allow become U+FFFD.

    >>> escape("a<b")
    'a&lt;b'
    """
    return "".join(_ESCAPES.get(letter, letter) for letter in _NOT_XML.sub("\ufffd", text))


def number(value: int | float) -> str:
    """Format a number for SVG: at most two decimals and no trailing zeros."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def tag(name: str, *content: str, **attributes: Attribute | None) -> str:
    """Write an SVG element with its content and attributes; an attribute with the value None is omitted.

    The argument `font_size` is the attribute font-size. `__` becomes a colon.

    >>> tag("circle", r=2.5, data_tick=3)
    '<circle r="2.5" data-tick="3"/>'
    """
    parts = [name]
    for key, value in attributes.items():
        if value is not None:
            text = value if isinstance(value, str) else number(value)
            parts.append(f'{_attribute_name(key)}="{escape(text)}"')
    head = " ".join(parts)
    return f"<{head}>{''.join(content)}</{name}>" if content else f"<{head}/>"


def _attribute_name(key: str) -> str:
    """Convert a Python argument name to the SVG attribute: `class_` to class, `font_size` to font-size."""
    return key.rstrip("_").replace("__", ":").replace("_", "-")


def label(x: float, y: float, text: str, *, size: Attribute = 12, **attributes: Attribute | None) -> str:
    """Draw an SVG text element at (x, y) with one line of text; `size` is the font size in pixels."""
    return tag("text", escape(text), x=x, y=y, font_size=size, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Attribute | None) -> str:
    """Draw an SVG line element from (x1, y1) to (x2, y2)."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def tooltip(text: str) -> str:
    """Write an SVG title element, which browsers show as a tooltip of its parent element."""
    return tag("title", escape(text))


def shorten(text: str, max_length: int) -> str:
    """Cut text to at most `max_length` characters, ending in an ellipsis if it was cut."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def text_width(text: str, size: float = 12) -> float:
    """Estimate the width of a line of text in pixels; the estimate is rather too wide, because fonts differ."""
    return size * sum(_LETTER_WIDTHS.get(letter, 0.62) for letter in text)
