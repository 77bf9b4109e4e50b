"""Hostile requests to the HTTP receiver, as the bytes on the wire, with the status of each answer.

Whatever is refused leaves no row in the log, and the request behind it on the same connection is not served.
"""

from __future__ import annotations

from typing import NamedTuple

BODY = b'{"plate": "a", "speed": 1}'
HOST, TOKEN = b"Host: here", b"Authorization: Bearer let-me-in"
CHUNKED = b"Transfer-Encoding: chunked"


class Wire(NamedTuple):
    """Bytes that a client sends, the statuses of the answers, and how many rows the log has then."""

    why: str
    sent: bytes
    statuses: tuple[int, ...]
    rows: int = 0


def head(*headers: bytes, line: bytes = b"POST /cars HTTP/1.1", end: bytes = b"\r\n") -> bytes:
    return end.join([line, *headers]) + end + end


def post(*headers: bytes, line: bytes = b"POST /cars HTTP/1.1", body: bytes = BODY) -> bytes:
    """A request that is right but for what is given."""
    return head(HOST, TOKEN, b"Content-Length: %d" % len(body), *headers, line=line) + body


def unmeasured(*headers: bytes, body: bytes = b"") -> bytes:
    """A request without a length of its own."""
    return head(HOST, TOKEN, *headers) + body


def chunks(text: bytes, *headers: bytes) -> bytes:
    return unmeasured(CHUNKED, *headers, body=text)


ONE_CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
SMUGGLED = post(line=b"POST /cars?smuggled HTTP/1.1")

METHODS = (
    *(
        Wire(f"{method} reads or changes something", post(line=f"{method} /cars HTTP/1.1".encode()), (405,))
        for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE")
    ),
    Wire("a method in lower case", post(line=b"post /cars HTTP/1.1"), (400,)),
    Wire("a method of two words", post(line=b"PO ST /cars HTTP/1.1"), (400,)),
    Wire("a method with a NUL", post(line=b"POST\0 /cars HTTP/1.1"), (400,)),
    Wire("CONNECT asks for a tunnel", post(line=b"CONNECT 127.0.0.1:22 HTTP/1.1"), (404,)),
    Wire("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400,)),
    Wire("a version that there is not", post(line=b"POST /cars HTTP/9.9"), (400,)),
    Wire("a line without a version", post(line=b"POST /cars"), (400,)),
)

PATHS = (
    Wire("a folder above", post(line=b"POST /cars/../../etc/passwd HTTP/1.1"), (404,)),
    Wire("a folder above, escaped", post(line=b"POST /%2e%2e/cars HTTP/1.1"), (404,)),
    Wire("two slashes", post(line=b"POST //cars HTTP/1.1"), (404,)),
    Wire("NUL behind the path", post(line=b"POST /cars%00 HTTP/1.1"), (404,)),
    Wire("a path parameter, which some proxies drop", post(line=b"POST /cars;a=b HTTP/1.1"), (404,)),
    Wire("bytes that are no text", post(line=b"POST /c\xff\xfers HTTP/1.1"), (400,)),
    Wire("a line break in the path, escaped", post(line=b"POST /cars%0d%0aX:%20y HTTP/1.1"), (404,)),
    Wire("a path of 20,000 characters", post(line=b"POST /" + b"a" * 20_000 + b" HTTP/1.1"), (400,)),
)

TOKENS = (
    Wire("no token", head(HOST, b"Content-Length: 0"), (401,)),
    Wire("a wrong token", head(HOST, b"Authorization: Bearer let-me-on", b"Content-Length: 0"), (401,)),
    Wire("a token without its scheme", head(HOST, b"Authorization: let-me-in", b"Content-Length: 0"), (401,)),
    Wire("a token in a password", head(HOST, b"Authorization: Basic bGV0LW1lLWlu", b"Content-Length: 0"), (401,)),
    Wire(
        "a token in the address", head(HOST, b"Content-Length: 0", line=b"POST /cars?token=let-me-in HTTP/1.1"), (401,)
    ),
    Wire(
        "the reference in place of the token",
        head(HOST, b"Authorization: Bearer ${DOOR}", b"Content-Length: 0"),
        (401,),
    ),
    Wire(
        "bytes that are no text as a token", head(HOST, b"Authorization: Bearer \xff\xfe", b"Content-Length: 0"), (401,)
    ),
    Wire("a second token, which a proxy might look at", post(b"Authorization: Bearer other"), (400,)),
)

LENGTHS = (
    Wire("no length", unmeasured(), (411,)),
    Wire("a body without a length is another request", unmeasured(body=BODY), (400,)),
    Wire("a negative length", unmeasured(b"Content-Length: -5", body=BODY), (400,)),
    Wire("a length with a sign", unmeasured(b"Content-Length: +26", body=BODY), (400,)),
    Wire("a hexadecimal length", unmeasured(b"Content-Length: 0x1a", body=BODY), (400,)),
    Wire("a length of more than 64 bits", unmeasured(b"Content-Length: " + b"9" * 30, body=BODY), (400,)),
    Wire("a length beyond the limit", unmeasured(b"Content-Length: 99999999999"), (413,)),
    Wire("two lengths in one header", unmeasured(b"Content-Length: 26, 26", body=BODY), (400,)),
    Wire("two different lengths", post(b"Content-Length: 0"), (400,)),
    Wire("two equal lengths", post(b"Content-Length: 26"), (400,)),
    Wire("a length and chunks: one of two servers is wrong", post(CHUNKED) + SMUGGLED, (400,)),
    Wire("chunks that are compressed", unmeasured(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"), (400,)),
    Wire("chunks that are not last", unmeasured(b"Transfer-Encoding: chunked, identity", body=ONE_CHUNK), (400,)),
    Wire("chunks by another name", unmeasured(b"Transfer-Encoding: xchunked", body=ONE_CHUNK), (400,)),
    Wire("chunks said twice", chunks(ONE_CHUNK + b"0\r\n\r\n", CHUNKED), (400,)),
    Wire("a blank before the colon", unmeasured(b"Transfer-Encoding : chunked", body=ONE_CHUNK), (400,)),
    Wire("a header over two lines", unmeasured(b"Transfer-Encoding:\r\n chunked", body=ONE_CHUNK), (400,)),
    Wire("lines that end without a return", head(HOST, TOKEN, b"Content-Length: 26", end=b"\n") + BODY, (400,)),
)

CHUNKS = (
    Wire("a negative chunk", chunks(b"-1\r\n" + ONE_CHUNK), (400,)),
    Wire("a chunk of 0x1", chunks(b"0x1a\r\n" + BODY + b"\r\n0\r\n\r\n"), (400,)),
    Wire("a chunk of more than 64 bits", chunks(b"f" * 17 + b"\r\n" + BODY), (400,)),
    Wire("a chunk without its end", chunks(b"2\r\n" + BODY + b"\r\n0\r\n\r\n"), (400,)),
    Wire("an extension with a line break", chunks(b"1a;a=\n" + BODY + b"\r\n0\r\n\r\n"), (400,)),
    Wire("an extension of 20,000 characters", chunks(b"1a;" + b"a" * 20_000 + b"\r\n" + BODY), (400,)),
    Wire("chunks are taken", chunks(ONE_CHUNK + b"0\r\n\r\n"), (200,), 1),
    Wire("a length behind the chunks", chunks(ONE_CHUNK + b"0\r\nContent-Length: 99\r\n\r\n"), (400,)),
)

HEADERS = (
    Wire("100 headers", post(*(b"X-%d: 1" % number for number in range(100))), (400,)),
    Wire("a header of 20,000 characters", post(b"X-Long: " + b"a" * 20_000), (400,)),
    Wire("NUL in a header", post(b"X-Nul: a\0b"), (400,)),
    Wire("a return in a header", post(b"X-Return: a\rX-Other: b"), (400,)),
    Wire("a name with a blank", post(b"X Y: a"), (400,)),
    Wire("a header without a name", post(b": a"), (400,)),
    Wire("gzip: ten bytes may become a gigabyte", post(b"Content-Encoding: gzip"), (415,)),
    Wire("another compression", post(b"Content-Encoding: br, identity"), (415,)),
    Wire("an expectation", post(b"Expect: wonders"), (417,)),
    Wire("a key that is no text", post(b"Idempotency-Key: \xff\xfe"), (400,)),
    Wire("a key of 300 characters", post(b"Idempotency-Key: " + b"a" * 300), (400,)),
    Wire("two keys: which one is remembered?", post(b"Idempotency-Key: a", b"Idempotency-Key: b"), (400,)),
    Wire("a key with an escape sequence", post(b"Idempotency-Key: \x1b[2J"), (400,)),
    Wire("a change of the protocol is not made", post(b"Upgrade: websocket", b"Connection: Upgrade"), (200,), 1),
    Wire("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", (400,)),
    Wire("NUL bytes", b"\0" * 5000 + b"\r\n\r\n", (400,)),
)

BODIES = (
    Wire("XML as a body", post(b"Content-Type: text/xml", body=b"<a/>"), (422,)),
    Wire("a form", post(b"Content-Type: application/x-www-form-urlencoded", body=b"plate=a&speed=1"), (422,)),
    Wire("JSON by another name is JSON", post(b"Content-Type: text/plain"), (200,), 1),
    Wire("50,000 brackets", post(body=b"[" * 50_000), (422,)),
    Wire("a message larger than one may be", post(body=b" " * (1 << 20) + BODY), (422,)),
    Wire("a request in the body of another", post(body=SMUGGLED), (422,)),
    Wire("two requests at once", post() + post(), (200, 200), 2),
)

CASES = (*METHODS, *PATHS, *TOKENS, *LENGTHS, *CHUNKS, *HEADERS, *BODIES)
