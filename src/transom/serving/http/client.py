"""Ask a served project over HTTP, with the standard library only."""

from __future__ import annotations

import http.client
import json
import ssl
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from transom.errors import Unavailable, UsageError
from transom.serving.address import is_loopback_name

ANSWER_SECONDS = 10.0
"""Seconds to wait for a connection, and for each part of a response."""
LARGEST_RESPONSE = 1 << 26
_START_HINT = "start it with transom serve, or give the URL of another one"


class ProjectClient:
    """Asks the `transom serve` at a URL. It uses no proxy and follows no redirect, so the token goes nowhere else."""

    def __init__(self, url: str, token: str | None = None, authority: Path | None = None) -> None:
        """Ask at `url`, with a token, and for https with the certificates that a PEM file `authority` trusts.

        Raise UsageError if the URL is invalid, or the token would be sent without TLS.
        """
        self.url = url.rstrip("/")
        invalid = UsageError(f"{url!r} is no address of a project", hint="write for example http://127.0.0.1:8470")
        try:
            parts = urlsplit(self.url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise invalid from None
        if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or "@" in parts.netloc:
            raise invalid
        if not (url.isascii() and url.isprintable()) or " " in url:
            raise invalid
        if token is not None and not (token and token.isascii() and token.isprintable()):
            raise UsageError("the token is not printable ASCII", hint="give the file that `transom serve` has")
        if token is not None and parts.scheme == "http" and not is_loopback_name(host):
            raise UsageError(
                f"the token would be sent to {host} without encryption", hint=f"write https://{parts.netloc}"
            )
        if authority is not None and parts.scheme == "http":
            raise UsageError(f"--tls-ca is for https, and the address is {self.url}", hint="leave out --tls-ca")
        self._host, self._port, self._path = host, port, parts.path
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._tls = _read_authority(authority) if parts.scheme == "https" else None

    def get(self, path: str, *, authorized: bool = True) -> dict[str, Any]:
        """Return the JSON object at a path, with the token if `authorized`; a server that is not ready is no error.

        Raise Unavailable if nothing answers or too many ask, UsageError if the request is refused.
        """
        status, body = self._request(path, self._headers if authorized else {})
        document = _read_json(body)
        if document is None:
            raise UsageError(f"{self.url} answers, but is no `transom serve`", detail=f"{path}: HTTP status {status}")
        if status == HTTPStatus.OK or (status == HTTPStatus.SERVICE_UNAVAILABLE and "error" not in document):
            return document
        message = f"{self.url} refuses the request: {document.get('error', f'HTTP status {status}')}"
        if status == HTTPStatus.UNAUTHORIZED:
            wrong = "the token is wrong" if self._headers else "it needs a token"
            raise UsageError(f"{self.url}: {wrong}", hint="name the file with its token: --token-file FILE")
        if status == HTTPStatus.FORBIDDEN:
            raise UsageError(message, hint="give the URL of the proxy")
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable(message, hint="ask again later")
        raise UsageError(message, hint="give the URL of a `transom serve`, without a path")

    def _request(self, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
        """Send a request; return the status and the body of the response."""
        connection = self._connection()
        try:
            connection.request("GET", f"{self._path}{path}", headers=headers)
            with connection.getresponse() as response:  # it has the socket, if the server closes the connection
                status, body = response.status, response.read(LARGEST_RESPONSE + 1)
        except ssl.SSLCertVerificationError as error:
            raise UsageError(
                f"the certificate of {self.url} is not trusted",
                detail=error.verify_message,
                hint="name its authority with --tls-ca FILE, and give the URL with a name that is in the certificate",
            ) from error
        except ssl.SSLError as error:
            raise UsageError(f"{self.url} does not use TLS", detail=str(error), hint="write http://") from error
        except UnicodeError as error:
            raise UsageError(f"{self.url} has no name of a computer", detail=str(error)) from error
        except OSError as error:
            detail = error.strerror or str(error)
            raise Unavailable(f"nothing answers at {self.url}", detail=detail, hint=_START_HINT) from error
        except http.client.HTTPException as error:
            hint = "if it uses TLS, write https://" if self._tls is None else _START_HINT
            detail = str(error) or type(error).__name__
            raise Unavailable(f"no HTTP response from {self.url}", detail=detail, hint=hint) from error
        finally:
            connection.close()
        if len(body) > LARGEST_RESPONSE:
            raise UsageError(f"{self.url} answers with more than {LARGEST_RESPONSE:,} bytes")
        return status, body

    def _connection(self) -> http.client.HTTPConnection:
        """Return a connection that is not open yet."""
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=ANSWER_SECONDS)
        return http.client.HTTPSConnection(self._host, self._port, timeout=ANSWER_SECONDS, context=self._tls)


def _read_authority(authority: Path | None) -> ssl.SSLContext:
    """Return how certificates are checked: against a PEM file, or those that the system trusts."""
    try:
        return ssl.create_default_context(cafile=None if authority is None else str(authority))
    except OSError as error:
        raise UsageError(f"cannot read certificates from {authority}", detail=error.strerror or str(error)) from error


def _read_json(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a response; None if it is something else."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
