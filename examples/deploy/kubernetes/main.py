"""The file that `spark-submit` starts: it runs `transom` with the arguments of the application."""

from transom.cli.app import main

main()
