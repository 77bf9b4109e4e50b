"""Small sequential machines for operators that depend on row order: plain Python, no Spark.

A machine sees the rows of one key in event-time order and keeps the state of one key. It never schedules, shuffles,
stores, reads or writes, and it evaluates no expression. Its output depends on the rows alone, not on how they are split
into calls: `take` receives the rows tick by tick, `advance` closes all ticks up to one.

    order    numbers the rows                                  (S15)
    window   cuts windows by tick or by row                    (table of windows)
    change   compares consecutive windows                      (ISTREAM, DSTREAM)
    join     joins relations that arrive as changes            (002 Defs. 10, 13)
    matches  counts the pairs that match one left row          (3.5)
    groups   aggregates groups of rows that arrive as changes  (W3C 18.5.1)
    paths    follows paths of any length through edges         (W3C 18.4)
    slide    aggregates sliding windows, one pane per tick
    pairs    joins rows of two sides by validity intervals
    distance adds the distance travelled to rows of an object  (C11)
    lineage  builds windows of one key, at most one per tick   (CQL)

Keys of the last two share buckets: one state and one timer for many keys.
"""
