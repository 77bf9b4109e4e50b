"""A peer's process, kept warm between runs, and what a run of it costs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Spent, cpu_seconds, family
from benchmarks.peers.install import ROOT, Problem
from benchmarks.peers.speak import DONE, FAILED


class Peer:
    """One engine; what it prints beside its answers goes to a file."""

    def __init__(self, command: Sequence[str], log: Path, limit: float) -> None:
        self.limit = limit
        self.log = log
        paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        with log.open("w") as errors:
            self.process = subprocess.Popen(  # noqa: S603 - our own commands
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=log.parent,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            )

    def ask(self, command: str) -> str:
        """What it says when it is done; it is ended if it takes too long."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        timer = threading.Timer(self.limit, self.kill)
        timer.start()
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith(DONE):
                    return line.removeprefix(DONE).strip()
                if line.startswith(FAILED):
                    raise Problem(line.removeprefix(FAILED).strip())
        except OSError:
            pass
        finally:
            timer.cancel()
        last = self.log.read_text(errors="replace").strip().splitlines()[-1:]
        raise Problem(" ".join([f"ended, or took longer than {self.limit:g} s", *last])[:300])

    def spend(self, command: str) -> Spent:
        """Wall time and CPU seconds of a command."""
        before, began = cpu_seconds(self.process.pid), time.perf_counter()
        self.ask(command)
        taken, after = time.perf_counter() - began, cpu_seconds(self.process.pid)
        return Spent(taken, after - before if after is not None and before is not None else None)

    def kill(self) -> None:
        """End it and all that it started."""
        for pid in family(self.process.pid) or [self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """Let it end by itself, or end it."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
