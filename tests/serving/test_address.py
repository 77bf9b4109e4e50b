"""The file with the address of a running project: who finds it, and what is said if its process has gone."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from transom.errors import Unavailable
from transom.serving.address import ADDRESS_FILE, published_address, reachable, read_address

ADDRESS = "http://127.0.0.1:8470"
PUBLISH = """\
import sys, time
from pathlib import Path
from transom.serving.address import published_address
with published_address(Path(sys.argv[1]), sys.argv[2]):
    print("published", flush=True)
    time.sleep(60)
"""


def test_the_address_is_there_during_the_block(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with published_address(state, ADDRESS):
        file = state / ADDRESS_FILE
        assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == (f"{ADDRESS}\n", 0o600)
        assert [path.name for path in state.iterdir()] == [ADDRESS_FILE]
        assert read_address(state, tmp_path / "transom.toml") == ADDRESS
    assert list(state.iterdir()) == []
    with pytest.raises(Unavailable, match=r"no `transom serve` answers for .*transom\.toml"):
        read_address(state, tmp_path / "transom.toml")


def test_the_file_goes_after_an_error_too(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), published_address(tmp_path, ADDRESS):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_later_process_keeps_its_file(tmp_path: Path) -> None:
    first, second = published_address(tmp_path, ADDRESS), published_address(tmp_path, "http://127.0.0.1:1")
    first.__enter__()
    with second:
        first.__exit__(None, None, None)
        assert read_address(tmp_path, tmp_path) == "http://127.0.0.1:1"
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    other, state = tmp_path / "other.txt", tmp_path / "state"
    other.write_text("kept")
    state.mkdir()
    (state / ADDRESS_FILE).symlink_to(other)
    with published_address(state, ADDRESS):
        assert read_address(state, tmp_path) == ADDRESS
    assert (other.read_text(), list(state.iterdir())) == ("kept", [])


def test_a_killed_process_leaves_a_file_that_is_known_as_stale(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PUBLISH, tmp_path, ADDRESS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"published\n"
        assert read_address(tmp_path, tmp_path) == ADDRESS
        process.send_signal(signal.SIGKILL)
    with pytest.raises(Unavailable, match="has ended") as raised:
        read_address(tmp_path, tmp_path / "transom.toml")
    assert str(tmp_path / ADDRESS_FILE) in str(raised.value.detail)
    assert f"transom serve {tmp_path}" in str(raised.value.hint)
    with published_address(tmp_path, "http://127.0.0.1:1"):
        assert read_address(tmp_path, tmp_path) == "http://127.0.0.1:1"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / ADDRESS_FILE).mkdir()
    with pytest.raises(Unavailable, match="cannot read"):
        read_address(tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://127.0.0.1:8470", "http://127.0.0.1:8470"),
        ("https://10.0.0.5:8470", "https://10.0.0.5:8470"),
        ("https://0.0.0.0:8470", "https://127.0.0.1:8470"),
        ("https://[::]:8470", "https://[::1]:8470"),
        ("http://[::1]:1", "http://[::1]:1"),
    ],
)
def test_an_address_that_programs_can_reach(address: str, url: str) -> None:
    assert reachable(address) == url
