"""Hostile query texts, over streams `s` and `cars`; an accepted one has a stated answer."""

from __future__ import annotations

from typing import NamedTuple

from transom.errors import LanguageRule, NameProblem, ParseError, TypeProblem, Unsupported

from .case import Accepted, Case, Refused


class Text(NamedTuple):
    """A query text and its language."""

    language: str
    text: str


NINES = "9" * 5000
XSD = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
TOO_DEEP = Refused(ParseError, "the expression is nested more than 100 levels deep")
TOO_LARGE = Refused(ParseError, "this integer does not fit into 64 bits")
TOO_LONG = Refused(ParseError, "at most 20,000 characters")
NO_UPDATE = Refused(ParseError, "updates are not supported; write SELECT, CONSTRUCT, DESCRIBE or ASK")
ROWS = (
    {"tick": 0, "x": 0, "name": "a", "f": 0.5},
    {"tick": 1, "x": 1, "name": "${HOME}", "f": 0.5},
    {"tick": 2, "x": 2, "name": "a" * 60, "f": 1e308},
)


def sneeql(why: str, text: str, outcome: Refused | Accepted) -> Case:
    return Case(why, Text("sneeql", text), outcome)


def cql(why: str, text: str, outcome: Refused | Accepted) -> Case:
    return Case(why, Text("cql", text), outcome)


def sparql(why: str, text: str, outcome: Refused | Accepted) -> Case:
    return Case(why, Text("sparql", text), outcome)


def each(why: str, expression: str, *values: object) -> Case:
    """An expression over `s`, and its value in each row."""
    return sneeql(why, f"SELECT {expression} AS m FROM s", Accepted([(value,) for value in values]))


def term(why: str, expression: str, value: str | None) -> Case:
    """A SPARQL expression, and its value as N-Triples write it; None if it has none."""
    return sparql(why, f"{XSD} SELECT ({expression} AS ?x) WHERE {{}}", Accepted([(value,)]))


SNEEQL = (
    sneeql(
        "parentheses overflow a recursive parser",
        f"SELECT x FROM s WHERE {'(' * 5000}x = 1{')' * 5000}",
        Accepted([(1,)]),
    ),
    sneeql("prefix operators make a deep tree", f"SELECT x FROM s WHERE {'NOT ' * 4000}x = 1", TOO_DEEP),
    sneeql("signs make a deep tree", f"SELECT {'- ' * 9000}x FROM s", TOO_DEEP),
    sneeql("subqueries make a deep plan", f"SELECT x FROM {'(SELECT x FROM ' * 900}s{')' * 900}", TOO_DEEP),
    sneeql("a long sum is a deep tree", f"SELECT {'x+' * 9000}x FROM s", TOO_DEEP),
    sneeql("nested CASE", f"SELECT {'CASE WHEN x=1 THEN ' * 600}1{' END' * 600} FROM s", TOO_DEEP),
    sneeql("a text too long to parse in time", f"SELECT x FROM s{' ' * 30_000}", TOO_LONG),
    sneeql("a long list", f"SELECT x FROM s WHERE x IN ({','.join(['1'] * 9000)})", Accepted([(1,)])),
    sneeql("a name that floods the terminal", f"SELECT {'a' * 19_000} FROM s", Refused(NameProblem, "aaa...")),
    sneeql(
        "NUL ends strings in C",
        "SELECT x FROM s\0",
        Refused(ParseError, "a control character (U+0000) is not expected here"),
    ),
    sneeql("NUL in a string is only compared", "SELECT x FROM s WHERE name = 'a\0b'", Accepted([])),
    sneeql(
        "half of a character cannot be written as UTF-8",
        "SELECT '\ud800' AS m FROM s",
        Refused(ParseError, "half of a surrogate pair"),
    ),
    sneeql("a byte order mark is invisible", "\ufeffSELECT x FROM s", Refused(ParseError, "(U+FEFF) is not expected")),
    sneeql(
        "U+202E shows a text in another order",
        "SELECT x \u202e FROM s",
        Refused(ParseError, "(U+202E) is not expected"),
    ),
    sneeql("a Cyrillic letter that looks like x", "SELECT \u0445 FROM s", Refused(ParseError, "only letters (A-Z")),
    sneeql(
        "a digit of another script", "SELECT x FROM s WHERE x = \uff11", Refused(ParseError, "is not expected here")
    ),
    sneeql("U+00A0 looks like a blank", "SELECT\xa0x FROM s", Refused(ParseError, "an ordinary space")),
    sneeql("U+2028 ends a comment in some editors", "SELECT x -- c\u2028FROM s", Refused(ParseError, "ends too early")),
    sneeql("a vertical tab hides words on a terminal", "SELECT\x0bx FROM s", Refused(ParseError, "leave it out")),
    sneeql("a string without an end", "SELECT x FROM s WHERE name = 'a", Refused(ParseError, "a quote is not closed")),
    sneeql("a name without an end", 'SELECT "x FROM s', Refused(ParseError, "a quote is not closed")),
    sneeql(
        "a comment without an end",
        "SELECT x FROM s /* never",
        Refused(ParseError, "a comment begins with -- and ends with the line"),
    ),
    sneeql("a comment hides a quote", "SELECT x FROM s -- ' OR '1", Accepted([(0,), (1,), (2,)])),
    sneeql("a second statement", "SELECT x FROM s; DROP TABLE s", Refused(ParseError, "one query at a time")),
    sneeql("a column name that is SQL", 'SELECT x AS "a`; DROP TABLE s --" FROM s', Accepted([(0,), (1,), (2,)])),
    sneeql("an empty column name", 'SELECT x AS "" FROM s', Refused(ParseError, "expected a name")),
    sneeql(
        "two columns of one name, of which a sink drops one",
        "SELECT x, f AS x FROM s",
        Refused(NameProblem, "two columns are called x"),
    ),
    sneeql("another query appended", "SELECT x FROM s UNION SELECT x FROM s", Refused(ParseError, "write two queries")),
    sneeql(
        "a path as a source", 'SELECT x FROM "../../etc/passwd"', Refused(NameProblem, "no extent '../../etc/passwd'")
    ),
    sneeql(
        "a reader of files as a source", "SELECT * FROM read_csv('x')", Refused(ParseError, "'(' is not expected here")
    ),
    sneeql(
        "a function of Spark that calls Java",
        "SELECT java_method('java.lang.System', 'exit', 0) FROM s",
        Refused(NameProblem, "no function is called JAVA_METHOD"),
    ),
    sneeql("a reference is text", "SELECT x FROM s WHERE name = '${HOME}'", Accepted([(1,)])),
    sneeql("2**63 overflows", "SELECT 9223372036854775808 FROM s", Refused(TypeProblem, "does not fit into 64 bits")),
    sneeql("more digits than Python converts", f"SELECT {NINES} FROM s", TOO_LARGE),
    sneeql("a float that is infinite", "SELECT 1e400 FROM s", Refused(ParseError, "1e400 is too large for a float")),
    each("a float below the smallest", "1e-400", 0.0, 0.0, 0.0),
    each("a sum that overflows is NULL", "x + 9223372036854775807", 9223372036854775807, None, None),
    each("the least integer has no opposite", "ABS(-9223372036854775808)", None, None, None),
    each("division by zero is NULL", "x / 0", None, None, None),
    each("a cast of more digits than Python converts", f"CAST('{NINES}' AS integer)", None, None, None),
    each("a decimal whose digits would fill the memory", "CAST('1e999999999' AS decimal)", None, None, None),
    each("a float cast that is infinite", "CAST('1e400' AS float)", None, None, None),
    each("a year without end", "CAST('99999-01-01' AS timestamp)", None, None, None),
    each("a power that overflows", "POWER(10, 1e308)", None, None, None),
    each("a round to more digits than there are", "ROUND(f, 9223372036854775807)", 0.5, 0.5, 1e308),
    each("a substring far behind the end", "SUBSTRING(name, 9223372036854775807, 9223372036854775807)", "", "", ""),
    each("an instant outside of the calendar", "YEAR(INSTANT(9223372036854775807))", None, None, None),
    sneeql("LIKE with many wildcards backtracks", f"SELECT x FROM s WHERE name LIKE '{'%a' * 25}%b'", Accepted([])),
    sneeql(
        "a window of more than 64 bits", "SELECT x FROM s [FROM NOW-99999999999999999999 TO NOW SLIDE 1 SEC]", TOO_LARGE
    ),
    sneeql(
        "a window of the future",
        "SELECT x FROM s [FROM NOW+5 TO NOW SLIDE 1 SEC]",
        Refused(ParseError, "reaches back from NOW"),
    ),
    sneeql(
        "a slide of nothing never ends",
        "SELECT x FROM s [FROM NOW-5 TO NOW SLIDE 0 SEC]",
        Refused(LanguageRule, "a slide cannot be 0"),
    ),
    sneeql("nothing", "", Refused(ParseError, "the query is empty")),
)

CQL = (
    cql(
        "a region on the plane for places on the earth, as a window",
        "SELECT RStream(id) FROM cars [RANGE BY Yard RATTR SPACE]",
        Refused(LanguageRule, "Yard lies on the plane, the position on the earth"),
    ),
    cql(
        "a region on the plane for places on the earth, as a condition",
        "SELECT RStream(id) FROM cars [NOW] WHERE inside(g, Yard)",
        Refused(LanguageRule, "Yard lies on the plane, the position on the earth"),
    ),
    cql(
        "a range of more digits than a length has",
        "SELECT RStream(x) FROM s [RANGE '99999999999999999999 days']",
        Refused(ParseError, "at most 18 digits on each side"),
    ),
    cql(
        "a range and a slide of nothing",
        "SELECT RStream(x) FROM s [RANGE '0 s', SLIDE '0 s']",
        Refused(LanguageRule, "a slide cannot be 0"),
    ),
    cql("a negative number of rows", "SELECT RStream(x) FROM s [ROWS -1]", Refused(ParseError, "a whole number")),
    cql("no rows", "SELECT RStream(x) FROM s [ROWS 0]", Refused(LanguageRule, "a window cannot have 0 rows")),
    cql("rows that overflow", "SELECT RStream(x) FROM s [ROWS 99999999999999999999]", TOO_LARGE),
    cql(
        "a distance that is no number",
        "SELECT RStream(id) FROM cars [RANGE BY 'NaN km' RATTR SPACE]",
        Refused(ParseError, "this is neither a length of time nor a distance"),
    ),
    cql(
        "an infinite distance",
        "SELECT RStream(id) FROM cars [RANGE BY '1e400 km' RATTR SPACE, SLIDE BY '1 km' SATTR SPACE]",
        Refused(ParseError, "this is neither a length of time nor a distance"),
    ),
    cql(
        "the Kelvin sign is a k when case is ignored",
        "SELECT RStream(x) FROM s [RANGE '5 \u212aS']",
        Refused(NameProblem, "no unit is called"),
    ),
    cql("digits of another script", "SELECT RStream(x) FROM s [ROWS \u0663]", Refused(ParseError, "a whole number")),
    cql(
        "a string that begins with one quote and ends with another",
        "SELECT RStream(x) FROM s [NOW] WHERE name = \u2018a'",
        Refused(ParseError, "is not expected here"),
    ),
    cql(
        "nested EXISTS",
        f"SELECT RStream(x) FROM s [NOW] WHERE {'EXISTS (SELECT x FROM s [NOW] WHERE ' * 150}x=1{')' * 150}",
        TOO_DEEP,
    ),
    cql(
        "a product of 900 sources",
        f"SELECT RStream(a0.x) FROM {', '.join(f'a{i}=s [NOW]' for i in range(900))}",
        Refused(LanguageRule, "more than 30 sources"),
    ),
    cql("a chain of set operations", " UNION ".join(["SELECT x FROM s [NOW]"] * 600), TOO_DEEP),
    cql(
        "streams of streams",
        f"SELECT RStream(x) FROM {'(SELECT RStream(x) FROM ' * 120}s [NOW]{') [NOW]' * 120}",
        TOO_DEEP,
    ),
    cql(
        "a misspelled column is no text",
        "SELECT RStream(passwd) FROM s [NOW]",
        Refused(NameProblem, "no attribute is called passwd"),
    ),
    cql(
        "a reference in a query",
        "SELECT RStream(${HOME}) FROM s [NOW]",
        Refused(ParseError, "'$' is not expected here"),
    ),
    cql(
        "a second statement",
        "SELECT RStream(x) FROM s [NOW]; DELETE FROM s",
        Refused(ParseError, "one query at a time"),
    ),
    cql(
        "a path as a region",
        'SELECT RStream(id) FROM cars [RANGE BY "../etc/passwd" RATTR SPACE]',
        Refused(NameProblem, "no region is called ../etc/passwd"),
    ),
    cql(
        "a broken polygon in place of a region",
        "SELECT RStream(id) FROM cars [NOW] WHERE inside(g, 'POLYGON((0 0')",
        Refused(LanguageRule, "INSIDE takes a position and a region"),
    ),
    cql(
        "coordinates outside of the earth",
        "SELECT RStream(DISTANCE(g, POINT(1e308, 1e308)) AS d) FROM cars [NOW]",
        Accepted([(None,)]),
    ),
    cql(
        "an escape sequence in a name clears the terminal",
        'SELECT RStream(x) FROM "s\x1b[2J" [NOW]',
        Refused(NameProblem, "'s\\x1b[2J'"),
    ),
    cql(
        "an escape sequence in a string is only compared",
        "SELECT RStream(x) FROM s [NOW] WHERE name = '\x1b[2J'",
        Accepted([]),
    ),
    cql(
        "two sources of one name",
        "SELECT RStream(x) FROM s=s [NOW], s=s [NOW]",
        Refused(NameProblem, "two sources are called s"),
    ),
    cql(
        "half of a character",
        "SELECT RStream(x) FROM s [NOW] WHERE name = '\udfff'",
        Refused(ParseError, "half of a surrogate pair"),
    ),
    cql(
        "a window without an end", "SELECT RStream(x) FROM s [RANGE '5 s", Refused(ParseError, "a quote is not closed")
    ),
)

SPARQL = (
    sparql(
        "SERVICE asks other hosts",
        "SELECT * WHERE { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }",
        Refused(Unsupported, "SERVICE"),
    ),
    sparql(
        "SERVICE SILENT hides that it failed",
        "SELECT * WHERE { SERVICE SILENT <http://127.0.0.1/> { ?s ?p ?o } }",
        Refused(Unsupported, "SERVICE"),
    ),
    sparql("LOAD reads a file", "LOAD <file:///etc/passwd>", NO_UPDATE),
    sparql("LOAD asks the host of a cloud", "LOAD <http://169.254.169.254/> INTO GRAPH <http://ex/g>", NO_UPDATE),
    sparql(
        "FROM reads a file",
        "SELECT * FROM <file:///etc/passwd> WHERE { ?s ?p ?o }",
        Refused(NameProblem, "no graph <file:///etc/passwd>"),
    ),
    sparql(
        "FROM NAMED reads a file",
        "SELECT * FROM NAMED <file:///etc/passwd> WHERE { GRAPH ?g { ?s ?p ?o } }",
        Refused(NameProblem, "no graph <file:///etc/passwd>"),
    ),
    sparql(
        "BASE makes a path of a relative name",
        "BASE <file:///etc/> SELECT * FROM <passwd> WHERE { ?s ?p ?o }",
        Refused(NameProblem, "no graph <file:///etc/passwd>"),
    ),
    sparql(
        "a device as a stream",
        "SELECT * FROM STREAM <file:///dev/zero> WINDOW RANGE 10 S SLIDE WHERE { ?s ?p ?o }",
        Refused(NameProblem, "no stream <file:///dev/zero>"),
    ),
    sparql(
        "a graph that nobody declared is empty", "SELECT ?s WHERE { GRAPH <http://evil/> { ?s ?p ?o } }", Accepted([])
    ),
    sparql("INSERT changes data", "INSERT DATA { <http://ex/a> <http://ex/b> 1 }", NO_UPDATE),
    sparql("DROP changes data", "DROP ALL", NO_UPDATE),
    sparql(
        "an extension function runs code",
        "SELECT (<java:java.lang.Runtime>(1) AS ?x) WHERE {}",
        Refused(NameProblem, "no function is called <java:"),
    ),
    sparql("groups overflow a recursive parser", f"SELECT * WHERE {'{' * 3000}{'}' * 3000}", TOO_DEEP),
    sparql("collections overflow a recursive parser", f"SELECT * WHERE {{ ?s ?p {'(' * 3000}{')' * 3000} }}", TOO_DEEP),
    sparql("repeated repetition in a path", f"SELECT * WHERE {{ ?s {'(' * 3000}<a:>{')*' * 3000} ?o }}", TOO_DEEP),
    sparql("nested IF", f"SELECT ({'IF(true,' * 90}1{',0)' * 90} AS ?x) WHERE {{}}", TOO_DEEP),
    sparql(
        "a long list of values",
        f"SELECT (COUNT(*) AS ?n) WHERE {{ VALUES ?x {{ {'1 ' * 5000}}} }}",
        Accepted([('"5000"^^xsd:integer',)]),
    ),
    sparql("a text too long to parse in time", f"SELECT * WHERE {{ {'?s ?p ?o . ' * 3000}}}", TOO_LONG),
    sparql("a string without an end", "SELECT * WHERE { ?s ?p 'a }", Refused(ParseError, "a quote is not closed")),
    sparql(
        "a long string without an end", 'SELECT * WHERE { ?s ?p """a }', Refused(ParseError, "a quote is not closed")
    ),
    sparql(
        "an IRI without an end",
        "SELECT * WHERE { ?s <http://ex/a }",
        Refused(ParseError, "an IRI cannot contain blanks"),
    ),
    sparql(
        "an escape closes an IRI",
        "SELECT * WHERE { ?s <http://ex/\\u003e> ?o }",
        Refused(ParseError, "is not expected here"),
    ),
    sparql(
        "an escape of half a character",
        "SELECT * WHERE { ?s ?p '\\uD800' }",
        Refused(ParseError, "this escape is not a character"),
    ),
    sparql(
        "half of a character",
        "SELECT * WHERE { ?s ?p '\ud800' }",
        Refused(ParseError, "this escape is not a character"),
    ),
    sparql(
        "U+202E in a variable", "SELECT ?a\u202e WHERE { ?s ?p ?o }", Refused(ParseError, "(U+202E) is not expected")
    ),
    sparql(
        "a byte order mark is invisible", "\ufeffSELECT * WHERE {}", Refused(ParseError, "(U+FEFF) is not expected")
    ),
    sparql("a comment hides the end", "SELECT * WHERE { # }", Refused(ParseError, "ends too early")),
    sparql("a limit of more than 64 bits", f"SELECT * WHERE {{}} LIMIT {NINES}", TOO_LARGE),
    sparql(
        "a range of more than 64 bits",
        "SELECT * FROM STREAM <http://ex/td> WINDOW RANGE 99999999999999999999 S SLIDE WHERE { ?s ?p ?o }",
        TOO_LARGE,
    ),
    sparql(
        "a window of nothing",
        "SELECT * FROM STREAM <http://ex/td> WINDOW ELEMS 0 WHERE { ?s ?p ?o }",
        Refused(LanguageRule, "a window cannot have 0 elements"),
    ),
    sparql(
        "a variable with two values",
        "SELECT (1 AS ?x) (2 AS ?x) WHERE {}",
        Refused(LanguageRule, "?x already has a value"),
    ),
    term("more digits than Python converts", f"{NINES} + 1", None),
    term("a product of long integers", f"{NINES} * {NINES}", None),
    term("a decimal has no exponent", "xsd:decimal('1e999999999')", None),
    term("a double that is infinite", "FLOOR(1e400)", '"INF"^^xsd:double'),
    term("an infinite integer", "xsd:integer(xsd:double('INF'))", None),
    term("a substring of no place", "SUBSTR('abc', 1e308)", None),
    term("a year without end", "YEAR('99999999999-01-01T00:00:00Z'^^xsd:dateTime)", None),
    term("an IRI that closes itself", "IRI('http://ex/ <>')", None),
    term("a pattern without an end", "REGEX('a', '(')", None),
    term("a pattern of many groups", f"REGEX('a', '{'(' * 2000}a{')' * 2000}')", None),
    term("a pattern with a huge count", "REGEX('a', 'a{99999999}')", '"false"^^xsd:boolean'),
    term("a replacement that refers to no group", "REPLACE('aaa', '(a)', '$9')", '""'),
    term("a language tag with markup", "STRLANG('a', 'x\"><script>')", None),
)

CASES = (*SNEEQL, *CQL, *SPARQL)
