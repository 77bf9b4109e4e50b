"""Crossover of the kernel and the native panes, by number of keys and range/slide, for the planner's threshold.

    python -m benchmarks.grid [--rows 1000000] [--times 3] [--keys 1,10,100,1000,10000] [--widths 1,10,60]

One line of JSON per cell, then a table of the ratios kernel / native: above 1 the kernel is faster.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from benchmarks.measure import Plan, agreed, compare, figures, options, ratio, say, session, streamed
from benchmarks.windows import COLUMNS, Input, ours


def table(cells: dict[tuple[int, int], float | None], keys: list[int], widths: list[int]) -> str:
    """The ratios as a text table: one row per number of keys, one column per range/slide."""
    lines = [["keys", *(f"{width}" for width in widths)]]
    lines += [[f"{count:,}", *(f"{cells[count, width]}" for width in widths)] for count in keys]
    return "\n".join("  ".join(cell.rjust(8) for cell in line) for line in lines)


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 1_000_000)
    parser.add_argument("--keys", default="1,10,100,1000,10000")
    parser.add_argument("--widths", default="1,10,60")
    given = parser.parse_args()
    keys, widths = ([int(part) for part in text.split(",")] for text in (given.keys, given.widths))
    spark = session()
    cells: dict[tuple[int, int], float | None] = {}
    for count in keys:
        with tempfile.TemporaryDirectory() as place:
            source = Input(Path(place), given.rows, count).write()
            for width in widths:
                plans: dict[str, Plan] = {
                    "kernel": partial(ours, spark, source, width, "on"),
                    "native": partial(ours, spark, source, width, "off"),
                }
                answers, _ = agreed(spark, plans, COLUMNS)
                results = compare({name: streamed(plan) for name, plan in plans.items()}, given.times)
                cells[count, width] = ratio(results, "kernel", "native", given.rows)
                entry = {
                    "bench": "grid",
                    "range/slide": width,
                    "keys": count,
                    **figures(results, given.rows),
                    "ratio": cells[count, width],
                    "rows": given.rows,
                    "answers": answers,
                }
                say(entry, given.results)
    print("kernel / native, keys by range/slide\n" + table(cells, keys, widths))


if __name__ == "__main__":
    main()
