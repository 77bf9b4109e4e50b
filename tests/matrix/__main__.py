"""`python -m tests.matrix run|table|status`."""

from __future__ import annotations

import sys

from tests.matrix.run import main

if __name__ == "__main__":
    sys.exit(main())
