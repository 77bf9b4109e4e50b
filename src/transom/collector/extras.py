"""Libraries that only some sources need."""

from __future__ import annotations

import importlib
from typing import Any

from transom.errors import UsageError


def needed(module: str, what: str) -> Any:
    """A library that is installed with the extra `collect`; UsageError says so if it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UsageError(f"{what} needs {name}", hint="pip install 'transom[collect]'", detail=str(error)) from error
