"""Catalogs changed at random, to see that only Transom's own errors come out."""

from __future__ import annotations

import random

SEEDS = (
    "road: sensed (site:integer, time:integer, temp:integer, vibration:integer)\n"
    "traffic: pushed (site:integer, time:integer, weight:integer, vehicle:integer)\n"
    "tempClass: stored (temp:integer, category:string)\n",
    """\
tick: 1 s
epoch: 2009-01-01T00:00:00Z
extents:
  road:
    declare: sensed (site:integer, time:integer, temp:integer) RATE 1 MIN SITES (1, 2, 3)
    source: {files: {path: [data/road.csv, data/*.csv], format: csv, time: at}}
  traffic:
    kind: pushed
    attributes: {site: integer, weight: float, what: string, at: timestamp, price: decimal, ok: boolean}
    rate: 20 per min
    order: [site]
    source:
      generate:
        seed: 7
        arrivals: {poisson: 12 per min}
        gaps: {chance: 0.05, spans: [{from: 10 min, to: 20 min}]}
        attributes:
          site: {choice: [1, 2]}
          weight: {walk: {start: 20, step: 1, min: 0, max: 40}}
          what: {choice: {values: [on, off], weights: [1, 3]}}
          at: clock
          price: {sine: {mean: 1.5, amplitude: 1, period: 1 d, noise: 0.1}}
          ok: {constant: true}
  tempClass:
    kind: stored
    attributes: [temp:integer, "category:string"]
    rows: 100
    source: {table: {versions: {0: [[20, cool], [30, ~]], 600: [{temp: 1, category: no}]}}}
""",
    """\
extents:
  ships:
    declare: pushed (id:string, lon:float, lat:float)
    position: {lon: lon, lat: lat}
    object: id
    max_speed: 60 kn
    max_rows_per_key: 1000
    max_dwell: 2 d
    forget_after: 1 d
  cars:
    declare: pushed (id:string, x:float, y:integer, km:float)
    position: {x: x, y: y, unit: km}
    max_speed: 200 km/h
  trains: pushed (id:string, km:float)
regions:
  Sea: {on: earth, wkt: "POLYGON ((120 25, 125 25, 125 30, 120 30, 120 25), (122 27, 123 27, 123 28, 122 27))"}
  Zone: {on: plane, polygon: [[0, 0], [10, 0], [10, 10]]}
  Bay: {on: earth, geojson: {type: Polygon, coordinates: [[[179, 1], [-179, 1], [-179, 2], [179, 1]]]}}
""",
)
_PIECES = (
    *"{}[]():,-&*!|>'\"%@`?#~\n\t \\/\0\x07\x85\u2028\ud800\ufeffé😀",
    *(
        "---",
        "...",
        "<<: ",
        "&a ",
        "*a",
        "!!int ",
        "!!python/name:os.system ",
        "%YAML 3.0\n",
        "? ",
        "- ",
        "\r\n",
        "0x" + "f" * 50,
    ),
    *(
        "9" * 30,
        "9" * 5000,
        "1e999",
        ".inf",
        ".nan",
        "-1",
        "0",
        "0.5",
        "null",
        "true",
        "2009-13-45",
        "0001-01-01T00:00:00+23:59",
    ),
    *(
        "9999-12-31T23:59:59-23:59",
        "[" * 40,
        "{a: " * 40,
        "kind",
        "sensed",
        "stored",
        "pushed",
        "RATE",
        "SITES",
        "min",
        "per",
    ),
    *(
        "99999999999999 d",
        "versions",
        "table",
        "files",
        "generate",
        "walk",
        "time",
        "tick",
        "extents",
        "source",
        "constant",
    ),
)


def mutated(seed: int) -> str:
    """A catalog with a few random changes."""
    dice = random.Random(seed)
    text = dice.choice(SEEDS)
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        start = dice.randrange(len(text) + 1)
        end = min(len(text), start + dice.choice((0, 0, 1, 2, 5, 20, 100)))
        match dice.randrange(5):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:end] + text[start:]
            case 2:
                text = text[:start] + dice.choice(_PIECES) + text[end:]
            case 3:
                other = dice.randrange(len(text) + 1)
                text = text[:other] + text[start:end] + text[other:]
            case _:
                words = text.split(" ")
                one, two = dice.randrange(len(words)), dice.randrange(len(words))
                words[one] = words[two]
                text = " ".join(words)
    return text
