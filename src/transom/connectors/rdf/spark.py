"""Decode RDF statements on Spark in Arrow batches: files and messages of the catalog, or a column of payloads.

The plain reader decodes each file and each message as a whole. So ticks, terms, the order of statements and rejected
messages equal those of the reference engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.catalog.extent import Extent
from transom.connectors.kafka.rejected import DeadLetterSink as DeadLetters
from transom.connectors.kafka.rejected import dead_letter_writer
from transom.connectors.rdf.payloads import SCHEMA, RdfReader, TimedStatement, arrow_batches, decode_batches
from transom.errors import UsageError
from transom.model.rdf.answer import RejectedMessage
from transom.model.reject_reason import RejectReason
from transom.spark.columns import ORDER, REJECT_REASON, TICK_NUMBER
from transom.spark.input.balance import RowCounter, uncounted
from transom.spark.input.statements import MESSAGE_STATEMENTS, STATEMENT_ORDER

if TYPE_CHECKING:
    import pyarrow as pa

_POSITION_COLUMNS = "part int, file string, row bigint"
_REJECT_COLUMNS = f"{REJECT_REASON} string, detail string, origin string"
_TERMS = "c0 string, c1 string, c2 string"
_STATEMENT_LIST = f"{MESSAGE_STATEMENTS} array<struct<s: string, p: string, o: string, row: bigint>>"


class DecodedStatements(NamedTuple):
    """The decoded content of an RDF file or message: its location, statements and rejected messages.

    `source_number` is the index of the file pattern or the partition, `first` is the number of the first row.
    """

    source_number: int
    file: str
    first: int
    statements: Sequence[TimedStatement]
    rejected: Sequence[RejectedMessage]


StatementDecoder: TypeAlias = Callable[[dict[str, Any]], DecodedStatements]
"""Decodes a row of a frame, which is a file or a message."""


def decode_statements(
    frame: DataFrame,
    extent: Extent,
    decode: StatementDecoder,
    *,
    dead_letters: DeadLetters | None = None,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Decode RDF messages to rows of tick and statement, or reject reason; rejected ones go to `dead_letters`.

    The columns are `tick_number`, `c0`, `c1`, `c2` and the order. A rejected message has `reject_reason`, `detail` and
    `origin`. If the stream's subjects are local, a row holds all statements of a file or message about a subject at a
    tick, in `statements`. With `dead_letters`, rejected messages become dead letters. `count_rows` counts statements
    and rejected messages.
    """
    content_columns, row_count = (
        (_STATEMENT_LIST, F.coalesce(F.size(MESSAGE_STATEMENTS), F.lit(1))) if extent.local else (_TERMS, F.lit(1))
    )
    schema = f"{TICK_NUMBER} bigint, {_POSITION_COLUMNS}, {content_columns}, {_REJECT_COLUMNS}"
    decoded = count_rows(
        frame.mapInArrow(partial(_decode_to_arrow, extent.local, decode, dead_letters), schema), row_count
    )
    other_columns = [name for name in decoded.columns if name not in STATEMENT_ORDER]
    return decoded.select(*other_columns, F.struct(*STATEMENT_ORDER).alias(ORDER))


def _decode_to_arrow(
    local: bool, decode: StatementDecoder, dead_letters: DeadLetters | None, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Decode batches of RDF messages to Arrow: a row per statement or, if `local`, a list per subject and tick.

    If `local`, statements are in a list per subject. Rejected messages go to `dead_letters`.
    """
    import pyarrow as pa

    terms = [(name, pa.string()) for name in ("s", "p", "o")]
    flat = [(name, pa.string()) for name in ("c0", "c1", "c2")]
    content_fields = [(MESSAGE_STATEMENTS, pa.list_(pa.struct([*terms, ("row", pa.int64())])))] if local else flat
    order_fields = zip(STATEMENT_ORDER, (pa.int32(), pa.string(), pa.int64()), strict=True)
    schema = pa.schema(
        [
            (TICK_NUMBER, pa.int64()),
            *order_fields,
            *content_fields,
            *((name, pa.string()) for name in (REJECT_REASON, "detail", "origin")),
        ]
    )
    with dead_letter_writer(dead_letters) as write_dead_letters:
        for batch in batches:
            reasons: list[str | None] = []
            parts = (_note_reason(decode(entry), reasons) for entry in batch.to_pylist())
            yield from arrow_batches(chain.from_iterable(statement_rows(part, local=local) for part in parts), schema)
            write_dead_letters(batch, pa.array(reasons, pa.string()))


def _note_reason(decoded: DecodedStatements, reasons: list[str | None]) -> DecodedStatements:
    """Append the reject reason of a decoded message (None if accepted) to `reasons`, and return the message."""
    reasons.append(decoded.rejected[-1].reason.value if decoded.rejected else None)
    return decoded


def statement_rows(decoded: DecodedStatements, *, local: bool) -> Iterator[Sequence[object]]:
    """Yield a decoded RDF message's rows: per statement or, if `local`, per subject and tick; then its rejections.

    Statements have a row each or, if `local`, a row per subject and tick.
    """
    nulls = (None, None, None)
    if local:
        for number, tick, statements in _by_subject(decoded):
            yield (tick, decoded.source_number, decoded.file, number, statements, *nulls)
    else:
        for number, (tick, row) in enumerate(decoded.statements, decoded.first):
            yield (tick, decoded.source_number, decoded.file, number, *row, *nulls)
    for number, message in enumerate(decoded.rejected, decoded.first):
        content_nulls = (None,) if local else nulls
        yield (
            None,
            decoded.source_number,
            decoded.file,
            number,
            *content_nulls,
            message.reason.value,
            message.detail,
            message.origin,
        )


def _by_subject(decoded: DecodedStatements) -> Iterator[tuple[int, int, list[dict[str, object]]]]:
    """Group a message's statements by tick and subject; yield (first statement's number, tick, statements)."""
    groups: dict[tuple[int, str], tuple[int, list[dict[str, object]]]] = {}
    for number, (tick, (s, p, o)) in enumerate(decoded.statements, decoded.first):
        groups.setdefault((tick, s), (number, []))[1].append({"s": s, "p": p, "o": o, "row": number})
    for (tick, _), (first, statements) in groups.items():
        yield first, tick, statements


def parse_payloads(
    frame: DataFrame, reader: RdfReader, payload_column: str = "payload", time_column: str | None = "t"
) -> DataFrame:
    """Decode a column of RDF messages to rows (tick, position, s, p, o, g), one per statement or rejection.

    The messages are in the column `payload_column`, their times in `time_column`. `position` is the position of a
    statement in its message, and `g` is NULL for the default graph. `time_column` is the column with a message's time,
    as a tick, a timestamp or text; None if messages state it themselves. A rejected message is one row with its reason
    in `reject_reason`, the detail in `detail`, and the message in `payload_column`.
    """
    if time_column is None and reader.time is None:
        raise UsageError("these messages have no time", hint="name a column, or a predicate that states it")
    columns = [payload_column] if time_column is None else [payload_column, time_column]
    for name in columns:
        if name not in frame.columns:
            raise UsageError(f"no column {name}", hint=f"the columns are {', '.join(frame.columns)}")
    chosen = frame.select(*(F.col(f"`{name}`") for name in columns))
    return chosen.mapInArrow(partial(decode_batches, reader, with_times=time_column is not None), SCHEMA)


def only_statements(frame: DataFrame, rejections_metric: str | None = None) -> DataFrame:
    """Select the statements from `parse_payloads`; observe rejections as a Spark metric of this name, if any.

    The counts per reason are observed metrics.
    """
    if rejections_metric is not None:
        counted = [
            F.count_if(F.col(REJECT_REASON) == F.lit(reason.value)).alias(reason.name.lower())
            for reason in RejectReason
        ]
        frame = frame.observe(rejections_metric, *counted)
    return frame.where(F.col(REJECT_REASON).isNull()).select("tick", "position", "s", "p", "o", "g")


def rejected_messages(frame: DataFrame) -> DataFrame:
    """Select the rejected messages from the result of `parse_payloads`, with reason and payload.

    The columns are `reject_reason`, `detail` and `payload`.
    """
    return frame.where(F.col(REJECT_REASON).isNotNull()).select(REJECT_REASON, "detail", "payload")
