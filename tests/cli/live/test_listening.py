"""`transom collect --listen`: its options, and what programs get while it runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

import httpx

from tests.cli.test_app import ROOT, transom
from tests.collector.test_extents_alone import free_ports

TOKEN = "0123456789abcdef"
DOOR = """
extents:
  car:
    declare: pushed (plate:string)
    source: {{http: {{listen: '127.0.0.1:{port}', path: /}}}}
"""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--listen", "0.0.0.0:0"], "a token is needed"),
        (["--listen", "nowhere"], "is no address with a port"),
        (["--listen", "0.0.0.0:0", "--token-file", "token.txt"], "must be encrypted"),
        (["--listen", "127.0.0.1:0", "--tls-key", "x"], "belong together"),
        (["--token-file", "token.txt"], "without --listen, no program can ask"),
        (["--behind-proxy", "10.0.0.2"], "without --listen, no program can ask"),
    ],
)
def test_options_that_are_refused_before_anything_is_collected(
    tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "c.yaml").write_text(DOOR.format(port=free_ports(1)[0]))
    (tmp_path / "token.txt").write_text(f"{TOKEN}\n")
    refused = transom("collect", "--catalog", "c.yaml", "--for", "1 s", *options, cwd=tmp_path)
    assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
    assert not (tmp_path / "log").exists()


def test_a_collector_answers_until_it_is_stopped(tmp_path: Path) -> None:
    [port] = free_ports(1)
    (tmp_path / "c.yaml").write_text(DOOR.format(port=port))
    (tmp_path / "token.txt").write_text(f"{TOKEN}\n")
    words = ["collect", "--catalog", "c.yaml", "--segment", "100 ms", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "transom", *words, "--token-file", "token.txt"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        listening = re.match(r"listening on (http://127\.0\.0\.1:\d+)\n", process.stderr.readline())
        assert listening
        assert process.stderr.readline() == f"car: listening on 127.0.0.1:{port}/\n"
        with httpx.Client(base_url=listening[1], trust_env=False, timeout=10) as client:
            assert client.get("/healthz").json() == {"healthy": True}
            assert client.get("/metrics").status_code == 401
            sent = httpx.post(f"http://127.0.0.1:{port}/", json={"plate": "a"}, trust_env=False)
            assert sent.is_success
            text = client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"}).text
            assert client.get("/readyz").json() == {"ready": True, "extents": {"up": 1, "down": 0}}
        assert 'transom_extent_rows_total{extent="car",outcome="rows",reason=""} 1.0' in text
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, "Traceback" in rest, TOKEN in rest) == (0, False, False), rest
