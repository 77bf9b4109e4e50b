"""A query over growing logs, in a process to be killed: `python -m tests.spark.input.scans_child FOLDER QUERY KERNEL`.

It ends when a file FOLDER/enough is there and all that the logs hold has been read.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import transom
from tests.spark.input.scans_story import CATALOG, QUERIES, UNTIL
from tests.spark.kills.chaos_child import end_with, session


def main() -> None:
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    folder, name, kernel = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    query = transom.compile(QUERIES[name], transom.Catalog.read(CATALOG, folder=folder))
    spark = session()
    running = query.start(
        spark,
        f"parquet:{folder / 'out'}",
        folder / "state",
        until=UNTIL,
        kernel="on" if kernel == "on" else "off",
        allow_unbounded=True,
    )
    while not (folder / "enough").exists():
        if not running.is_active:
            running.wait()
        time.sleep(0.1)
    running.stream.processAllAvailable()
    running.stop()
    spark.stop()


if __name__ == "__main__":
    main()
