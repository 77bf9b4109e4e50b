"""Small sequential machines for what depends on order: plain Python, no Spark.

A machine sees the rows of one key in event-time order and keeps the state of one key. It never schedules, shuffles,
stores, reads or writes, and it evaluates no expression. What it gives depends on the rows alone, not on how they were
handed in: `take` gets the rows of one tick after another, `advance` says up to which tick no more rows come.

    order    numbers the rows                                  (S15)
    window   cuts windows by tick or by row                    (table of windows)
    change   compares consecutive windows                      (ISTREAM, DSTREAM)
    join     joins relations that arrive as changes            (002 Defs. 10, 13)
    matches  counts the pairs that match one left row          (3.5)
    groups   aggregates groups of rows that arrive as changes  (W3C 18.5.1)
    paths    follows paths of any length through edges         (W3C 18.4)
    slide    aggregates sliding windows, a pane per tick
    pairs    joins rows of two sides whose ends are known
    distance gives each row of an object how far it has gone   (C11)
    lineage  windows of one key, once per instant              (CQL)

The last two share buckets: one state and one timer for many keys.
"""
