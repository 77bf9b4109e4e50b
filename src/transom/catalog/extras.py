"""Libraries that only some sources and sinks need."""

from __future__ import annotations

import importlib
from typing import Any

from transom.errors import UsageError


def needed(module: str, what: str, extra: str = "collect") -> Any:
    """A library that comes with an extra; UsageError says so if it is not there."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UsageError(
            f"{what} needs {name}", hint=f"in a checkout of Transom: pip install '.[{extra}]'", detail=str(error)
        ) from error
