"""Optional libraries that only some sources and sinks need."""

from __future__ import annotations

import importlib
from typing import Any

from transom.errors import UsageError, install_hint


def require_library(module: str, feature: str, extra: str = "collect") -> Any:
    """Import an optional library, or raise a UsageError that names the feature and the extra that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UsageError(f"{feature} needs {name}", hint=install_hint(extra), detail=str(error)) from error
