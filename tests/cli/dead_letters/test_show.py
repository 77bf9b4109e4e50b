"""`transom dead-letters` counts messages that could not be used, by extent and reason."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.test_app import transom
from tests.connectors.dead_letters.written import catalog, letter, write_file, write_log

TABLE = """\
extent   reason       messages   sent again   first (UTC)           last (UTC)
───────────────────────────────────────────────────────────────────────────────────────
power    late         2          1            2024-06-01 06:00:02   2024-06-01 06:00:08
power    wrong type   1          0            2024-06-01 06:00:01   2024-06-01 06:00:01
car      wrong type   1          0            2024-06-01 06:00:00   2024-06-01 06:00:00
"""


def fill(folder: Path) -> None:
    catalog(folder)
    dead = folder / "dead" / "power"
    write_file(dead, [letter(1), letter(8, "late"), letter(2, "late")])
    sent = {"letter": "power-0@2 2024-06-01T06:00:02.000+00:00", "to": "power", "at": "2024-06-02T00:00:00+00:00"}
    (dead / "_resent.jsonl").write_text(json.dumps(sent) + "\n")
    write_log(folder, [b"{"])


def test_the_table(tmp_path: Path) -> None:
    fill(tmp_path)
    shown = transom("dead-letters", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\n".join(line.rstrip() for line in shown.stdout.splitlines()) == TABLE.strip()
    only = transom("dead-letters", "car", "--catalog", tmp_path / "catalog.yaml")
    assert "power" not in only.stdout
    assert "wrong type" in only.stdout


def test_json(tmp_path: Path) -> None:
    fill(tmp_path)
    [power] = json.loads(transom("dead-letters", "power", "--format", "json", cwd=tmp_path).stdout)
    assert (power["extent"], power["location"]) == ("power", str(tmp_path / "dead" / "power"))
    assert power["reasons"][0] == {
        "reason": "late",
        "messages": 2,
        "sent_again": 1,
        "first": "2024-06-01T06:00:02+00:00",
        "last": "2024-06-01T06:00:08+00:00",
    }


def test_nothing_yet(tmp_path: Path) -> None:
    catalog(tmp_path)
    assert transom("dead-letters", cwd=tmp_path).stdout.splitlines() == [
        f"power: no dead letters in {tmp_path / 'dead' / 'power'}",
        f"car: no dead letters in {tmp_path / 'log' / 'car'}",
    ]
    (tmp_path / "none.yaml").write_text("extents: {a: pushed (x:integer)}\n")
    nothing = transom("dead-letters", "-c", "none.yaml", cwd=tmp_path)
    assert nothing.stdout == "no extent of none.yaml keeps dead letters\n"


def test_what_cannot_be_listed(tmp_path: Path) -> None:
    catalog(tmp_path)
    for words, code, message in (
        (("strict",), 2, "strict keeps no dead letters"),
        (("oven",), 2, "oven receives no messages"),
        (("pwer",), 1, "did you mean power"),
        (("-c", "x.yaml"), 2, "no catalog file x.yaml"),
    ):
        result = transom("dead-letters", *words, cwd=tmp_path)
        assert (result.returncode, result.stdout) == (code, ""), result.stderr
        assert message in result.stderr
