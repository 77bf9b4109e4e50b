"""Send dead letters again, each once: to the topic, the broker or the receiver from which the extent reads.

The receiver acknowledges a portion of dead letters, then the record is written, then the next portion is sent. So after
a kill, at most one portion is sent a second time, and none is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from transom.connectors.dead_letters.letters import DeadLetter
from transom.connectors.dead_letters.record import ResendRecord
from transom.connectors.dead_letters.store import LetterStore
from transom.errors import TransomError


@dataclass(frozen=True)
class Receipt:
    """What the receiver answered to a portion: `accepted` ids, reasons of those `refused` by id, and a final error.

    `rejected` counts accepted dead letters that the receiver rejected again at once, by reason. With an `error`, the
    remaining dead letters of the portion were not sent, or nobody knows whether they arrived.
    """

    accepted: Sequence[str]
    refused: dict[str, str] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)
    error: TransomError | None = None


class Sender(Protocol):
    """A connection to which dead letters are sent; `target` is its name in the record, `portion` the most at once."""

    @property
    def target(self) -> str:
        """The topic or address, as the record names it."""

    @property
    def portion(self) -> int:
        """How many dead letters are sent before the record is written."""

    def send(self, letters: Sequence[DeadLetter]) -> Receipt:
        """Send some dead letters in their order, and wait until the receiver has acknowledged them."""


@dataclass
class Resent:
    """How many dead letters were sent again, by reason, and how many were not."""

    sent: Counter[str] = field(default_factory=Counter)
    before: int = 0
    """Those that were not sent, because they were sent to the same target before."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Those of `sent` that the receiver rejected again at once, by reason."""
    refused: Counter[str] = field(default_factory=Counter)
    """Those that could not be sent, by the reason why not."""


def count_pending(store: LetterStore, target: str, reasons: Collection[str], outcome: Resent, *, repeat: bool) -> None:
    """Count in `outcome` what `send_pending` would send to a target, without a connection and without content."""
    sent = set() if repeat else _ids_sent(store, target)
    outcome.sent.update(letter.reason for letter in _pending(store.letters(with_content=False), reasons, sent, outcome))


def send_pending(
    store: LetterStore, sender: Sender, reasons: Collection[str], outcome: Resent, *, repeat: bool
) -> None:
    """Send the dead letters that have one of `reasons` (empty: any) and were not sent before; count in `outcome`.

    Each portion is recorded once it is acknowledged. With `repeat`, those that were sent before are sent once more. An
    error of the connection is raised; what was acknowledged before the error is recorded.
    """
    assert store.folder is not None  # noqa: S101 - the caller has checked it
    with ResendRecord(store.folder) as record:
        sent = set() if repeat else _ids_sent(store, sender.target)
        remaining = _pending(store.letters(), reasons, sent, outcome)
        while portion := list(islice(remaining, sender.portion)):
            _send_portion(portion, sender, record, outcome)


def _send_portion(portion: Sequence[DeadLetter], sender: Sender, record: ResendRecord, outcome: Resent) -> None:
    """Send some dead letters, record those that were acknowledged, and count all; raise the error of the receipt."""
    sendable: dict[str, DeadLetter] = {}
    for letter in portion:
        problem = _problem(letter)
        if problem is None:
            sendable[letter.id] = letter
        else:
            outcome.refused[problem] += 1
    receipt = sender.send(list(sendable.values()))
    record.add(receipt.accepted, sender.target)
    outcome.sent.update(sendable[letter_id].reason for letter_id in receipt.accepted)
    outcome.rejected.update(receipt.rejected)
    outcome.refused.update(receipt.refused.values())
    if receipt.error is not None:
        raise receipt.error


def _ids_sent(store: LetterStore, target: str) -> set[str]:
    """Return the ids of the dead letters that were sent to a target before."""
    return {letter for letter, targets in store.targets().items() if target in targets}


def _pending(
    letters: Iterable[DeadLetter], reasons: Collection[str], sent: Collection[str], outcome: Resent
) -> Iterator[DeadLetter]:
    """Yield the dead letters with one of `reasons` (empty: any) whose ids are not in `sent`, which `outcome` counts."""
    for letter in letters:
        if reasons and letter.reason not in reasons:
            continue
        if letter.id in sent:
            outcome.before += 1
            continue
        yield letter


def _problem(letter: DeadLetter) -> str | None:
    """Return why a dead letter cannot be sent again; None if it can."""
    if letter.is_truncated:
        return "the log has only the beginning of the message"
    if letter.is_part:
        return "other rows of the same SenML pack may be in the log, and would be there twice"
    return None
