"""The runs of a group of points, to be killed: `python -m tests.spark.history.seam_child FOLDER GROUP`."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tests.spark.history.changes import Story
from tests.spark.history.seams import GROUPS
from tests.spark.kills.chaos_child import end_with, report, session


def main() -> None:
    folder, number = Path(sys.argv[1]), int(sys.argv[2])
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    spark = session()
    runs = {}
    for seam in GROUPS[number]:
        name = seam.change.name.replace(", ", "-")
        story = Story(seam.change, seam.seed, folder / name, pieces=5)
        new, before = seam.change.new, story.folder / "before"
        runs[f"{name}-after"] = story.start(spark, new, "new", "checkpoint", once=True, after=before)
        runs[f"{name}-since"] = story.start(spark, new, "since-out", "since", once=True, since=seam.since)
    print("started", flush=True)
    for name, running in runs.items():
        threading.Thread(target=report, args=(name, running), daemon=True).start()
    for running in runs.values():
        running.wait()
    print("done", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
