"""Plans in a process of their own: `python -m tests.matrix.child FOLDER PLAN,PLAN [SETTING=VALUE ...]`.

Each plan reads FOLDER/PLAN/in. The process says when its runs have started, how each has ended, and what its two clocks
say, that of Python and that of the JVM.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

from tests.matrix.bench import SEED
from tests.matrix.plans import PLANS
from tests.spark.kills.chaos import TICKS
from tests.spark.kills.chaos_child import begin, end_with, session
from transom.errors import TransomError
from transom.runtime.failures import translate_error, unknown_error


def main() -> None:
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    folder, names = Path(sys.argv[1]), sys.argv[2].split(",")
    spark = session(settings=dict(pair.split("=", 1) for pair in sys.argv[3:]))
    started = {}
    for name in names:
        try:
            started[name] = begin(spark, name, PLANS[name].kernel, SEED, TICKS, folder / name)
        except Exception as error:
            say_end(name, error)
    say("started")
    for name, running in started.items():
        try:
            running.wait()
        except Exception as error:
            say_end(name, error)
        else:
            say_end(name, None)
    say("clocks", time.time(), int(spark._jvm.System.currentTimeMillis()) / 1000)
    say("done")
    sys.stdout.flush()
    os._exit(0)  # without waiting for Spark


def say_end(name: str, error: Exception | None) -> None:
    """Say how the run of a plan has ended."""
    if error is None:
        say("ended", name, None)
        return
    known = error if isinstance(error, TransomError) else translate_error(error) or unknown_error(error)
    say("ended", name, {"kind": type(known).__name__, "text": known.message, "hint": known.hint, "all": known.render()})


def say(*words: object) -> None:
    """Print a line of JSON."""
    print(json.dumps(words), flush=True)


if __name__ == "__main__":
    main()
