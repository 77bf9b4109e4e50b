"""Check the Kafka topics of a run at its start: not recreated, and no unread message deleted."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transom.catalog.servers import CollectedSource, Kafka, KafkaTopic
from transom.errors import CheckpointError, RunWarning

if TYPE_CHECKING:
    from transom.catalog.extent import Extent
    from transom.runtime.checkpoint.checkpoint import Checkpoint


def source_topics(extents: Sequence[Extent], opened_by_caller: Mapping[str, Any]) -> list[Kafka | KafkaTopic]:
    """List the distinct Kafka topics of the sources, except those of sources that are `opened_by_caller`."""
    topics: dict[str, Kafka | KafkaTopic] = {}
    for extent in extents:
        if extent.name in opened_by_caller:
            continue
        source = extent.source
        location = source.log if isinstance(source, CollectedSource) else source
        if isinstance(location, Kafka | KafkaTopic):
            topics[location.topic] = location
    return list(topics.values())


def check_topics(checkpoint: Checkpoint, topics: Sequence[Kafka | KafkaTopic], *, allow_data_loss: bool) -> None:
    """Raise CheckpointError if a topic was made anew or (unless `allow_data_loss`) unread messages were deleted.

    With `allow_data_loss`, deleted messages are no error. Without confluent-kafka nothing is checked; a warning says
    so.
    """
    if topics and importlib.util.find_spec("confluent_kafka") is None:
        names = ", ".join(topic.topic for topic in topics)
        warnings.warn(
            f"confluent-kafka is not installed: nobody checks whether {names} was deleted and made again",
            RunWarning,
            stacklevel=2,
        )
        return
    for source in topics:
        from transom.connectors.kafka.positions import topic_positions

        current = topic_positions(source)
        recorded_id = checkpoint.topics.setdefault(source.topic, current.id)
        if recorded_id != current.id:
            raise CheckpointError(
                f"the topic {source.topic} was deleted and made again since the checkpoint was made",
                detail=(
                    f"its id was {recorded_id}, and is {current.id}: the offsets in the checkpoint mean other messages"
                ),
                hint="start with a new checkpoint",
            )
        lost_ranges = list(_deleted_offsets(checkpoint.logs.ends, source.topic, current.first))
        if lost_ranges:
            _report_data_loss(source.topic, lost_ranges, allow_data_loss=allow_data_loss and isinstance(source, Kafka))


def warn_of_deleted_history(topics: Sequence[Kafka | KafkaTopic]) -> None:
    """Warn that a run which begins in history cannot read messages that the broker has deleted."""
    if importlib.util.find_spec("confluent_kafka") is None:
        return
    for source in topics:
        from transom.connectors.kafka.positions import topic_positions

        count = sum(topic_positions(source).first.values())
        if count:
            warnings.warn(
                f"the broker has deleted {count:,} older messages of {source.topic}: the first answers lack those that "
                "their windows reach",
                RunWarning,
                stacklevel=2,
            )


def _deleted_offsets(
    end_offsets: Sequence[Any], topic: str, first_kept: Mapping[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Yield (partition, next offset, first kept) where unread messages are deleted; `end_offsets`: of each source."""
    positions: dict[str, int] = next((end[topic] for end in end_offsets if isinstance(end, dict) and topic in end), {})
    for partition, position in sorted((int(name), position) for name, position in positions.items()):
        if first_kept.get(partition, 0) > position:
            yield partition, position, first_kept[partition]


def _report_data_loss(topic: str, lost_ranges: Sequence[tuple[int, int, int]], *, allow_data_loss: bool) -> None:
    """Raise CheckpointError for deleted unread messages (`lost_ranges`); if `allow_data_loss`, issue a RunWarning."""
    count = sum(first - position for _, position, first in lost_ranges)
    where = ", ".join(
        f"{position} to {first - 1} of partition {partition}" for partition, position, first in lost_ranges
    )
    if allow_data_loss:
        message = f"{count:,} offsets of {topic} are lost, as the broker has deleted them: {where}"
        warnings.warn(message, RunWarning, stacklevel=2)
        return
    raise CheckpointError(
        f"the broker has deleted messages of {topic} before the query had read them: {count:,} offsets",
        detail=f"missing are the offsets {where}",
        hint="go on without them with --on-data-loss continue, or start with a new checkpoint",
    )
