"""What `run` shows of dead letters while a query runs."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

import transom
from transom.cli_running import block
from transom.runtime.progress import Progress


def test_dead_letters_stand_in_the_block() -> None:
    catalog = transom.Catalog.read("extents: {power: {declare: 'pushed (watts:float)'}}")
    query = transom.compile("SELECT watts FROM power", catalog)
    words = StringIO()
    dead = {"power: late": 1234, "power: not JSON": 2}
    Console(file=words, width=100).print(block(Progress(dead=dead), query))
    lines = [line.split() for line in words.getvalue().splitlines()]
    assert ["dead", "letters", "1,234", "power:", "late"] in lines
    assert ["dead", "letters", "2", "power:", "not", "JSON"] in lines
