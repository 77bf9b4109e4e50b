"""The topics of a run at its start: still the same ones, and with all messages that the checkpoint has not read."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transom.catalog.servers import Collected, Kafka, Topic
from transom.errors import CheckpointError, RunWarning

if TYPE_CHECKING:
    from transom.catalog.extents import Extent
    from transom.runtime.checkpoint import Checkpoint


def topics_of(reads: Sequence[Extent], given: Mapping[str, Any]) -> list[Kafka | Topic]:
    """The topics that extents without a given DataFrame are read from, each once."""
    found: dict[str, Kafka | Topic] = {}
    for extent in reads:
        if extent.name in given:
            continue
        source = extent.source
        place = source.log if isinstance(source, Collected) else source
        if isinstance(place, Kafka | Topic):
            found[place.topic] = place
    return list(found.values())


def check_topics(checkpoint: Checkpoint, topics: Sequence[Kafka | Topic], *, may_lose: bool) -> None:
    """Refuse a topic that was made again, and one that has lost messages unless the run `may_lose` them."""
    if topics and importlib.util.find_spec("confluent_kafka") is None:
        names = ", ".join(topic.topic for topic in topics)
        warnings.warn(
            f"confluent-kafka is not installed: nobody checks whether {names} was deleted and made again",
            RunWarning,
            stacklevel=2,
        )
        return
    for source in topics:
        from transom.connectors.kafka.positions import positions

        found = positions(source)
        known = checkpoint.topics.setdefault(source.topic, found.id)
        if known != found.id:
            raise CheckpointError(
                f"the topic {source.topic} was deleted and made again since the checkpoint was made",
                detail=f"its id was {known}, and is {found.id}: the offsets in the checkpoint mean other messages",
                hint="start with a new checkpoint",
            )
        lost = list(_lost(checkpoint.logs.ends, source.topic, found.first))
        if lost:
            _report(source.topic, lost, may_lose=may_lose and isinstance(source, Kafka))


def _lost(ends: Sequence[Any], topic: str, first: Mapping[int, int]) -> Iterator[tuple[int, int, int]]:
    """Partition, next offset to be read, and the first one that is left, where there is a gap between the two."""
    positions: dict[str, int] = next((end[topic] for end in ends if isinstance(end, dict) and topic in end), {})
    for partition, position in sorted((int(name), position) for name, position in positions.items()):
        if first.get(partition, 0) > position:
            yield partition, position, first[partition]


def _report(topic: str, lost: Sequence[tuple[int, int, int]], *, may_lose: bool) -> None:
    count = sum(first - position for _, position, first in lost)
    where = ", ".join(f"{position} to {first - 1} of partition {partition}" for partition, position, first in lost)
    if may_lose:
        words = f"{count:,} offsets of {topic} are lost, as the broker has deleted them: {where}"
        warnings.warn(words, RunWarning, stacklevel=2)
        return
    raise CheckpointError(
        f"the broker has deleted messages of {topic} before the query had read them: {count:,} offsets",
        detail=f"missing are the offsets {where}",
        hint="go on without them with --on-data-loss continue, or start with a new checkpoint",
    )
