"""`python -m transom`."""

from transom.cli import main

main()
