"""The stateful operators of a run, recorded in its checkpoint so that `transom state` can decode what they remember."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from transom.algebra.explain import headline
from transom.algebra.state.formula import ZERO, plus
from transom.errors import CheckpointError
from transom.physical.nodes.keyed_windows import KeyedWindow
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import inputs
from transom.physical.nodes.windows import RowWindow
from transom.physical.show import plan_tree
from transom.runtime.checkpoint.checkpoint import Checkpoint
from transom.runtime.checkpoint.sealed import read_sealed, sealed_text
from transom.runtime.job import Job
from transom.spark.stateful.plan_labels import LabelledOperator, stateful_operators

OPERATORS_FILE = "operators.json"
_OPERATORS = "operators"
CALLER = "the DataFrame of the caller"
"""The title of operators that are in a DataFrame that the caller passed as a source."""


@dataclass(frozen=True)
class RecordedOperator:
    """One stateful operator of Spark: its name, the node of the plan that it belongs to, and the bound of the node.

    `node` is the number of the node in Spark's plan, None for the DataFrame of a caller. `rows` is the bound as a
    number, None if it is not known. `machine` is the JSON specification of the machine, None for Spark's own code.
    """

    name: str
    node: int | None
    title: str
    bound: str | None
    rows: int | None
    machine: str | None
    columns: Sequence[str] = ()
    """The names of the first values of a machine's rows, where they are those of the node's input."""


def record_operators(checkpoint: Checkpoint, job: Job, nodes: Sequence[PhysicalNode], frame: DataFrame) -> None:
    """Write a run's stateful operators (of `nodes` that `frame` labels) into its checkpoint; none over Spark Connect.

    `nodes` are the nodes that `frame` labels.
    """
    labelled = stateful_operators(frame)
    if not labelled:
        return
    text = sealed_text({_OPERATORS: [asdict(_recorded(operator, job, nodes)) for operator in labelled]})
    file = checkpoint.folder / OPERATORS_FILE
    if not file.exists() or file.read_bytes() != text.encode():
        checkpoint.write(file, text)


def read_operators(checkpoint: Path) -> list[RecordedOperator] | None:
    """Read the stateful operators that a checkpoint records; None if it has no record, as those of earlier versions."""
    file = checkpoint / OPERATORS_FILE
    try:
        return [RecordedOperator(**entries) for entries in read_sealed(file)[_OPERATORS]]
    except FileNotFoundError:
        return None
    except (CheckpointError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{file} is not what Transom wrote",
            detail=getattr(error, "detail", None) or str(error),
            hint="delete it: the next run of the query writes it again",
        ) from error


def _recorded(operator: LabelledOperator, job: Job, nodes: Sequence[PhysicalNode]) -> RecordedOperator:
    """Describe a stateful Spark operator, with the title and state bound of the plan node that it belongs to."""
    if operator.node is None:
        return RecordedOperator(operator.name, None, CALLER, None, None, operator.machine)
    node = nodes[operator.node]
    title = headline(plan_tree(node, lambda formula: {}))
    formula = plus(*(part.decision.state for part in _run_together(node, {id(other) for other in nodes})))
    if formula == ZERO:  # the DataFrame of a source keeps state, which is the business of its caller
        return RecordedOperator(operator.name, operator.node, title, None, None, operator.machine)
    bound = job.state_of(formula)
    columns = [a.name for a in node.input.schema] if isinstance(node, KeyedWindow | RowWindow) else []
    return RecordedOperator(operator.name, operator.node, title, str(bound), bound.rows, operator.machine, columns)


def _run_together(node: PhysicalNode, lowered: Collection[int]) -> Iterator[PhysicalNode]:
    """Yield a node and the nodes below it that run in one Spark operator, above those whose id() is in `lowered`."""
    yield node
    for below in inputs(node):
        if id(below) not in lowered:
            yield from _run_together(below, lowered)
