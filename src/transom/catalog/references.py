"""References to what may stand in no catalog, plan or log: `${NAME}` of the environment, `${file:PATH}` of a file."""

from __future__ import annotations

import os
import re
from pathlib import Path

from transom.catalog.places import At, Misfit
from transom.errors import UsageError

_REFERENCE = re.compile(r"\$\{(file:)?([^{}]+)\}")
_SECRET_NAME = re.compile(r"password|secret|key\.pem|keystore\.key")
_SECRET_PARAMETER = re.compile(r"pass(word|wd|phrase)?$|secret|token|api[-_]?key|access[-_]?key", re.IGNORECASE)


def check_secret(text: str | None, at: At) -> None:
    """Misfit unless a secret is a reference and nothing else."""
    if text is not None and not is_reference(text):
        raise Misfit("a secret does not stand in a catalog", at, "write ${NAME} or ${file:PATH}")


def is_open_secret(name: str, text: str) -> bool:
    """Whether a setting is a secret and no reference; the login of Java's client may have references in it."""
    if "jaas" in name:
        return "${" not in text or re.search(r"password\s*=\s*\"(?!\$\{[^{}]+\}\")", text) is not None
    return _SECRET_NAME.search(name) is not None and not is_reference(text)


def is_reference(text: str) -> bool:
    """Whether a text is a reference and nothing else."""
    return _REFERENCE.fullmatch(text) is not None


def without_references(text: str) -> str:
    """The text with nothing where its references are."""
    return _REFERENCE.sub("", text)


def has_open_secret(query: str) -> bool:
    """Whether the query string of a URL has a parameter that is a secret and no reference."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return any(_SECRET_PARAMETER.search(name) and not _REFERENCE.search(value) for name, _, value in pairs)


def resolved(text: str) -> str:
    """The text with its references replaced; UsageError names a reference that leads nowhere, never a value."""

    def found(match: re.Match[str]) -> str:
        if match[1] is None:
            value = os.environ.get(match[2])
            if value is None:
                raise UsageError(f"the environment has no {match[2]}", hint=f"set {match[2]}, which the catalog names")
            return value
        try:
            return Path(match[2]).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            hint = "the catalog names it for a secret"
            raise UsageError(f"cannot read {match[2]}", hint=hint, detail=type(error).__name__) from None

    return _REFERENCE.sub(found, text)
