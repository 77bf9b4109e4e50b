"""The cases that every server with TLS is put through, as extents of one catalog."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import threading
from pathlib import Path

import pytest

from tests.servers.start import wait_for
from tests.servers.tls.secure import WORD, Certificates
from transom.catalog import Catalog
from transom.collector.run import _collect, select_extents
from transom.connectors import open_stream
from transom.connectors.log.segments import segments

CASES = {
    "right": "",
    "other": "unable to get local issuer certificate",
    "expired": "certificate has expired",
    "elsewhere": "mismatch",
    "stranger": "",
}
"""What is told in each case: nothing where all is well; the words for a wrong password are the server's."""


def cases(form: str, ports: dict[str, int], made: Certificates) -> str:
    """A catalog with an extent for each case."""
    text = "extents:"
    for case in CASES:
        ca, word = made.other_ca if case == "other" else made.ca, "NO" if case == "stranger" else "RIGHT"
        text += form.format(case=case, port=ports.get(case, ports["right"]), ca=ca, word=word, client=made.client)
    return text


def check(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch, row: tuple[object, ...], stranger: str) -> None:
    """Collect from all servers at once: rows of the right one, one line of words for each of the others."""
    monkeypatch.setenv("RIGHT", WORD)
    monkeypatch.setenv("NO", "wrong")
    told: list[str] = []
    catalog = Catalog.read(text, folder=folder)

    def rows(case: str) -> set[object]:
        if not segments(folder / "log" / case):
            return set()
        return {e.row for e in open_stream(catalog.extents[case], catalog.calendar, folder)}

    def is_done() -> bool:
        refused = {line.partition(":")[0] for line in told}
        return bool(rows("right")) and refused >= CASES.keys() - {"right"}

    def stop() -> None:
        with contextlib.suppress(TimeoutError):
            wait_for(is_done, 90, "the cases")
        os.kill(os.getpid(), signal.SIGTERM)  # as an operator does

    watching = threading.Thread(target=stop)
    watching.start()
    asyncio.run(_collect(catalog, select_extents(catalog, []), 0.1, 100, told.append))
    watching.join()
    assert WORD not in "".join(told)
    for case, words in CASES.items():
        assert rows(case) == ({row} if case == "right" else set()), (case, told)
        said = [line for line in told if line.startswith(f"{case}: ") and line != f"{case}: connected"]
        assert len(said) == (case != "right"), (case, told)
        assert all(re.search(words or stranger, line) for line in said), said
        assert all("\n" not in line for line in said)
