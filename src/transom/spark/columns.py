"""Names of columns: a spelling that no user can write, references to any name, and the names of answers.

Users write letters, digits and underscores. A column of an answer may also have the text of an expression as its name,
and no expression begins with `$`. So a name that begins with `$` is ours wherever columns of a user are beside it.
"""

from __future__ import annotations

from collections.abc import Iterable


def reserved(word: str) -> str:
    """The name of a column of ours among columns of a user."""
    return f"${word}"


def is_reserved(name: str) -> bool:
    """Whether a column is one of ours."""
    return name.startswith("$")


def quoted(name: str) -> str:
    """A name as `F.col` takes it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def told_apart(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Names that differ from each other and from those that are taken, by underscores at their ends.

    To Spark, `a` and `A` are the same name.
    """
    known, found = {name.lower() for name in taken}, []
    for name in names:
        while name.lower() in known:
            name += "_"
        known.add(name.lower())
        found.append(name)
    return found
