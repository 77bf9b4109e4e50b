"""Every exception that Transom raises on purpose.

    TransomError
    |- QueryError            the query's text is at fault
    |  |- ParseError             it does not follow the grammar
    |  |- NameProblem            a name means nothing here, or two things
    |  |- TypeProblem            an operation does not take these types
    |  `- LanguageRule           it parses, but the language forbids it
    |- CatalogError          the catalog file is at fault
    |- DataError             an input row does not fit its extent
    |- Unsupported           a declared gap: an operator that an engine does not run
    |- UsageError            a function or command was called with arguments that do not fit
    |- CheckpointError       a checkpoint is damaged, or does not fit its query, its sources or its sink
    |  `- LostRows           a run lost rows between a source and the first operator
    |- Unavailable           a server, a disk or a lock is not available now: trying again later may help
    |- EngineError           Spark stopped a query for a reason that Transom does not know
    `- PlanError             Transom itself is at fault: an operator or a rewrite broke an invariant
    KernelWarning            a warning: the Java kernel could be used and is not
    RunWarning               a warning: a run goes on, and something is lost or cannot be checked
    QueryWarning             a warning: the query is legal and probably not what is meant

A message is short and in lower case. `detail` says more, `hint` says what to do, and `span` is the place in the
text that the user wrote; `text` and `source` are added by whoever knows them, so that `render` can show the line
with the place underlined. `exit_code` is how a command ends: EXIT_CODES lists them. What is raised and caught inside
one package (a Misfit in the catalog) is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from transom.printable import escape_lines

EXIT_CODES = {
    0: ("done, or stopped by SIGINT or SIGTERM", "no"),
    1: ("the query, the catalog or the data is wrong", "no"),
    2: ("the command is used wrongly", "no"),
    3: ("the checkpoint is damaged, or does not fit its query, its sources or its sink", "no"),
    70: ("Spark stopped the query for a reason that Transom does not know", "a few times"),
    75: ("a server, a disk or a lock is not available now", "yes"),
}
"""What each exit code means, and whether a supervisor should start the command again. 70 and 75 are EX_SOFTWARE and
EX_TEMPFAIL of sysexits.h."""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: offsets of its first character and of the one after its last."""

    start: int
    end: int

    def position(self, text: str) -> tuple[int, int]:
        """Line and column of the first character, both counted from 1."""
        before = text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1


class TransomError(Exception):
    """What all of Transom's errors have in common."""

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        span: Span | None = None,
        text: str | None = None,
        source: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.span = span
        self.text = text
        self.source = source

    def within(self, text: str, source: str | None = None) -> TransomError:
        """Add the text that `span` points into, unless a text is known already."""
        if self.text is None:
            self.text = text
        if self.source is None:
            self.source = source
        return self

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column of the offending words, if a place is known."""
        if self.span is None or self.text is None:
            return None
        return self.span.position(self.text)

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        """The whole error as plain text: message, underlined place, detail, hint; control characters are escaped."""
        lines = [self._headline()]
        if self.span is not None and self.text is not None:
            lines += underline(self.text, self.span)
        if self.detail:
            lines.append(f"  detail: {self.detail}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return escape_lines("\n".join(lines))

    def _headline(self) -> str:
        place = self.position
        where = self.source or ("query" if place else None)
        if place:
            return f"{where}:{place[0]}:{place[1]}: {self.message}"
        return f"{where}: {self.message}" if where else self.message


def underline(text: str, span: Span, longest: int = 120) -> list[str]:
    """The line that holds the start of the span, and a line of carets under the span."""
    line, column = span.position(text)
    content = "".join(sign if sign.isprintable() else " " for sign in text.split("\n")[line - 1])
    width = max(1, min(span.end - span.start, len(content) - column + 1))
    skip = max(0, column - 1 - longest // 2) if len(content) > longest else 0
    shown = content[skip : skip + longest]
    width = max(1, min(width, len(shown) - (column - 1 - skip)))
    return [f"  {line:>4} | {shown}", f"       | {' ' * (column - 1 - skip)}{'^' * width}"]


class QueryError(TransomError):
    """The query's text is at fault."""


class ParseError(QueryError):
    """The text does not follow the grammar."""


class NameProblem(QueryError):
    """A name means nothing here, or more than one thing."""


class TypeProblem(QueryError):
    """An operation does not take values of these types."""


class LanguageRule(QueryError):
    """The text parses, but a rule of the language forbids it."""


class CatalogError(TransomError):
    """The catalog is at fault."""


class DataError(TransomError):
    """An input row does not fit the extent it is meant for."""


class UsageError(TransomError):
    """A function or a command was called with arguments that do not fit."""

    exit_code = 2


class CheckpointError(TransomError):
    """A checkpoint is damaged, or does not fit its query, its sources or its sink; starting again does not help."""

    exit_code = 3


class LostRows(CheckpointError):
    """A run lost rows: not all that it read is used, late or rejected. Nothing continues its checkpoint."""


class Unavailable(TransomError):
    """A server, a disk or a lock is not available now; starting again later may help."""

    exit_code = 75


class EngineError(TransomError):
    """Spark stopped a query for a reason that Transom does not know."""

    exit_code = 70


class PlanError(TransomError):
    """An operator that cannot mean anything, or a rewrite that changed what a plan means."""


class KernelWarning(UserWarning):
    """A query runs without the Java kernel and would be faster with it; the message gives the reason."""


class RunWarning(UserWarning):
    """A run goes on, and something is lost or cannot be checked; the message says what."""


class QueryWarning(UserWarning):
    """A query is legal and probably not what its author means; the message gives the place in the text."""


GapKind = Literal["not yet", "never"]


class Unsupported(TransomError):
    """A declared gap: this engine does not run this operator, and why.

    `construct` is what the user wrote, in words; a gap of Spark has it, and its message names it.
    """

    def __init__(
        self,
        operator: str,
        why: str,
        kind: GapKind = "not yet",
        *,
        hint: str | None = None,
        construct: str | None = None,
    ) -> None:
        named = f"{operator} is not supported here ({kind})" if construct is None else f"not on Spark: {construct}"
        super().__init__(named, detail=why, hint=hint)
        self.operator = operator
        self.construct = construct or operator
        self.why = why
        self.kind: GapKind = kind
