"""A certificate for 127.0.0.1, made by openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate that signs itself, and its key, into a folder."""
    certificate, key = folder / "c.pem", folder / "k.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=plant.example"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names], check=True, capture_output=True)
    return certificate, key
