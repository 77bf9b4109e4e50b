"""The options of the commands that answer programs over HTTP: where they listen, and to whom they answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transom.errors import UsageError, install_hint

if TYPE_CHECKING:
    from transom.serving.http.server import Listening

ListenOption = Annotated[
    str, typer.Option("--listen", metavar="HOST:PORT", help="The address for programs; port 0 is any free one.")
]
TokenOption = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="A file with the token that programs must send.")
]
CertificateOption = Annotated[
    Path | None, typer.Option("--tls-certificate", metavar="FILE", help="The certificate of the server, as PEM.")
]
KeyOption = Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="The key of the certificate.")]
ProxyOption = Annotated[
    str | None,
    typer.Option("--behind-proxy", metavar="ADDRESS", help="The only address that may connect: a proxy with TLS."),
]


def read_listening(
    listen: str,
    token_file: Path | None,
    certificate: Path | None,
    key: Path | None,
    proxy: str | None,
    hint_without: str,
) -> Listening:
    """Read the options of an HTTP server; raise UsageError if they do not fit together, or the extra is missing.

    `hint_without` ends the hint for a missing extra: how to run the command without the server.
    """
    try:
        from transom.serving.http.server import Listening
    except ImportError as error:
        raise UsageError(
            "answering programs needs starlette, uvicorn and prometheus-client",
            detail=str(error),
            hint=f"{install_hint('serve')}; {hint_without}",
        ) from error
    host, colon, port = listen.rpartition(":")
    if not colon or not (port.isascii() and port.isdecimal()) or int(port) > 65535:
        raise UsageError(f"--listen: {listen!r} is no address with a port", hint="write for example 127.0.0.1:8470")
    token = None if token_file is None else read_token(token_file)
    listening = Listening(host.strip("[]"), int(port), token, certificate, key, proxy)
    listening.check()
    return listening


def read_token(file: Path) -> str:
    """Return the token in a file, without the line break at its end; raise UsageError if it cannot be read."""
    try:
        return file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read a token from {file}", detail=str(error), hint="give a file of ASCII") from error
