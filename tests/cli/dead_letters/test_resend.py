"""`transom resend` refuses in words what it cannot do; tests/servers/dead_letters has what it sends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_app import transom
from tests.connectors.dead_letters.written import CATALOG, catalog, letter, write_file, write_log
from transom.connectors.dead_letters.record import RECORD


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("power", "--reason", "lat"), 2, "did you mean late"),
        (("power", "--reason", "seven"), 2, "write one of ahead, before tick 0"),
        (("strict",), 2, "strict keeps no dead letters"),
        (("oven",), 2, "oven receives no messages"),
        (("meter", "--to", "x"), 2, "leave out --to: each message returns to its own topic"),
        (("kept",), 2, "the log of kept is a topic"),
        (("guarded",), 2, "the receiver asks senders for a certificate"),
    ],
)
def test_refused(tmp_path: Path, words: tuple[str, ...], code: int, message: str) -> None:
    catalog(tmp_path)
    more = """
  meter: {declare: 'pushed (v:float)', source: {mqtt: {broker: 'mqtt://127.0.0.1:1', topic: a/b}}}
  kept:
    declare: pushed (v:float)
    source: {mqtt: {broker: 'mqtt://127.0.0.1:1', topic: a/b, log: 'kafka://127.0.0.1:1/log'}}
  guarded:
    declare: pushed (v:float)
    source: {http: {listen: '127.0.0.1:28519', path: /x, tls: {certificate: a.pem, key: a.key, ca: b.pem}}}
"""
    (tmp_path / "catalog.yaml").write_text(CATALOG + more)
    (tmp_path / "log" / "guarded").mkdir(parents=True)
    result = transom("resend", *words, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (code, ""), result.stdout + result.stderr
    assert message in result.stderr


def test_a_dry_run_counts_and_leaves_nothing(tmp_path: Path) -> None:
    catalog(tmp_path)
    write_file(tmp_path / "dead" / "power", [letter(1), letter(2, "late"), letter(3, "late")])
    before = sorted(tmp_path.rglob("*"))
    result = transom("resend", "power", "--dry-run", "--to", "fixed", cwd=tmp_path)
    assert result.stdout == "power: 3 would be sent to fixed (2 late, 1 wrong type)\n"
    assert "rejects the message again" in result.stderr
    assert sorted(tmp_path.rglob("*")) == before
    late = transom("resend", "power", "--dry-run", "--reason", "late", "--reason", "no time", cwd=tmp_path)
    assert late.stdout == "power: 2 would be sent to power (2 late)\n"


def test_nothing_to_send_needs_no_broker(tmp_path: Path) -> None:
    catalog(tmp_path)
    result = transom("resend", "power", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (0, "power: 0 sent to power\n")
    assert not (tmp_path / "dead").exists()


def test_no_broker_and_no_collector_can_be_tried_again(tmp_path: Path) -> None:
    write_file(tmp_path / "dead" / "power", [letter(1)])
    write_log(tmp_path, [b"{"])
    kafka = transom("resend", "power", cwd=tmp_path)
    assert kafka.returncode == 75, kafka.stderr
    assert "look whether the broker runs" in kafka.stderr
    receiver = transom("resend", "car", cwd=tmp_path)
    assert (receiver.returncode, receiver.stdout) == (75, "car: 0 sent to http://127.0.0.1:28519/cars\n")
    assert "start the collector" in receiver.stderr
    assert (tmp_path / "log" / "car" / RECORD).read_bytes() == b""


def test_files_without_headers(tmp_path: Path) -> None:
    catalog(tmp_path)
    dead = tmp_path / "dead" / "power"
    write_file(dead, [letter(1)], headers=False)
    write_file(dead, [letter(2)], batch=1)
    refused = transom("resend", "power", "--dry-run", cwd=tmp_path)
    assert refused.returncode == 2
    assert f"1 of 2 files in {dead} lack the headers of their messages" in refused.stderr
    assert "--without-headers" in refused.stderr
    allowed = transom("resend", "power", "--dry-run", "--without-headers", cwd=tmp_path)
    assert allowed.stdout == "power: 2 would be sent to power (2 wrong type)\n"
