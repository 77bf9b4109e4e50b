"""The command `resend`, which sends dead letters again unless they were sent before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transom.cli import output
from transom.cli.dead_letters.show import CatalogPath, find_extent, require_pyarrow
from transom.cli.output import remark, say, warn
from transom.errors import DataError, UsageError
from transom.model.reject_reason import RejectReason

if TYPE_CHECKING:
    from collections.abc import Collection

    from transom.connectors.dead_letters.resend import Resent
    from transom.connectors.dead_letters.store import LetterStore

_BY_TIME = {RejectReason.LATE.value, RejectReason.AHEAD.value}
"""Reasons that depend on the time in the message."""


def resend(
    extent: Annotated[str, typer.Argument(metavar="EXTENT", help="The extent whose dead letters to send.")],
    catalog: CatalogPath = Path("catalog.yaml"),
    reason: Annotated[
        list[str] | None, typer.Option(metavar="REASON", help="Only dead letters with this reason; repeat for several.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="TARGET", help="Another topic, or URL of a receiver; default: where the extent reads."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be sent, and send nothing.")] = False,
    repeat: Annotated[bool, typer.Option("--again", help="Also send what was sent to the same target before.")] = False,
    without_headers: Annotated[
        bool, typer.Option("--without-headers", help="Send messages of files that lack their headers.")
    ] = False,
    tls_ca: Annotated[
        Path | None, typer.Option("--tls-ca", metavar="FILE", help="The authorities to trust at an HTTP receiver.")
    ] = None,
) -> None:
    """Send dead letters again to the topic, broker or receiver of their extent, unless they were sent before."""
    output.set_verbosity()
    require_pyarrow()
    from transom.catalog.catalog import Catalog
    from transom.connectors.dead_letters.resend import Resent, count_pending, send_pending
    from transom.connectors.dead_letters.senders import open_sender, target_name
    from transom.connectors.dead_letters.store import open_store

    reasons = check_reasons(reason or [])
    loaded = Catalog.load(catalog)
    store = open_store(find_extent(loaded, extent), loaded.folder)
    if store.folder is None:
        hint = "read the entries with _kind = 'dead' from the topic, and send their _raw yourself"
        raise UsageError(f"the log of {extent} is a topic, in which resend cannot record what it sent", hint=hint)
    check_headers(store, without_headers=without_headers)
    outcome, target = Resent(), target_name(store.extent, to)
    count_pending(store, target, reasons, outcome, repeat=repeat)
    if dry_run or not outcome.sent:
        report(extent, target, outcome, "would be sent" if dry_run else "sent")
        return
    outcome = Resent()
    with open_sender(store.extent, to, tls_ca, repeat=repeat) as sender:
        try:
            send_pending(store, sender, reasons, outcome, repeat=repeat)
        finally:
            report(extent, target, outcome, "sent")
    if outcome.refused:
        raise DataError(f"{outcome.refused.total():,} dead letters of {extent} were not sent")


def check_reasons(reasons: list[str]) -> Collection[str]:
    """Return the reasons of `--reason`; raise UsageError, with a suggestion, if one is not a reason."""
    known = {reason.value for reason in RejectReason}
    for reason in reasons:
        if reason not in known:
            from transom.catalog.reading.wording import did_you_mean

            hint = did_you_mean(reason, sorted(known))
            raise UsageError(f"--reason {reason!r} is not a reason of dead letters", hint=hint)
    return reasons


def check_headers(store: LetterStore, *, without_headers: bool) -> None:
    """Raise UsageError if files of an earlier version lack the headers of messages, unless `without_headers`."""
    files = [file for file in store.files if file.extent == store.extent.name]
    lacking = sum(not file.has_headers for file in files)
    if lacking and not without_headers:
        raise UsageError(
            f"{lacking:,} of {len(files):,} files in {store.location} lack the headers of their messages",
            detail="an earlier version of Transom wrote them",
            hint="send the messages without their headers: --without-headers",
        )


def report(extent: str, target: str, outcome: Resent, done: str) -> None:
    """Print how many dead letters were `done`, which were not, and why."""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(outcome.sent.items()))
    before = f"; {outcome.before:,} were sent before" if outcome.before else ""
    say(f"{extent}: {outcome.sent.total():,} {done} to {target}{f' ({reasons})' if reasons else ''}{before}")
    if outcome.rejected:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(outcome.rejected.items()))
        warn(f"warning: the collector rejected some of them again: {reasons}")
    if _BY_TIME & outcome.sent.keys():
        remark("hint: a query that is past the time in a message rejects the message again; start it anew", err=True)
    for why, count in outcome.refused.most_common():
        warn(f"warning: {count:,} not sent: {why}")
