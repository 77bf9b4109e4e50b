"""Entry point of `python -m transom`."""

from transom.cli.app import main

main()
