"""What a peer's process and the benchmark say to each other, line by line; needs nothing but Python.

In: `about`, `answer FOLDER`, `run` or `read`. Out: one line that begins with `peer: done` or `peer: failed`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

DONE, FAILED = "peer: done", "peer: failed"


def serve(about: str, answer: Callable[[str], object], run: Callable[[], object], read: Callable[[], object]) -> None:
    """Do what is asked for until the input ends: name the engine, write answers, run without writing, only read."""
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        try:
            match command:
                case "about":
                    print(DONE, about, flush=True)
                    continue
                case "answer":
                    answer(argument)
                case "run":
                    run()
                case "read":
                    read()
                case _:
                    raise ValueError(command)
            print(DONE, flush=True)
        except Exception as error:
            first = str(error).strip().splitlines()
            print(FAILED, type(error).__name__, *first[:1], flush=True)
