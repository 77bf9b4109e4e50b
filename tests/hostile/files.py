"""Hostile files of rows; an accepted one has stated elements."""

from __future__ import annotations

from typing import NamedTuple

from transom.errors import DataError
from transom.model.bag import Element

from .case import Accepted, Case, Refused


class File(NamedTuple):
    """A file: its ending, and its content or what it is a link to."""

    ending: str
    content: str | bytes
    link: str | None = None


def broken(why: str, ending: str, content: str | bytes, phrase: str) -> Case:
    return Case(f"{ending}: {why}", File(ending, content), Refused(DataError, phrase))


def linked(why: str, target: str, phrase: str) -> Case:
    return Case(f"link: {why}", File("csv", "", target), Refused(DataError, phrase))


def read(why: str, ending: str, content: str | bytes, value: int) -> Case:
    return Case(f"{ending}: {why}", File(ending, content), Accepted([Element(1, 1, (value,))]))


ENTITIES = '<!DOCTYPE g [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;">]>'
POINT = '<gpx><trk><trkseg><trkpt lat="{lat}" lon="2"><time>2024-01-01T00:00:00Z</time></trkpt>'
TIMES = '{{"coordTimes":["2024-01-01T00:00:00Z"]}}'
LINE = f'{{{{"type":"Feature","properties":{TIMES},"geometry":{{{{"type":"LineString","coordinates":{{0}}}}}}}}}}'

CASES = (
    broken("a cell of 2 MB", "csv", "tick,x\n1," + "a" * 2_000_000 + "\n", "field limit"),
    broken("a quote without an end hides all rows behind it", "csv", 'tick,x\n1,"' + "2\n" * 100_000, "field limit"),
    broken("a column twice", "csv", "tick,x,x\n1,2,3\n", "two columns are called x"),
    broken("200,000 columns", "csv", ",".join(f"c{i}" for i in range(200_000)) + "\n", "no column x"),
    broken("NUL in a number", "csv", "tick,x\n1,\0002\n", "'\\x002' is not of type integer"),
    broken("an escape sequence in the header", "csv", "tick,\x1b[2Jx\n1,2\n", "the columns are tick, \\x1b[2Jx"),
    broken("U+202E in the header", "csv", "tick,\u202ex\n1,2\n", "the columns are tick, \\u202ex"),
    broken("a second byte order mark", "csv", "\ufeff\ufefftick,x\n1,2\n", "\\ufefftick"),
    broken("UTF-16", "csv", "tick,x\n1,2\n".encode("utf-16"), "not UTF-8"),
    broken("compressed", "csv", b"\x1f\x8b\x08\0\0\0\0\0", "not UTF-8"),
    broken("a tick of 400 digits", "csv", f"tick,x\n{'9' * 400},1\n", "is not an instant"),
    broken("a number of 5,000 digits", "csv", f"tick,x\n1,{'9' * 5000}\n", "is not of type integer"),
    broken("100,000 objects in each other", "jsonl", '{"a":' * 100_000, "line 1 is not JSON"),
    broken("a tick that is no number", "jsonl", '{"tick": NaN, "x": 1}\n', "neither a tick nor an instant"),
    broken("an infinite number", "jsonl", '{"tick": 1, "x": Infinity}\n', "is not of type integer"),
    broken("no object", "jsonl", "null\n", "not a JSON object"),
    read("a key twice: the last counts", "jsonl", '{"tick": 1, "x": 1, "x": 2}\n', 2),
    read("half of a character in a key that nobody reads", "jsonl", '{"tick": 1, "x": 1, "\\ud800": 2}\n', 1),
    broken("entities of entities", "gpx", f"{ENTITIES}<gpx><trk><name>&b;</name></trk></gpx>", "declares entities"),
    broken("200,000 elements in each other", "gpx", "<gpx>" + "<trk>" * 200_000, "not XML"),
    broken("cut off behind a point", "gpx", POINT.format(lat=1), "not XML"),
    broken("an infinite place", "gpx", POINT.format(lat="1e400") + "</trkseg></trk></gpx>", "is not of type float"),
    broken("200,000 lists in each other", "geojson", "[" * 200_000, "not JSON"),
    broken("an infinite place", "geojson", LINE.format("[[1e400, 2]]"), "is not of type float"),
    broken("a place of 400 digits", "geojson", LINE.format(f"[[{'9' * 400}, 2]]"), "is not of type float"),
    broken("an object where a list is expected", "geojson", LINE.format('{"a": 1}'), "no part of a track"),
    broken("a sentence of 100,000 letters", "nmea", f"!AIVDM,1,1,,A,{'w' * 100_000},0*00\n", "damaged"),
    broken("numbers of parts without end", "nmea", "!AIVDM,-1,99999999999999999999,,A,1,0*1\n", "no AIS sentence"),
    broken("a footer that lies", "parquet", b"PAR1" + b"\xff" * 100 + b"PAR1", "as Parquet"),
    broken("nothing", "parquet", b"", "as Parquet"),
    linked("to itself", "loop.csv", "no file"),
    linked("to a device without an end", "/dev/zero", "no file"),
    linked("to a folder", "/", "is a folder"),
    linked("to nothing", "/nowhere", "no file"),
)
