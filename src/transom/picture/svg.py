"""SVG as plain strings: elements, escaped text, and numbers that look the same every time."""

from __future__ import annotations

import re

Attribute = str | int | float
"""What an attribute of an element may be given as."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}

_WIDTHS = dict.fromkeys("iljI.,:;'|!", 0.29) | dict.fromkeys(" tfr()[]-", 0.38)
_WIDTHS |= dict.fromkeys("mwMW…←", 0.92)


def escape(text: str) -> str:
    """Text that is safe in content and in attributes; what XML cannot hold becomes a replacement mark.

    >>> escape("a<b")
    'a&lt;b'
    """
    return "".join(_ESCAPES.get(letter, letter) for letter in _NOT_XML.sub("\ufffd", text))


def number(value: int | float) -> str:
    """A number with at most two decimals, without trailing zeros."""
    if isinstance(value, int):
        return str(value)
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def tag(name: str, *content: str, **attributes: Attribute | None) -> str:
    """An element. Underscores in names of attributes become hyphens, two of them a colon; None leaves one out.

    >>> tag("circle", r=2.5, data_tick=3)
    '<circle r="2.5" data-tick="3"/>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is not None:
            shown = value if isinstance(value, str) else number(value)
            words.append(f'{_spelled(key)}="{escape(shown)}"')
    head = " ".join(words)
    return f"<{head}>{''.join(content)}</{name}>" if content else f"<{head}/>"


def _spelled(key: str) -> str:
    return key.rstrip("_").replace("__", ":").replace("_", "-")


def label(x: float, y: float, words: str, *, size: Attribute = 11, **attributes: Attribute | None) -> str:
    """A line of text."""
    return tag("text", escape(words), x=x, y=y, font_size=size, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Attribute | None) -> str:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def hint(words: str) -> str:
    """What a browser shows while the pointer rests on an element."""
    return tag("title", escape(words))


def shortened(words: str, most: int) -> str:
    """At most so many letters, the last one an ellipsis if some are left out."""
    return words if len(words) <= most else words[: most - 1] + "…"


def width_of(words: str, size: float = 11) -> float:
    """About how wide a line of text is in a wide font; which font there will be, nobody knows."""
    return size * sum(_WIDTHS.get(letter, 0.62) for letter in words)
