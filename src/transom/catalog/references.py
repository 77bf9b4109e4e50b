"""References to what may stand in no catalog, plan or log: `${NAME}` of the environment, `${file:PATH}` of a file."""

from __future__ import annotations

import os
import re
from pathlib import Path

from transom.catalog.places import At, Misfit
from transom.errors import UsageError

_REFERENCE = re.compile(r"\$\{(file:)?([^{}]+)\}")


def check_secret(text: str | None, at: At) -> None:
    """Misfit unless a secret is a reference and nothing else."""
    if text is not None and not _REFERENCE.fullmatch(text):
        raise Misfit("a secret does not stand in a catalog", at, "write ${NAME} or ${file:PATH}")


def check_option(name: str, text: str, at: At) -> None:
    """Misfit if an option of Kafka is a secret and no reference; those of a login may have references in them."""
    if "jaas" in name:
        if "${" not in text or re.search(r"password\s*=\s*\"(?!\$\{[^{}]+\}\")", text):
            raise Misfit("a secret does not stand in a catalog", at, "write ${NAME}")
    elif re.search(r"password|secret|key\.pem|keystore\.key", name):
        check_secret(text, at)


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
