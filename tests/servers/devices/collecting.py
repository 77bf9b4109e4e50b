"""The collector as users run it: a process of its own, that may be killed at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from transom.connectors.log.segments import segments


class Collector:
    """`transom collect` over the catalog of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def catalog(self, text: str) -> None:
        (self.folder / "catalog.yaml").write_text(text)

    def start(self, *options: str, files: int | None = None, **environment: str) -> None:
        """Start it; `files` is how many files and sockets it may have open."""
        command = [sys.executable, "-m", "transom", "collect", "-c", str(self.folder / "catalog.yaml"), *options]
        limited = [] if files is None else ["prlimit", f"--nofile={files}:{files}"]
        self.process = subprocess.Popen(
            [*limited, *command], stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )

    def stop(self) -> str:
        """Ask it to stop, as an operator does; what it said."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, said
        self.process = None
        return said

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def entries(self, extent: str, *columns: str) -> list[tuple[object, ...]]:
        """Some columns of a log, in its order."""
        found = segments(self.folder / "log" / extent)
        return [
            tuple(e[c] for c in columns) for p in found for e in pq.read_table(p, columns=list(columns)).to_pylist()
        ]

    def kinds(self, extent: str) -> Counter[object]:
        return Counter(kind for (kind,) in self.entries(extent, "_kind"))
