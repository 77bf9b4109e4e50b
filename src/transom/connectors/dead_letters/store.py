"""Where the dead letters of an extent are: a folder of files, or the log of the extent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from transom.catalog.extent import Extent
from transom.catalog.servers import HttpPush, Kafka, KafkaTopic, Mqtt
from transom.connectors.dead_letters.files import LetterFile, letter_files
from transom.connectors.dead_letters.letters import DeadLetter, log_letters, topic_letters
from transom.connectors.dead_letters.record import targets_by_letter
from transom.connectors.log.read import log_folder
from transom.connectors.log.segments import segments
from transom.errors import UsageError


@dataclass(frozen=True)
class LetterStore:
    """The dead letters of an extent at the time of `open_store`; `folder` is None for a log in Kafka."""

    extent: Extent
    location: str
    folder: Path | None
    files: Sequence[LetterFile] = ()
    catalog_folder: Path | None = None

    def letters(self, *, with_content: bool = True) -> Iterator[DeadLetter]:
        """Yield the dead letters of the extent, in the order in which they were written."""
        source = self.extent.source
        if isinstance(source, Kafka):
            return topic_letters(self.files, self.extent.name, with_content=with_content)
        assert isinstance(source, HttpPush | Mqtt)  # noqa: S101 - `open_store` checks it
        if self.folder is not None and not segments(self.folder):
            return iter(())
        return log_letters(self.extent, source.log, self.catalog_folder, with_content=with_content)

    def targets(self) -> dict[str, set[str]]:
        """Return the targets to which dead letters were sent again, by their ids."""
        return {} if self.folder is None else targets_by_letter(self.folder)


@dataclass
class ReasonCount:
    """How many dead letters have a reason, how many of them were sent again, and when the first and last ones came."""

    count: int = 0
    sent: int = 0
    first: datetime | None = field(default=None)
    last: datetime | None = field(default=None)

    def add(self, letter: DeadLetter, *, was_sent: bool) -> None:
        """Count a dead letter."""
        self.count += 1
        self.sent += was_sent
        self.first = letter.at if self.first is None else min(self.first, letter.at)
        self.last = letter.at if self.last is None else max(self.last, letter.at)


def keeps_dead_letters(extent: Extent) -> bool:
    """Whether messages of an extent that cannot be used are stored as dead letters."""
    source = extent.source
    return isinstance(source, HttpPush | Mqtt) or (isinstance(source, Kafka) and source.dead is not None)


def open_store(extent: Extent, catalog_folder: Path | None) -> LetterStore:
    """Find the dead letters of an extent; raise UsageError if its source has none."""
    match extent.source:
        case Kafka(dead=str(dead)):
            folder = ((catalog_folder or Path()) / dead).absolute()
            return LetterStore(extent, str(folder), folder, letter_files(folder))
        case Kafka():
            hint = "name a folder for them: dead: PATH. Without it, the first message that is no row stops a query"
            raise UsageError(f"{extent.name} keeps no dead letters", hint=hint)
        case HttpPush(log=KafkaTopic() as topic) | Mqtt(log=KafkaTopic() as topic):
            return LetterStore(extent, str(topic), None, catalog_folder=catalog_folder)
        case HttpPush(log=str(log)) | Mqtt(log=str(log)):
            folder = log_folder(log, catalog_folder).absolute()
            return LetterStore(extent, str(folder), folder, catalog_folder=catalog_folder)
        case _:
            hint = "messages of Kafka, MQTT and HTTP receivers become dead letters; polled readings become gaps"
            raise UsageError(f"{extent.name} receives no messages, so it has no dead letters", hint=hint)


def count_by_reason(store: LetterStore) -> dict[str, ReasonCount]:
    """Count the dead letters of an extent by reason, the most frequent reason first."""
    targets = store.targets()
    counts: dict[str, ReasonCount] = {}
    for letter in store.letters(with_content=False):
        counts.setdefault(letter.reason, ReasonCount()).add(letter, was_sent=letter.id in targets)
    order = Counter({reason: total.count for reason, total in counts.items()})
    return {reason: counts[reason] for reason, _ in order.most_common()}
