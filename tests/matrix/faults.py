"""The faults of the matrix, each with the outcome that is expected of every plan. Outcomes are fixed before any run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from tests.matrix import damage
from tests.matrix.bench import Place
from tests.matrix.remedies import Remedy


class Kind(Enum):
    """How a fault is run."""

    DAMAGE = "a stopped run is damaged, and continued in this process"
    DISK = "a run in this process has no room on a disk"
    PROCESS = "runs in processes of their own, several plans in each"
    DATABASE = "a run in this process writes to PostgreSQL"
    TOPIC = "a run in this process reads topics of a Kafka broker"


SAME = "same answers"


def refused(remedy: Remedy) -> str:
    """The outcome of a run that stops with an error; after its remedy, the answers are the same."""
    return f"refused: {remedy.value}; then the same answers"


def warned(remedy: Remedy) -> str:
    """The outcome of a run that goes on with a warning; after its remedy, the answers are the same."""
    return f"warned: {remedy.value}; then the same answers"


@dataclass(frozen=True)
class Fault:
    """A fault: what happens, how it is run, and the expected outcome.

    `names` is the part of the path that an error message must contain. `but` has the plans with another outcome, and
    `why` the reason.
    """

    name: str
    what: str
    kind: Kind
    expected: str = SAME
    names: str = ""
    inflict: Callable[[Place], None] | None = None
    but: Mapping[str, str] = field(default_factory=dict)
    why: str = ""

    def expected_of(self, plan: str) -> str:
        """The outcome that is expected of a plan."""
        return self.but.get(plan, self.expected)


FAULTS: Mapping[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault("kill", "All processes of the run are killed with SIGKILL at random moments.", Kind.PROCESS),
        Fault(
            "woken",
            "The run is paused with SIGSTOP inside a micro-batch. A second run takes over. "
            "Then the first run is woken up with SIGCONT.",
            Kind.PROCESS,
        ),
        Fault("clock_ahead", "The wall clock jumps one hour ahead during the run.", Kind.PROCESS),
        Fault("clock_back", "The wall clock jumps one hour back during the run.", Kind.PROCESS),
        Fault(
            "worker",
            "Spark has two workers. One of them is killed with SIGKILL during the run.",
            Kind.PROCESS,
        ),
        Fault(
            "disk_local",
            "The disk on which Spark keeps the state of the running query is full.",
            Kind.PROCESS,
            refused(Remedy.ROOM),
            "",
        ),
        Fault(
            "torn_offsets",
            "The newest file in Spark's log of offsets is cut in half. The micro-batch of this file was committed.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "offsets/",
            damage.torn_offsets,
        ),
        Fault(
            "torn_planned",
            "The newest file in Spark's log of offsets is cut in half. "
            "The micro-batch of this file was planned, but its answers were not delivered.",
            Kind.DAMAGE,
            refused(Remedy.DELETE),
            "offsets/",
            damage.torn_offsets,
        ),
        Fault(
            "torn_commits",
            "The newest file in Spark's log of commits is cut in half.",
            Kind.DAMAGE,
            refused(Remedy.DELETE),
            "commits/",
            damage.torn_commits,
        ),
        Fault(
            "flipped_state",
            "One byte of the newest state file is changed.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "/state/",
            damage.flipped_state,
        ),
        Fault(
            "deleted_state",
            "The newest state file is deleted.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "/state/",
            damage.deleted_state,
        ),
        Fault(
            "deleted_metadata",
            "The file `metadata` in Spark's checkpoint is deleted.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "/metadata",
            damage.deleted_metadata,
        ),
        Fault(
            "deleted_answers",
            "The newest file in the folder of the sink is deleted.",
            Kind.DAMAGE,
            warned(Remedy.REPLACE),
            "/out",
            damage.deleted_answers,
        ),
        Fault(
            "old_copy",
            "The checkpoint is replaced by an old copy. The sink is not replaced.",
            Kind.DAMAGE,
            refused(Remedy.NEW),
            "/out",
        ),
        Fault(
            "disk_checkpoint",
            "The disk with the checkpoint is full.",
            Kind.DISK,
            refused(Remedy.ROOM),
            "/checkpoint",
        ),
        Fault("disk_sink", "The disk with the folder of the sink is full.", Kind.DISK, refused(Remedy.ROOM), "/out"),
        Fault("broker", "The Kafka broker is killed and restarted during the run.", Kind.TOPIC),
        Fault(
            "retention",
            "The Kafka broker deletes messages before the run has read them.",
            Kind.TOPIC,
            refused(Remedy.CONTINUE),
        ),
        Fault(
            "topic_remade",
            "The topics are deleted. Then new topics with the same names and other messages are created.",
            Kind.TOPIC,
            refused(Remedy.NEW),
        ),
        Fault(
            "partitions", "Partitions are added to the topics. Then messages are sent to these partitions.", Kind.TOPIC
        ),
        Fault("aborted", "The topics contain messages of aborted transactions.", Kind.TOPIC),
        Fault(
            "drift",
            "Some messages in a topic do not have the declared schema.",
            Kind.TOPIC,
            refused(Remedy.DEAD),
            but=dict.fromkeys(("rdf_join", "rdf_optional", "sparql_over_cql"), SAME),
            why="A query over RDF counts a message that is not RDF as rejected, and continues.",
        ),
        Fault(
            "commit_unanswered",
            "PostgreSQL is killed after it has committed a micro-batch, but before the run knows of the commit. "
            "Then PostgreSQL is restarted. If the run has ended with exit code 75, the run is restarted too.",
            Kind.DATABASE,
        ),
    )
}
