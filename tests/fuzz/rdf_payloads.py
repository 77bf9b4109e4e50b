"""Fuzzing of messages of RDF: `python -m tests.fuzz.rdf_payloads --count 200000 --seed 1`.

A message is read or set aside with a reason, within a second, and nothing else happens: no other error, no crash. What
is read is well formed: its terms, written down as N-Triples and read again, are the same. Batches for Spark say the
same as the plain reader.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from functools import cache
from multiprocessing import Pool
from random import Random

import pyarrow as pa

from transom.connectors.payloads import RejectError
from transom.connectors.rdf.payloads import MessageStatement, RdfReader, decode_batches, statement_text
from transom.model.rdf.read import FORMATS, read_quads
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term, Triple

from .fuzz import CHUNK, SLOWEST, Tally, shown
from .mutate import mutate

TIME = "http://ex/at"
NODES = (IRI("http://ex/a"), IRI("http://ex/é"), IRI("urn:x:1"), BlankNode("b"), BlankNode("c1"))
PREDICATES = (IRI("http://ex/p"), IRI("http://ex/q-1"), IRI(TIME))
XSD = "http://www.w3.org/2001/XMLSchema#"
LITERALS = (
    *(Literal(text) for text in ("", "a", '"', "\\", "\n\r\t\b\f", "\x00\x7f", "表😀", "<a>", "@en", "^^", "'''")),
    *(Literal("x", language=tag) for tag in ("en", "EN-gb", "de-1996")),
    *(Literal(text, XSD + "integer") for text in ("0", "-7", "01", "no")),
    *(Literal(text, XSD + "dateTime") for text in ("1970-01-01T00:00:05Z", "1960-01-01T00:00:00", "24:00")),
)
MOMENTS = (*(0, 7, 12, 99, "12", "1970-01-01T00:00:09Z") * 3, None, None, -1, "soon", 2**63, 1.5, True)
WORDS = (
    *(
        "<http://ex/a>",
        "<a>",
        "<>",
        "_:b",
        '"a"',
        '"a"@en',
        '"1"^^<http://ex/t>',
        " .",
        ";",
        ",",
        "a",
        "@prefix : <",
        ">",
    ),
    *(
        "PREFIX",
        "BASE <http://b/>",
        "[",
        "]",
        "[]",
        "(",
        ")",
        "{",
        "}",
        "GRAPH",
        "<<",
        ">>",
        "<<(",
        "{|",
        "|}",
        "\\u0041",
    ),
    *(
        "\\uD800",
        "\\U0010FFFF",
        "\\x",
        "'''",
        '"""',
        "#",
        "1",
        "-1.5e3",
        "true",
        "^^",
        "@",
        "@en--ltr",
        "%00",
        "\ufeff",
    ),
    *(
        '{"@id": "x:a"}',
        '"@context": "http://x/"',
        '"@graph": [',
        '"@list": [',
        '"@type":',
        '"@value": 1',
        "null",
        "\x00",
    ),
    *('"@context": {"p": "http://ex/p", "@vocab": "http://v/"},', '"@reverse": {', '"@version": 1.1', "&amp;", "&x;"),
    *(
        "<rdf:Description>",
        "</rdf:Description>",
        'rdf:about="a"',
        'rdf:parseType="Collection"',
        "<!--",
        "-->",
        "<![CDATA[",
    ),
    *('<!DOCTYPE x [<!ENTITY x "&x;&x;">]>', 'xml:lang="en"', 'xmlns:e="http://e/"', '<?xml version="1.0"?>', "rdf:li"),
)


@cache
def seeds() -> tuple[tuple[str, str], ...]:
    """Messages to begin with, with their formats: generated statements in each."""
    return tuple((format, message(format, Random(f"{format}-{n}"))) for n in range(60) for format in FORMATS)


def message(format: str, dice: Random) -> str:
    """Some statements in one of the formats."""
    quads = [
        (dice.choice(NODES), dice.choice(PREDICATES), dice.choice((*NODES, *LITERALS)), dice.choice((None, *NODES)))
        for _ in range(dice.randrange(5))
    ]
    match format:
        case "nq":
            return "".join(f"{s} {p} {o} {'' if g is None else g} .\n" for s, p, o, g in quads)
        case "trig":
            return "PREFIX e: <http://ex/>\n" + "".join(f"{g or ''} {{ {s} {p} {o} }}\n" for s, p, o, g in quads)
        case "jsonld":
            return json.dumps([{"@id": name(s), p.value: [linked(o)]} for s, p, o, _ in quads], ensure_ascii=False)
        case "rdf":
            return xml([(s, p, o) for s, p, o, _ in quads])
        case _:
            head = "@prefix e: <http://ex/> .\n" if format == "ttl" else ""
            return head + "".join(f"{Triple(s, p, o)}\n" for s, p, o, _ in quads)


def name(term: Term) -> str:
    """A name or a blank node in JSON-LD."""
    return term.value if isinstance(term, IRI) else str(term)


def linked(term: Term) -> dict[str, str]:
    """A term in JSON-LD."""
    if not isinstance(term, Literal):
        return {"@id": name(term)}
    kind = {"@language": term.language} if term.language else {"@type": term.datatype}
    return {"@value": term.lexical, **kind}


def xml(triples: list[tuple[Term, IRI, Term]]) -> str:
    """Statements in RDF/XML, those with odd characters left out."""
    parts = ['<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex/">']
    for subject, predicate, value in triples:
        who = f'rdf:about="{subject.value}"' if isinstance(subject, IRI) else f'rdf:nodeID="{str(subject)[2:]}"'
        tag = "e:" + predicate.value.removeprefix("http://ex/")
        if isinstance(value, Literal):
            text = "".join(c for c in value.lexical if c.isalnum())
            parts.append(f"<rdf:Description {who}><{tag}>{text}</{tag}></rdf:Description>")
        else:
            to = f'rdf:resource="{value.value}"' if isinstance(value, IRI) else f'rdf:nodeID="{value.label}"'
            parts.append(f"<rdf:Description {who}><{tag} {to}/></rdf:Description>")
    return "".join([*parts, "</rdf:RDF>"])


def input_of(seed: int, number: int) -> tuple[RdfReader, str | bytes, object]:
    """One message: words of RDF put into another, and then all that is done to texts and bytes."""
    dice = Random(f"rdf-{seed}-{number}")
    format, text = dice.choice(seeds())
    for _ in range(dice.choice((0, 0, 1, 1, 2, 4))):
        place = dice.randrange(len(text) + 1)
        text = text[:place] + dice.choice(WORDS) + text[place + dice.choice((0, 0, 1, 5)) :]
    if dice.random() < 0.4:
        text = mutate(text, tuple(one for _, one in seeds()), dice)
    if dice.random() < 0.05:
        format = dice.choice(list(FORMATS))
    payload: str | bytes = text
    if dice.random() < 0.3:
        raw = bytearray(text.encode("utf-8", "surrogatepass"))
        for _ in range(dice.choice((0, 1, 1, 3))):
            if raw:
                raw[dice.randrange(len(raw))] = dice.randrange(256)
        payload = bytes(raw)
    return RdfReader(format, time=dice.choice((None, TIME))), payload, dice.choice(MOMENTS)


def check_statements(statements: list[MessageStatement]) -> None:
    """Statements are written as N-Quads and read again as the same ones."""
    written = "".join(f"{str(one.triple)[:-2]} {'' if one.graph is None else one.graph} .\n" for one in statements)
    again = [(quad.triple, quad.graph) for quad in read_quads(written, "nq")]
    assert again == [(one.triple, one.graph) for one in statements], "terms are not what they were"
    assert all(one.tick >= 0 for one in statements)


def check_batches(
    reader: RdfReader, payload: str | bytes, moment: object, found: list[MessageStatement] | None
) -> None:
    """What Spark gets is what the plain reader says."""
    if isinstance(moment, bool | str | float):
        return
    values = [payload if isinstance(payload, bytes) else payload.encode("utf-8", "surrogatepass")]
    try:
        moments = pa.array([moment], pa.int64())
    except (pa.ArrowException, OverflowError):
        return
    given = pa.RecordBatch.from_arrays([pa.array(values, pa.binary()), moments], names=["payload", "t"])
    rows = [row for batch in decode_batches(reader, [given], with_times=True) for row in batch.to_pylist()]
    if found is None:
        assert [row["s"] for row in rows] == [None]
        assert rows[0]["reject_reason"]
    else:
        assert [(row["s"], row["p"], row["o"], row["g"], row["tick"]) for row in rows] == [
            (*statement_text(one), one.tick) for one in found
        ]


def check(seed: int, number: int) -> Tally:
    """What became of one message."""
    tally = Tally()
    reader, payload, moment = input_of(seed, number)
    text = payload if isinstance(payload, str) else repr(payload)
    began = time.process_time()
    found: list[MessageStatement] | None = None
    words = ""
    try:
        try:
            found = reader.statements(payload, moment)
            outcome = "read" if found else "empty"
        except RejectError as dead:
            outcome = dead.reason.value
            words = str(dead)
        assert found is not None or words, "a reason without words"
        took = time.process_time() - began
        tally.slowest = (took, number, text)
        assert took < SLOWEST, f"took {took:.2f} s"
        check_statements(found or [])
        check_batches(reader, payload, moment, found)
    except BaseException as error:  # a panic of the parser is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome = "failed"
        tally.failures.append((number, f"{reader.format}: {text}", traceback.format_exc(limit=-4)))
    tally.outcomes[outcome] += 1
    return tally


def check_all(seed: int, numbers: range) -> Tally:
    """What became of some messages, one after the other."""
    return Tally.of(check(seed, number) for number in numbers)


def _chunk(job: tuple[int, range]) -> Tally:
    return check_all(*job)


def main() -> int:
    """Fuzz from the command line; 1 if anything failed."""
    parser = argparse.ArgumentParser(description="Fuzz the reader of messages of RDF.")
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    jobs = [(options.seed, range(start, min(start + CHUNK, options.count))) for start in range(0, options.count, CHUNK)]
    total = Tally()
    with Pool(options.processes) as pool:
        for tally in pool.imap_unordered(_chunk, jobs):
            total.add(tally)
    different = {why.splitlines()[-1]: (number, text, why) for number, text, why in reversed(total.failures)}
    for number, text, why in list(different.values())[:20]:
        print(f"number {number} ({len(text)} characters): {shown(text)}\n{why}")
    outcomes = ", ".join(f"{total.outcomes[name]:,} {name}" for name in sorted(total.outcomes))
    took, number, _ = total.slowest
    print(f"{outcomes}; slowest {took:.2f} s for {number}; {len(total.failures)} failed")
    return 1 if total.failures else 0


if __name__ == "__main__":
    sys.exit(main())
