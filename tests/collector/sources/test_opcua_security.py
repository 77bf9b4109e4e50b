"""Which certificates of OPC UA servers are trusted: those that are named, and those that a named authority issued."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from tests.servers.tls.secure import Certificates, certificates
from transom.catalog.tls import Tls
from transom.collector.sources.opcua_security import _first_certificate, check_certificate, trusted_certificates


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("certificates"))


def test_issued_or_named(made: Certificates) -> None:
    shown = x509.load_pem_x509_certificate(made.right.with_suffix(".crt").read_bytes())
    check_certificate(shown, trusted_certificates(Tls(str(made.ca))), "127.0.0.1")
    check_certificate(shown, [shown], "127.0.0.1")
    elsewhere = x509.load_pem_x509_certificate(made.elsewhere.with_suffix(".crt").read_bytes())
    check_certificate(elsewhere, trusted_certificates(Tls(str(made.ca))), "Elsewhere.example.org")


def test_refused(made: Certificates) -> None:
    shown = x509.load_pem_x509_certificate(made.right.with_suffix(".crt").read_bytes())
    client = x509.load_pem_x509_certificate(made.client.with_suffix(".crt").read_bytes())
    known, now = trusted_certificates(Tls(str(made.ca))), datetime.now(UTC)
    for authorities, host, moment, words in (
        (trusted_certificates(Tls(str(made.other_ca))), "127.0.0.1", now, "unable to get local issuer"),
        ([client], "127.0.0.1", now, "unable to get local issuer"),  # of the same authority, but none itself
        ([], "127.0.0.1", now, "unable to get local issuer"),
        (known, "127.0.0.1", now + timedelta(days=40), "has expired"),
        (known, "127.0.0.1", now - timedelta(days=40), "is not yet valid"),
        ([shown], "127.0.0.1", now + timedelta(days=40), "has expired"),
        (known, "127.0.0.2", now, "mismatch"),
        (known, "localhost", now, "mismatch"),
    ):
        with pytest.raises(ssl.SSLCertVerificationError, match=words):
            check_certificate(shown, authorities, host, moment)


def test_server_may_send_a_chain(made: Certificates) -> None:
    der = [ssl.PEM_cert_to_DER_cert(path.read_text()) for path in (made.right.with_suffix(".crt"), made.ca)]
    assert _first_certificate(b"".join(der)) == der[0]
