"""Hostile catalog texts; an accepted one has stated declarations."""

from __future__ import annotations

from transom.errors import CatalogError

from .case import Accepted, Case, Refused

ONE = "s: pushed (x:integer)"
NO_ANCHORS, NO_TAGS = "anchors and aliases are not read", "tags are not read"
NO_NAME = "cannot be the name of an extent"
NO_PATH = "is not a path"


def refused(why: str, text: str, phrase: str) -> Case:
    return Case(why, text, Refused(CatalogError, phrase))


def taken(why: str, text: str, *declarations: str) -> Case:
    return Case(why, text, Accepted(list(declarations)))


def source(why: str, words: str, phrase: str) -> Case:
    """The source of a pushed extent."""
    return refused(why, f"extents:\n  s:\n    declare: pushed (x:integer)\n    source: {words}\n", phrase)


def values(why: str, kind: str, written: str, phrase: str) -> Case:
    """One value in a table."""
    return refused(why, f"extents: {{s: {{declare: 'stored (x:{kind})', source: {{table: [[{written}]]}}}}}}", phrase)


def beside(why: str, entry: str, phrase: str) -> Case:
    """An entry beside the extents."""
    return refused(why, f"{entry}\nextents: {{s: 'pushed (x:integer)'}}\n", phrase)


CASES = (
    refused("aliases of aliases fill the memory", "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", NO_ANCHORS),
    refused("an anchor", "extents: &e {s: 'pushed (x:integer)'}\n", NO_ANCHORS),
    refused("a merge key overrides entries", "extents:\n  <<: {s: 'pushed (x:integer)'}\n", "unknown entry 's'"),
    refused("a tag runs code", "extents: !!python/object/apply:os.system ['id']\n", NO_TAGS),
    refused("a tag at the top", "!!python/name:os.system\n", NO_TAGS),
    refused("a tag of somebody's own", "extents: {s: !secret 'pushed (x:integer)'}\n", NO_TAGS),
    refused(
        "a key twice: the last would win",
        "extents: {s: 'pushed (x:integer)', s: 'pushed (y:float)'}",
        "is repeated",
    ),
    refused(
        "a key twice, once in quotes",
        "extents: {s: 'pushed (x:integer)', \"s\": 'pushed (y:float)'}",
        "is repeated",
    ),
    refused(
        "names that differ by case only",
        "extents: {s: 'pushed (x:integer)', S: 'pushed (y:float)'}",
        "are the same name",
    ),
    refused("columns that differ by case only", "s: pushed (x:integer, X:float)\n", "declared twice"),
    refused("100,000 lists overflow the stack", f"extents: {'[' * 100_000}", "nested deeper than 30"),
    refused("10,000 mappings overflow the stack", f"extents: {'{a: ' * 10_000}", "nested deeper than 30"),
    refused("a second document", f"{ONE}\n---\nt: pushed (x:integer)\n", "one document"),
    refused("another version of YAML", f"%YAML 3.0\n---\n{ONE}\n", "not YAML"),
    taken("a byte order mark", f"\ufeff{ONE}\n", "s: pushed (x:integer)"),
    refused("NUL", f"{ONE}\0\n", "the character '\\x00' is not allowed in a catalog"),
    refused("NUL as an escape", 'extents: {"s\\0": "pushed (x:integer)"}\n', NO_NAME),
    refused("an escape sequence clears the terminal", 'extents: {"s\\e[2J": "pushed (x:integer)"}\n', NO_NAME),
    refused("half of a character", f"{ONE} # \ud800\n", "'\\ud800' is not allowed"),
    refused("half of a character as an escape", 'extents: {s: {source: {files: "\\ud800.csv"}}}\n', "not YAML"),
    refused(
        "U+2028 ends a comment for YAML 1.1, and not in an editor",
        f"{ONE} # \u2028t: pushed (y:float)\n",
        "'\\u2028' is not allowed",
    ),
    refused("U+0085 does, too", f"{ONE} # \x85t: pushed (y:float)\n", "'\\x85' is not allowed"),
    refused("U+202E shows a line in another order", f"{ONE} # \u202e\n", "'\\u202e' is not allowed"),
    refused("U+2066 does, too", f"{ONE} # \u2066\n", "'\\u2066' is not allowed"),
    refused("a Cyrillic letter that looks like s", "s: pu\u0455hed (x:integer)\n", "did you mean pushed?"),
    refused("a name that is SQL", "'s; DROP TABLE x': pushed (x:integer)\n", NO_NAME),
    refused("a name that is a path", "extents: {'../../etc/passwd': 'pushed (x:integer)'}\n", NO_NAME),
    refused(
        "a column that is SQL",
        "extents: {s: {kind: pushed, attributes: {'x`; --': integer}}}\n",
        "the name of an attribute",
    ),
    refused(
        "a column without a name",
        "extents: {s: {kind: pushed, attributes: {'': integer}}}\n",
        "the name of an attribute",
    ),
    taken(
        "names that Python uses",
        "extents: {__class__: 'pushed (__init__:integer)'}\n",
        "__class__: pushed (__init__:integer)",
    ),
    refused(
        "more than 64 bits",
        f"extents: {{s: {{declare: 'stored (x:integer)', rows: {'9' * 30}}}}}\n",
        "expected at most 9223372036854775807",
    ),
    refused(
        "more digits than Python converts",
        f"extents: {{s: {{declare: 'stored (x:integer)', rows: {'9' * 5000}}}}}\n",
        "more than 400 digits",
    ),
    refused(
        "a negative number of rows", "extents: {s: {declare: 'stored (x:integer)', rows: -1}}\n", "expected at least 1"
    ),
    refused(
        "no number of rows", "extents: {s: {declare: 'stored (x:integer)', rows: .nan}}\n", "expected a whole number"
    ),
    values("infinity", "float", ".inf", "is not of type float"),
    values("a float that is infinite", "float", "1e400", "is not of type float"),
    values("octal of YAML 1.2", "integer", "0o17", "is not of type integer"),
    values("base 60 of YAML 1.1", "integer", "12:30:45", "is not of type integer"),
    values("yes is no truth", "boolean", "yes", "is not of type boolean"),
    refused("a tick of nothing", f"tick: 0 s\nextents: {{{ONE!r}: x}}", "a tick is between"),
    beside("a tick of ages", "tick: 99999999999999999999999999 d", "is not a length of time"),
    beside("an epoch outside of the calendar", "epoch: 9999-12-31T23:59:59-23:59", "lies outside the calendar"),
    source("NUL cuts a path in C", '{files: "a.csv\\0.png"}', NO_PATH),
    source("a path of two lines", '{files: "a\\nb.csv"}', NO_PATH),
    source("no path", "{files: ''}", NO_PATH),
    source("a file of no known format", "{files: ../../../etc/passwd}", "cannot tell the format"),
    source("two sources", "{files: a.csv, table: []}", "not 2 of them"),
    source("a source that runs a command", "{exec: 'rm -rf /'}", "unknown entry 'exec'"),
    source("a column for no attribute", "{files: {path: a.csv, fields: {y: Y}}}", "no attribute 'y'"),
    source(
        "a pattern in place of a format", "{files: {path: a.csv, time: at, time_format: '(a+)+%Q'}}", "does not take %Q"
    ),
    source(
        "a format that floods the terminal",
        f"{{files: {{path: a.csv, time: at, time_format: '{'%Y' * 9000}'}}}}",
        "is not a format",
    ),
    source("a token in plain text", "{http: {listen: '127.0.0.1:1', path: /a, token: hunter2}}", "secret"),
    source("a password in an address", "{mqtt: {broker: 'mqtt://u:p@a', topic: b}}", "secret"),
    source(
        "a login in an option", "{kafka: {servers: 'a:9092', topic: t, options: {sasl.jaas.config: evil}}}", "secret"
    ),
    source("a topic that is a path", "{kafka: {servers: 'a:9092', topic: ../../x}}", "is not a topic"),
    source("a port that there is not", "{http: {listen: '127.0.0.1:99999', path: /a}}", "is not a host and a port"),
    source("a path that ends the line of a request", '{http: {listen: "127.0.0.1:80", path: "/a\\r\\nX: y"}}', NO_PATH),
    source("a query whose path NUL cuts", '{query: "a.cql\\0"}', NO_PATH),
    beside("a polygon without an end", "regions: {Z: {wkt: 'POLYGON ((((((((((((', on: plane}}", "expected a number"),
    beside(
        "a coordinate that is no number",
        "regions: {Z: {wkt: 'POLYGON ((0 0, nan 1, 1 1, 0 0))', on: plane}}",
        "expected a number",
    ),
    beside(
        "an infinite coordinate", "regions: {Z: {polygon: [[0, 0], [.inf, 0], [1, 1]], on: plane}}", "a finite number"
    ),
    beside(
        "GeoJSON of many dimensions",
        "regions: {Z: {geojson: {type: Polygon, coordinates: [[[[[[[0]]]]]]]}, on: plane}}",
        "a point is a list of two numbers",
    ),
    beside("a device as a region", "regions: {Z: {file: /dev/zero, on: plane}}", "cannot tell the format"),
    beside("a prefix that closes itself", "prefixes: {ex: 'http://ex/ <>'}", "is not an absolute IRI"),
    refused("a file of RDF whose path NUL cuts", 'rdf: {td: {stream: "http://ex/", files: "a\\0.csv"}}\n', NO_PATH),
    refused("a key that is a list", "? [a, b]\n: c\n", "a key is one word"),
    refused("only text", "just text\n", "expected a catalog"),
    refused("nothing", "", "the catalog is empty"),
    refused("a tab as indentation", "s:\n\tkind: pushed\n", "not with tabs"),
    refused("brackets without an end", "extents: {s: 'pushed (x:integer)\n", "not YAML"),
)
