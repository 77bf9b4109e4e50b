"""A change of a query that runs: its new declaration, until a check has said whether the query can start with it."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from transom.project.project import ProjectQuery
from transom.serving.back_off import BackOff
from transom.serving.failures import is_permanent, translate

if TYPE_CHECKING:
    from transom.errors import TransomError
    from transom.query import Query
    from transom.serving.starting import Starter


class Change:
    """The new declaration of a query whose run goes on. `step` checks it, and never waits.

    A check that fails for a reason that may pass, such as a server that does not answer, is repeated after a pause.
    """

    def __init__(self, declared: ProjectQuery, digest: str, pauses: BackOff) -> None:
        """Create the change to a declaration with this digest; `pauses` are those between repeated checks."""
        self.declared = declared
        self.digest = digest
        self.since = datetime.now(UTC)
        """When the change was noticed."""
        self.error: TransomError | None = None
        """Why the last check has failed."""
        self.is_refused = False
        """Whether the query cannot start with this declaration; it is not checked again."""
        self.query: Query[Any] | None = None
        """The compiled query, once the check has succeeded."""
        self._pauses = pauses
        self._next_check = 0.0
        self._task: Future[Query[Any]] | None = None

    @property
    def is_checking(self) -> bool:
        """Whether a check is under way."""
        return self._task is not None

    def step(self, now: float, starter: Starter, starts: Executor) -> bool:
        """Begin a check that is due at the time `now`, and take the result of one that is over; return if one is."""
        if self._task is None and not self.is_refused and now >= self._next_check:
            self._task = starts.submit(starter.check, self.declared)
        if self._task is None or not self._task.done():
            return False
        task, self._task = self._task, None
        error = task.exception()
        if error is None:
            self.query = task.result()
            return True
        self.error = translate(error)
        self.is_refused = is_permanent(self.error, starting=True)
        self._next_check = now + self._pauses.pause()
        return True

    def drop(self) -> None:
        """Cancel the check if it has not begun, because the change does not count any more."""
        if self._task is not None:
            self._task.cancel()
