"""What the failure of a start or of a run means for a query: its error, and whether another attempt can help."""

from __future__ import annotations

from transom.errors import CheckpointError, EngineError, Fenced, TransomError


def translate(error: BaseException) -> TransomError:
    """Return an error of a run as a TransomError."""
    if isinstance(error, TransomError):
        return error
    from transom.runtime.failures import translate_error, unknown_error

    try:
        return translate_error(error) or unknown_error(error)
    except Exception:  # the text of an error of Java is fetched from the JVM, which is gone
        return EngineError("Spark stopped the query", detail=type(error).__name__)


def is_permanent(failure: TransomError, *, starting: bool) -> bool:
    """Whether the same query fails again: its checkpoint or a newer run refuses it, or at the start its declaration."""
    return isinstance(failure, CheckpointError | Fenced) or (starting and failure.exit_code in (1, 2))
