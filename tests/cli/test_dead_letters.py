"""What `run` shows of dead letters while a query runs."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

import transom
from transom.cli.run import progress_table
from transom.model.balance import Balance
from transom.runtime.progress import Progress


def test_dead_letters_stand_in_the_block() -> None:
    catalog = transom.Catalog.read("extents: {power: {declare: 'pushed (watts:float)'}}")
    query = transom.compile("SELECT watts FROM power", catalog)
    words = StringIO()
    done = Progress(sources={"power": Balance(1240, 4, 1234, {"not JSON": 2})}, refused={"webhook sink: refused": 3})
    Console(file=words, width=100).print(progress_table(done, query.state))
    lines = [" ".join(line.split()) for line in words.getvalue().splitlines()]
    assert "power 1,240 read 4 used + 1,234 late + 2 rejected (2 not JSON)" in lines
    assert "dead letters 3 webhook sink: refused" in lines
