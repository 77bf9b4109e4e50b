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
    `- PlanError             Transom itself is at fault: an operator or a rewrite broke an invariant
    KernelWarning            a warning: the Java kernel could be used and is not
    QueryWarning             a warning: the query is legal and probably not what is meant

A message is short and in lower case. `detail` says more, `hint` says what to do, and `span` is the place in the
text that the user wrote; `text` and `source` are added by whoever knows them, so that `render` can show the line
with the place underlined. What is raised and caught inside one package (a Misfit in the catalog) is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


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
        """The whole error as plain text: message, underlined place, detail, hint."""
        lines = [self._headline()]
        if self.span is not None and self.text is not None:
            lines += underline(self.text, self.span)
        if self.detail:
            lines.append(f"  detail: {self.detail}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return printable("\n".join(lines))

    def _headline(self) -> str:
        place = self.position
        where = self.source or ("query" if place else None)
        if place:
            return f"{where}:{place[0]}:{place[1]}: {self.message}"
        return f"{where}: {self.message}" if where else self.message


def printable(text: str) -> str:
    """A text in which nothing moves the cursor or turns the order of what is shown: names and values may be data."""
    return "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in text)


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


class PlanError(TransomError):
    """An operator that cannot mean anything, or a rewrite that changed what a plan means."""


class KernelWarning(UserWarning):
    """A query runs without the Java kernel and would be faster with it; the message gives the reason."""


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
