"""Every exception that Transom raises on purpose.

    TransomError
    |- QueryError            the query's text is at fault
    |  |- ParseError             it does not follow the grammar
    |  |- NameProblem            a name means nothing here, or two things
    |  |- TypeProblem            an operation does not take these types
    |  `- LanguageRule           it parses, but the language forbids it
    |- CatalogError          the catalog is at fault
    |- CaseError             a file of test cases is at fault
    |- ProjectError          a project file is at fault
    |- DataError             an input row does not fit its extent
    |- Unsupported           a declared gap: an operator that an engine does not run
    |- UsageError            a function or command was called with wrong arguments
    |- CheckpointError       a checkpoint is damaged, or does not fit its query, its sources or its sink
    |  `- LostRows           a run lost rows between a source and the first operator
    |- Fenced                a newer run or collector has taken over, so this one must not write
    |- Unavailable           a server, a disk or a lock is not available now: a later retry may help
    |- EngineError           Spark stopped a query for a reason that Transom does not know
    `- PlanError             Transom itself is at fault: an operator or a rewrite broke an invariant
    KernelWarning            a warning: the Java kernel could be used and is not
    RunWarning               a warning: a run continues although something is lost or cannot be checked
      RejectedWarning        input rows or messages were rejected
    QueryWarning             a warning: the query is legal but probably not what is meant
      AnswerWarning          its answer is empty, or a region has no rows, perhaps unexpectedly

A message is short and in lower case. `detail` explains it, `hint` gives the remedy, and `span` is the range in the
user's text. `text` and `source` are added by a caller that knows them, so that `render` can show the line with the span
underlined. `exit_code` is the exit code of a command: EXIT_CODES lists them. Exceptions that are raised and caught
inside one package (Misfit in the catalog) are not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from transom.printable import escape_lines

EXIT_CODES = {
    0: ("done, or a run without --once was stopped by SIGINT or SIGTERM", "no"),
    1: ("the query, the catalog or the data is wrong", "no"),
    2: ("the command is used wrongly", "no"),
    3: ("the checkpoint is damaged, or does not fit its query, its sources or its sink", "no"),
    4: ("a newer run has taken over the checkpoint, the sink or the log", "no"),
    70: ("Spark stopped the query for a reason that Transom does not know", "a few times"),
    75: ("a server, a disk or a lock is not available now, or a signal stopped a run with --once", "yes"),
}
"""The meaning of each exit code, and whether a supervisor should restart the command. 70 and 75 are EX_SOFTWARE and
EX_TEMPFAIL of sysexits.h."""


def install_hint(extra: str) -> str:
    """Return the hint that says how to install an optional part of Transom, such as `png` or `spark`.

    Transom is not on PyPI, so the command installs the extra from a checkout.

    >>> install_hint("png")
    "in a checkout of Transom: pip install '.[png]'"
    """
    return f"in a checkout of Transom: pip install '.[{extra}]'"


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters in a text: the offset of the first one, and the offset after the last one."""

    start: int
    end: int

    def position(self, text: str) -> tuple[int, int]:
        """Return line and column, both counted from 1, of the first character of this span in `text`."""
        before = text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1


class TransomError(Exception):
    """The base class of Transom's errors."""

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
        """Create an error with facts (`detail`), remedy (`hint`) and the `span` of `text` (of file `source`) at fault.

        `source` is the name of the file that holds `text`.
        """
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.span = span
        self.text = text
        self.source = source

    def within(self, text: str, source: str | None = None) -> TransomError:
        """Set the text and file (`source`) that the error points into unless they are set already; return the error."""
        if self.text is None:
            self.text = text
        if self.source is None:
            self.source = source
        return self

    @property
    def position(self) -> tuple[int, int] | None:
        """The line and column, from 1, of the part at fault in the user's text; None if it is unknown."""
        if self.span is None or self.text is None:
            return None
        return self.span.position(self.text)

    def __str__(self) -> str:
        """Return the error as plain text with all its parts."""
        return self.render()

    def render(self) -> str:
        """Return the error as plain text: its message, the underlined query text, its detail and its hint.

        Control characters are escaped.
        """
        lines = [self._headline()]
        if self.span is not None and self.text is not None:
            lines += underline(self.text, self.span)
        if self.detail:
            lines.append(f"  detail: {self.detail}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return escape_lines("\n".join(lines))

    def _headline(self) -> str:
        """Return the first line of the printed error: source, line and column if known, message."""
        position = self.position
        origin = self.source or ("query" if position else None)
        if position:
            return f"{origin}:{position[0]}:{position[1]}: {self.message}"
        return f"{origin}: {self.message}" if origin else self.message


def underline(text: str, span: Span, longest: int = 120) -> list[str]:
    """Return two lines for an error: the line of `text` where `span` begins, with its number, and carets below it.

    At most `longest` characters of `text` are shown; `...` marks where it is cut.
    """
    line, column = span.position(text)
    content = "".join(character if character.isprintable() else " " for character in text.split("\n")[line - 1])
    width = max(1, min(span.end - span.start, len(content) - column + 1))
    skip = max(0, column - 1 - longest // 2) if len(content) > longest else 0
    shown = content[skip : skip + longest]
    if skip:
        shown = f"...{shown[3:]}"
    if len(content) > skip + longest:
        shown = f"{shown[:-3]}..."
    width = max(1, min(width, len(shown) - (column - 1 - skip)))
    return [f"  {line:>4} | {shown}", f"       | {' ' * (column - 1 - skip)}{'^' * width}"]


class QueryError(TransomError):
    """The query's text is at fault."""


class ParseError(QueryError):
    """The text does not follow the grammar."""


class NameProblem(QueryError):
    """A name in the query is unknown or ambiguous."""


class TypeProblem(QueryError):
    """An operation does not accept values of these types."""


class LanguageRule(QueryError):
    """The text parses, but a rule of the language forbids it."""


class CatalogError(TransomError):
    """The catalog is at fault."""


class CaseError(TransomError):
    """A file of test cases is at fault."""


class ProjectError(TransomError):
    """A project file is at fault."""


class DataError(TransomError):
    """An input row does not fit its extent; `row` is the name of the extent and the number of the row, from 1."""

    row: tuple[str, int] | None = None


class UsageError(TransomError):
    """A function or a command was called with wrong arguments."""

    exit_code = 2


class CheckpointError(TransomError):
    """A checkpoint is damaged, or does not fit its query, sources or sink; a restart does not help."""

    exit_code = 3


class LostRows(CheckpointError):
    """A run lost rows: some rows that it read are neither used, late nor rejected. Its checkpoint cannot be resumed."""


class Fenced(TransomError):
    """A newer run or collector has taken over the checkpoint, the sink or the log, so this one must not write."""

    exit_code = 4


class Unavailable(TransomError):
    """A server, a disk or a lock is not available at the moment; a restart may help later."""

    exit_code = 75


class EngineError(TransomError):
    """Spark stopped a query for a reason that Transom does not know."""

    exit_code = 70


class PlanError(TransomError):
    """An operator is invalid, or a rewrite changed the meaning of a plan; this is a bug in Transom."""


class KernelWarning(UserWarning):
    """A query runs without the Java kernel, so it is slower; the message gives the reason."""


class RunWarning(UserWarning):
    """A run continues, but something is lost or cannot be checked; the message says what."""


class QueryWarning(UserWarning):
    """A query is legal, but probably not what you mean; the message gives the position in the text."""


class AnswerWarning(QueryWarning, RunWarning):
    """An answer of the reference engine may be empty unexpectedly, or a region have no rows; the message says why."""


class RejectedWarning(RunWarning):
    """Input rows or messages were rejected; the message gives the counts or the reasons."""


GapKind = Literal["not yet", "never"]


class Unsupported(TransomError):
    """An engine cannot run an operator; `why` is the reason.

    If the engine is Spark, `construct` describes the part of the query that needs the operator.
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
        """Create the error that an engine does not run an operator (in the query: `construct`), yet or ever, and why.

        `construct` is what the user wrote.
        """
        message = f"{operator} is not supported{' yet' if kind == 'not yet' else ''}"
        if construct is not None:
            message = f"cannot run on Spark: {construct}"
        super().__init__(message, detail=why, hint=hint)
        self.operator = operator
        self.construct = construct or operator
        self.why = why
        self.kind: GapKind = kind
