"""A wind park that is the same for the same seed: `python generate.py --seed 1` writes the files of `data/` anew."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random

WTUR = "http://iec.org/61400-25/root/ln-classes/WTUR#"
MY = "http://src.net/my#"
TURBINE = "http://src.net/turbine/"
NAMES = ("Ada", "Bora", "Cers", "Diablo")
MINUTE = 60_000


def turbines(seed: int) -> list[tuple[int, str, int]]:
    """Number, name and power of every turbine."""
    dice = Random(f"park-{seed}")
    return [(number, name, dice.choice((1500, 2000, 3000))) for number, name in enumerate(NAMES, 1)]


def reports(seed: int, minutes: int) -> list[tuple[int, str]]:
    """Messages in Turtle, with their times: how often a turbine has started, or stopped; one is damaged."""
    dice = Random(f"td-{seed}")
    starts = {number: dice.randrange(10, 20) for number, *_ in turbines(seed)}
    found: list[tuple[int, str]] = []
    for minute in range(0, minutes, 5):
        number = dice.choice(list(starts))
        at = minute * MINUTE + dice.randrange(MINUTE)
        starts[number] += dice.randrange(1, 5)
        found.append((at, f"<{TURBINE}{number}> <{WTUR}StrCnt> {starts[number]} ."))
        if dice.random() < 0.5:
            later = at + dice.randrange(1, 4 * MINUTE)
            found.append((later, f"<{TURBINE}{number}> <{WTUR}StopCnt> {starts[number] - 1} ."))
    found[len(found) // 2] = (found[len(found) // 2][0], f"<{TURBINE}")
    return sorted(found)


def park(seed: int) -> str:
    """The stored graph."""
    lines = [f"@prefix my: <{MY}> .", f"@prefix wt: <{TURBINE}> .", ""]
    lines += [f'wt:{number} my:name "{name}" ; my:power {power} .' for number, name, power in turbines(seed)]
    return "\n".join(lines) + "\n"


def told(seed: int) -> str:
    """The same statements as a stream: a table of terms."""
    dice = Random(f"told-{seed}")
    rows = ["t,s,p,o"]
    at = 0
    for number, name, power in turbines(seed):
        at += dice.randrange(100, 700)
        rows.append(f'{at},wt:{number},my:name,"""{name}"""')
        at += dice.randrange(100, 700)
        rows.append(f"{at},wt:{number},my:power,{power}")
    return "\n".join(rows) + "\n"


def files(seed: int, minutes: int) -> dict[str, str]:
    """The files by their names."""
    messages = [json.dumps({"t": at, "payload": text}) for at, text in reports(seed, minutes)]
    return {"park.ttl": park(seed), "td.jsonl": "\n".join(messages) + "\n", "told.csv": told(seed)}


def main() -> None:
    """Write the files."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--minutes", type=int, default=60)
    options.add_argument("--folder", type=Path, default=Path(__file__).parent / "data")
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(given.seed, given.minutes).items():
        (given.folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
