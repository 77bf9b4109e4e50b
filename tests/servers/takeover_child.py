"""A query of a story, to be killed: `python -m tests.servers.takeover_child NAME SEED FOLDER SINK old|new`.

The old query runs until it is taken over; the new one takes over and ends with the last row.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tests.spark.history.changes import CHANGES, Story
from tests.spark.kills.chaos_child import end_with, report, session
from transom.errors import TransomError


def main() -> int:
    name, seed, folder, sink, which = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5]
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    story, spark = Story(CHANGES[name], seed, folder), session()
    try:
        if which == "old":
            running = story.start(spark, story.change.old, sink, "before")
        else:
            new, before = story.change.new, folder / "before"
            running = story.start(spark, new, sink, "checkpoint", once=True, after=before)
        print("started", flush=True)
        threading.Thread(target=report, args=(which, running), daemon=True).start()
        running.wait()
        print("done", flush=True)
    except TransomError as error:
        print(type(error).__name__, error.message, flush=True)
        return error.exit_code
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # without waiting for Spark
