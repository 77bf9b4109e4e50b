"""A run that is stopped and fenced: `python -m tests.spark.kills.race_child FOLDER SINK live|once`.

It reads FOLDER/in, and goes on from FOLDER/checkpoint once it is told to on its input. Its exit code is that of
`transom run`. With `once`, it says the last closed tick.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import transom
from tests.spark.kills.chaos_child import session
from transom.errors import TransomError

CATALOG = "extents: {car: {declare: 'pushed (plate:string, speed:integer)', source: {files: 'in/*.csv'}}}"
QUERY = "RSTREAM(SELECT plate, COUNT(*) AS n FROM car [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY plate)"
JARS = "TRANSOM_RACE_JARS"
"""The environment variable with further jars of the session, with commas between them."""


def query(folder: Path) -> transom.Query:
    return transom.compile(QUERY, transom.Catalog.read(CATALOG, folder=folder))


def main() -> int:
    folder, sink, manner = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    asked, spark = query(folder), session(jars=os.environ.get(JARS, ""))
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        running = asked.start(spark, sink, folder / "checkpoint", once=manner == "once")
        print("begun", flush=True)
        running.wait()
        print("closed", running.closed_tick(), flush=True)
        print("read", running.progress().totals["car"].read, flush=True)
    except TransomError as error:
        print(type(error).__name__, error, flush=True)
        return error.exit_code
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # without waiting for Spark
