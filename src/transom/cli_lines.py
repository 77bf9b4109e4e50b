"""Lines on a terminal. Rich takes as long to import as a small catalog to read: only colour and layout import it."""

from __future__ import annotations

import typer


def say(words: str, style: str = "", *, err: bool = False) -> None:
    """Print words as they are, in a style of Rich where the terminal has colours."""
    if not style:
        typer.echo(words, err=err)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=err, highlight=False, soft_wrap=True).print(Text(words, style=style))
