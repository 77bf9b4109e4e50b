"""What a run says of rows that it did not use."""

from __future__ import annotations

from transom.runtime.running import Running


def rejected(running: Running) -> dict[str, int]:
    """Rows that a run left out, by source and reason; late is one of them. Every balance closes."""
    found: dict[str, int] = {}
    for source, balance in running.progress().sources.items():
        assert balance.missing == 0
        found |= {f"{source}: {reason}": count for reason, count in balance.rejected.items()}
        found |= {f"{source}: late": balance.late} if balance.late else {}
    return found
