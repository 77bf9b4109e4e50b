"""References to secrets, which no catalog, plan or log may contain: `${NAME}` (environment), `${file:PATH}` (file)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from transom.catalog.reading.locations import EntryError, Location
from transom.errors import UsageError

_REFERENCE = re.compile(r"\$\{(file:)?([^{}]+)\}")
_SECRET_NAME = re.compile(r"password|secret|key\.pem|keystore\.key")
_SECRET_PARAMETER = re.compile(r"pass(word|wd|phrase)?$|secret|token|api[-_]?key|access[-_]?key", re.IGNORECASE)


def check_secret(text: str | None, at: Location) -> None:
    """Raise EntryError if a secret is plain text instead of a reference; None, an omitted secret, is allowed."""
    if text is not None and not is_reference(text):
        raise EntryError("secrets must not be written in the catalog", at, "write ${NAME} or ${file:PATH}")


def is_open_secret(name: str, text: str) -> bool:
    """Whether the value `text` of the Kafka or libpq option `name` contains a secret in plain text.

    The value of a JAAS option may contain references beside other text.
    """
    if "jaas" in name:
        return "${" not in text or re.search(r"password\s*=\s*\"(?!\$\{[^{}]+\}\")", text) is not None
    return _SECRET_NAME.search(name) is not None and not is_reference(text)


def is_reference(text: str) -> bool:
    """Whether `text` is exactly one reference to a secret, `${NAME}` or `${file:PATH}`."""
    return _REFERENCE.fullmatch(text) is not None


def without_references(text: str) -> str:
    """Remove all references to secrets, such as `${NAME}`, from `text`."""
    return _REFERENCE.sub("", text)


def has_open_secret(query: str) -> bool:
    """Whether a URL's query string contains a secret in plain text, judged by the names of its parameters."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return any(_SECRET_PARAMETER.search(name) and not _REFERENCE.search(value) for name, _, value in pairs)


def resolve_references(text: str) -> str:
    """Replace references to secrets, such as `${NAME}`, by their values; raise UsageError if one has no value.

    The error names the reference, never a value.
    """

    def resolve(match: re.Match[str]) -> str:
        """Return the value of one reference, from the environment or from a file."""
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

    return _REFERENCE.sub(resolve, text)
