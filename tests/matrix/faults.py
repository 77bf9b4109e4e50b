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
        Fault("kill", "The process group of the run is killed with SIGKILL at random moments.", Kind.PROCESS),
        Fault(
            "woken",
            "The run is stopped with SIGSTOP inside a micro-batch, a second run takes over, and the first wakes up.",
            Kind.PROCESS,
        ),
        Fault("clock_ahead", "The wall clock jumps an hour ahead while the run works.", Kind.PROCESS),
        Fault("clock_back", "The wall clock jumps an hour back while the run works.", Kind.PROCESS),
        Fault(
            "worker",
            "One of the two workers of a standalone cluster is killed with SIGKILL while the run works.",
            Kind.PROCESS,
        ),
        Fault(
            "disk_local",
            "The disk of Spark's local folder is full, which holds the state that is in use.",
            Kind.PROCESS,
            refused(Remedy.ROOM),
            "",
        ),
        Fault(
            "torn_offsets",
            "The newest file of offsets is cut in half; its micro-batch was committed.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "offsets/",
            damage.torn_offsets,
        ),
        Fault(
            "torn_planned",
            "The newest file of offsets is cut in half; its micro-batch was planned and not delivered.",
            Kind.DAMAGE,
            refused(Remedy.DELETE),
            "offsets/",
            damage.torn_offsets,
        ),
        Fault(
            "torn_commits",
            "The newest file of commits is cut in half.",
            Kind.DAMAGE,
            refused(Remedy.DELETE),
            "commits/",
            damage.torn_commits,
        ),
        Fault(
            "flipped_state",
            "A byte is changed in the newest file of a state.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "/state/",
            damage.flipped_state,
        ),
        Fault(
            "deleted_state",
            "The newest file of a state is deleted.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "/state/",
            damage.deleted_state,
        ),
        Fault(
            "deleted_metadata",
            "Spark's file metadata is deleted.",
            Kind.DAMAGE,
            refused(Remedy.COPY),
            "/metadata",
            damage.deleted_metadata,
        ),
        Fault(
            "deleted_answers",
            "A file of the sink is deleted.",
            Kind.DAMAGE,
            warned(Remedy.REPLACE),
            "/out",
            damage.deleted_answers,
        ),
        Fault(
            "old_copy",
            "An old copy of the checkpoint is put back, and the sink is kept.",
            Kind.DAMAGE,
            refused(Remedy.NEW),
            "/out",
        ),
        Fault(
            "disk_checkpoint",
            "The disk of the checkpoint is full.",
            Kind.DISK,
            refused(Remedy.ROOM),
            "/checkpoint",
        ),
        Fault("disk_sink", "The disk of the sink is full.", Kind.DISK, refused(Remedy.ROOM), "/out"),
        Fault("broker", "Kafka's broker is killed and started again while the run works.", Kind.TOPIC),
        Fault(
            "retention",
            "Kafka's broker deletes messages that the run has not read.",
            Kind.TOPIC,
            refused(Remedy.CONTINUE),
        ),
        Fault(
            "topic_remade",
            "The topics are deleted and made again under the same names, with other messages.",
            Kind.TOPIC,
            refused(Remedy.NEW),
        ),
        Fault("partitions", "Partitions are added to the topics, and get messages.", Kind.TOPIC),
        Fault("aborted", "Producers abort transactions whose messages are in the topics.", Kind.TOPIC),
        Fault(
            "drift",
            "Messages of another schema come among the others.",
            Kind.TOPIC,
            refused(Remedy.DEAD),
            but=dict.fromkeys(("rdf_join", "rdf_optional", "sparql_over_cql"), SAME),
            why="A query over RDF counts messages that are not RDF as rejected, and goes on.",
        ),
        Fault(
            "commit_unanswered",
            "PostgreSQL is killed after it has committed a micro-batch, and before the run has got its answer. "
            "The server is started again, and so is the run if it has ended with exit code 75.",
            Kind.DATABASE,
        ),
    )
}
