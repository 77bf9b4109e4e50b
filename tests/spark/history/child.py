"""A run to be killed: `python -m tests.spark.history.child NAME SEED FOLDER since|after`; it says what it has done."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tests.spark.history.changes import CHANGES, Story
from tests.spark.kills.chaos_child import end_with, report, session


def main() -> None:
    name, seed, folder, how = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    story = Story(CHANGES[name], seed, folder)
    spark = session()
    begun = {"since": int(how)} if how.isdecimal() else {"after": folder / how}
    running = story.start(spark, story.change.new, "new", "checkpoint", once=True, **begun)
    print("started", flush=True)
    report(name, running)
    running.wait()
    print("done", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
