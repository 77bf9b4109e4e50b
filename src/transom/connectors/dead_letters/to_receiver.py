"""POST dead letters to the HTTP receiver of an extent, one after the other.

Each request has an idempotency key made of the entry's position in the log. So if a request is repeated, the collector
recognises the message, and its row is in the log once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from uuid import uuid4

from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import HttpPush
from transom.catalog.tls import Tls, client_context, error_text
from transom.connectors.dead_letters.letters import DeadLetter
from transom.connectors.dead_letters.resend import Receipt
from transom.errors import DataError, TransomError, Unavailable

_SECONDS = 60.0
"""Seconds to wait for a response; the collector responds within 30 s, when the message is in the log."""


class ReceiverSender:
    """A client of the HTTP receiver of one extent; `close` it at the end."""

    portion = 1

    def __init__(self, source: HttpPush, url: str, authority: Path | None, *, repeat: bool) -> None:
        """Prepare requests to the receiver of a source at `url`; `authority` is the file to trust for TLS.

        With `repeat`, the collector takes messages that it has recognised before as new ones.
        """
        self._httpx = require_library("httpx", "resend")
        self.target = url
        self._attempt = f"-{uuid4().hex[:8]}" if repeat else ""
        headers = {"Content-Type": "application/octet-stream"}
        if source.token is not None:
            headers["Authorization"] = f"Bearer {resolve_references(source.token)}"
        tls = Tls(None if authority is None else str(authority))
        self._client = self._httpx.Client(
            headers=headers, timeout=_SECONDS, verify=client_context(tls), trust_env=False
        )

    def send(self, letters: Sequence[DeadLetter]) -> Receipt:
        """POST dead letters in their order; each one is accepted when the log contains it, also as a dead letter."""
        accepted: list[str] = []
        refused: dict[str, str] = {}
        rejected: Counter[str] = Counter()
        for letter in letters:
            try:
                response = self._client.post(self.target, content=letter.value or b"", headers=self._key(letter))
            except self._httpx.TransportError as error:
                hint = "start the collector: transom collect"
                problem = Unavailable(f"{self.target} does not answer", detail=error_text(error), hint=hint)
                return Receipt(accepted, refused, rejected, problem)
            if response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY:
                rejected[str(response.json().get("reason"))] += 1
            elif response.status_code in (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE):
                refused[letter.id] = f"status {response.status_code} of {self.target}"
                continue
            elif response.status_code != HTTPStatus.OK:
                return Receipt(accepted, refused, rejected, _status_error(self.target, response.status_code))
            accepted.append(letter.id)
        return Receipt(accepted, refused, rejected)

    def _key(self, letter: DeadLetter) -> dict[str, str]:
        """Return the header by which the collector recognises a dead letter that it gets twice."""
        digest = hashlib.blake2b(letter.id.encode() + b"\0" + (letter.value or b""), digest_size=12).hexdigest()
        return {"Idempotency-Key": f"transom-resend-{digest}{self._attempt}"}

    def close(self) -> None:
        """Close the connection to the receiver."""
        self._client.close()


def _status_error(target: str, status: int) -> TransomError:
    """Return the error for a status that concerns all messages: the address or the token is wrong, or the log is."""
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.REQUEST_TIMEOUT):
        return Unavailable(f"the collector at {target} cannot write its log now", detail=f"status {status}")
    hint = "look at the token, and whether this is the receiver of the extent; --to names another address"
    return DataError(f"{target} refuses the dead letters", detail=f"status {status}", hint=hint)
