"""The command `repartition`: divide the state of a stopped query into another number of partitions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from transom.cli import output
from transom.cli.arguments import Quiet
from transom.cli.output import say
from transom.cli.run import MasterOption, start_session


def repartition(
    checkpoint: Annotated[Path, typer.Argument(metavar="DIR", help="The checkpoint of a stopped query.")],
    partitions: Annotated[int, typer.Option("--partitions", "-n", metavar="N", help="The new number of partitions.")],
    master: MasterOption = None,
    quiet: Quiet = False,
) -> None:
    """Divide the state of a stopped query into N partitions, as many tasks as its state then has; needs Spark 4.2."""
    output.set_verbosity(quiet=quiet)
    spark = start_session(master)
    from transom.runtime.state.repartition import repartition as divide

    done = divide(spark, checkpoint.absolute(), partitions)
    say(f"{done.before} partitions became {done.after}, in micro-batch {done.batch}", "green")
