"""Dead letters are sent again in their order, each once, and what was sent is recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.connectors.dead_letters.written import OTHER, catalog, letter, write_file, write_log
from transom.connectors.dead_letters.letters import DeadLetter
from transom.connectors.dead_letters.record import RECORD, ResendRecord, targets_by_letter
from transom.connectors.dead_letters.resend import Receipt, Resent, count_pending, send_pending
from transom.connectors.dead_letters.store import LetterStore, count_by_reason, open_store
from transom.connectors.payloads import MAX_MESSAGE_BYTES
from transom.errors import DataError, Unavailable, UsageError


class Recorder:
    """A sender that keeps what it is given; it is killed before portion number `killed`, or fails in it."""

    target = "power"
    portion = 2

    def __init__(self, killed: int | None = None, failed: int | None = None, refused: Sequence[bytes] = ()) -> None:
        self.portions: list[list[DeadLetter]] = []
        self.killed, self.failed, self.refused = killed, failed, refused

    @property
    def values(self) -> list[bytes | None]:
        return [letter.value for portion in self.portions for letter in portion]

    def send(self, letters: Sequence[DeadLetter]) -> Receipt:
        number = len(self.portions)
        self.portions.append(list(letters))
        if number == self.killed:  # the broker has the messages, and nothing is recorded
            raise KeyboardInterrupt
        if number == self.failed:
            return Receipt([letters[0].id], error=Unavailable("gone"))
        refused = {one.id: "too large" for one in letters if one.value in self.refused}
        return Receipt([one.id for one in letters if one.id not in refused], refused)


def store_of(folder: Path, extent: str = "power") -> LetterStore:
    loaded = catalog(folder)
    return open_store(loaded.extents[extent], loaded.folder)


def send(folder: Path, sender: Recorder, *reasons: str, again: bool = False, extent: str = "power") -> Resent:
    outcome = Resent()
    send_pending(store_of(folder, extent), sender, reasons, outcome, repeat=again)
    return outcome


def test_each_is_sent_once_in_order(tmp_path: Path) -> None:
    dead = tmp_path / "dead" / "power"
    write_file(dead, [letter(3), letter(4, "late")])
    write_file(dead, [letter(9)], batch=1)
    write_file(dead, [letter(4, "late")], query=OTHER)  # another query rejected the same message
    sender = Recorder()
    outcome = send(tmp_path, sender)
    assert sender.values == [b"v3", b"v4", b"v9"]
    first = sender.portions[0][0]
    assert (first.key, first.headers, first.origin, first.partition) == (b"m1", (("trace", b"t1"),), "power", 0)
    assert (outcome.sent, outcome.before) == ({"wrong type": 2, "late": 1}, 0)
    second = Recorder()
    assert (send(tmp_path, second).before, second.values) == (3, [])
    third = Recorder()
    assert (send(tmp_path, third, again=True).sent.total(), third.values) == (3, sender.values)


def test_reasons_and_targets_are_kept_apart(tmp_path: Path) -> None:
    write_file(tmp_path / "dead" / "power", [letter(1), letter(2, "late"), letter(3)])
    sender = Recorder()
    assert send(tmp_path, sender, "late").sent == {"late": 1}
    assert sender.values == [b"v2"]
    elsewhere = Recorder()
    elsewhere.target = "power-fixed"
    assert send(tmp_path, elsewhere).sent.total() == 3
    counts = count_by_reason(store_of(tmp_path))
    assert {reason: (one.count, one.sent) for reason, one in counts.items()} == {"wrong type": (2, 2), "late": (1, 1)}
    outcome = Resent()
    count_pending(store_of(tmp_path), "power", (), outcome, repeat=False)
    assert (outcome.sent, outcome.before) == ({"wrong type": 2}, 1)


def test_a_kill_repeats_at_most_a_portion(tmp_path: Path) -> None:
    write_file(tmp_path / "dead" / "power", [letter(number) for number in range(7)])
    killed = Recorder(killed=2)
    with pytest.raises(KeyboardInterrupt):
        send(tmp_path, killed)
    after = Recorder()
    outcome = send(tmp_path, after)
    assert (outcome.before, outcome.sent.total()) == (4, 3)
    assert killed.values + after.values == [b"v0", b"v1", b"v2", b"v3", b"v4", b"v5", b"v4", b"v5", b"v6"]


def test_what_was_acknowledged_before_an_error_is_recorded(tmp_path: Path) -> None:
    write_file(tmp_path / "dead" / "power", [letter(number) for number in range(5)])
    with pytest.raises(Unavailable, match="gone"):
        send(tmp_path, Recorder(failed=1))
    after = Recorder()
    assert send(tmp_path, after).before == 3
    assert after.values == [b"v3", b"v4"]


def test_refused_messages_are_counted_and_tried_again(tmp_path: Path) -> None:
    write_file(tmp_path / "dead" / "power", [letter(number) for number in range(3)])
    assert send(tmp_path, Recorder(refused=[b"v1"])).refused == {"too large": 1}
    after = Recorder()
    send(tmp_path, after)
    assert after.values == [b"v1"]


def test_messages_that_come_back_while_it_sends_are_not_sent(tmp_path: Path) -> None:
    """A running query rejects the message again, and writes it to the same folder."""
    dead = tmp_path / "dead" / "power"
    write_file(dead, [letter(1)])

    class Returning(Recorder):
        def send(self, letters: Sequence[DeadLetter]) -> Receipt:
            write_file(dead, [letter(100 + len(self.portions))], batch=1 + len(self.portions))
            return super().send(letters)

    sender = Returning()
    send(tmp_path, sender)
    assert sender.values == [b"v1"]


def test_a_recreated_topic_has_other_messages_at_the_same_offsets(tmp_path: Path) -> None:
    dead = tmp_path / "dead" / "power"
    write_file(dead, [letter(1)])
    send(tmp_path, Recorder())
    write_file(dead, [letter(1, timestamp=letter(500)["timestamp"], value=b"new")], query=OTHER)
    sender = Recorder()
    send(tmp_path, sender)
    assert sender.values == [b"new"]


def test_a_line_that_a_crash_cut_off_counts_as_not_sent(tmp_path: Path) -> None:
    dead = tmp_path / "dead" / "power"
    write_file(dead, [letter(1), letter(2)])
    send(tmp_path, Recorder())
    whole = (dead / RECORD).read_bytes()
    (dead / RECORD).write_bytes(whole[:-9])
    sender = Recorder()
    assert send(tmp_path, sender).before == 1
    assert sender.values == [b"v2"]
    lines = (dead / RECORD).read_text().splitlines()
    assert [json.loads(line)["letter"].split()[0] for line in lines] == ["power-0@1", "power-0@2"]
    assert (dead / RECORD).stat().st_mode & 0o777 == 0o600


def test_a_damaged_record_stops_before_anything_is_sent(tmp_path: Path) -> None:
    dead = tmp_path / "dead" / "power"
    write_file(dead, [letter(1)])
    (dead / RECORD).write_text("{]\n")
    sender = Recorder()
    with pytest.raises(DataError, match="line 1 is damaged"):
        send(tmp_path, sender)
    assert sender.portions == []


def test_one_command_at_a_time(tmp_path: Path) -> None:
    dead = tmp_path / "dead" / "power"
    write_file(dead, [letter(1)])
    with ResendRecord(dead), pytest.raises(Unavailable, match="sends or deletes the dead letters"):
        send(tmp_path, Recorder())
    assert send(tmp_path, Recorder()).sent.total() == 1
    assert targets_by_letter(dead) == {"power-0@1 2024-06-01T06:00:01.000+00:00": {"power"}}


def test_letters_of_a_log(tmp_path: Path) -> None:
    whole, cut = b'{"at": 7, "plate": 1}', b"x" * MAX_MESSAGE_BYTES
    write_log(tmp_path, [whole, cut])
    sender = Recorder()
    outcome = send(tmp_path, sender, extent="car")
    assert sender.values == [whole]
    assert outcome.refused == {"the log has only the beginning of the message": 1}
    assert (tmp_path / "log" / "car" / RECORD).exists()


def test_a_part_of_a_pack_is_not_sent(tmp_path: Path) -> None:
    write_log(tmp_path, [b' [{"n": "plate", "vs": "a"}]', b'{"at": 7, "plate": "b"}'], tick=7)
    sender = Recorder()
    outcome = send(tmp_path, sender, extent="car")
    assert sender.values == [b'{"at": 7, "plate": "b"}']
    assert [why.partition(",")[0] for why in outcome.refused] == ["other rows of the same SenML pack may be in the log"]


@pytest.mark.parametrize(
    ("extent", "message", "hint"),
    [
        ("strict", "strict keeps no dead letters", "dead: PATH"),
        ("oven", "oven receives no messages", "polled readings become gaps"),
    ],
)
def test_extents_without_dead_letters(tmp_path: Path, extent: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        store_of(tmp_path, extent)
    assert hint in (caught.value.hint or "")


def test_other_parquet_files_are_no_dead_letters(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = write_file(tmp_path / "dead" / "power", [letter(1)])
    pq.write_table(pa.table({"x": [1]}), path)
    pq.write_table(pa.table({"x": [1]}), path.with_name("part-of-something.parquet"))
    with pytest.raises(DataError, match="no column source"):
        send(tmp_path, Recorder())
