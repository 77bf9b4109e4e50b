package transom.kernel;

import java.util.Arrays;

/**
 * The rows that a lineage remembers, in slots of parallel arrays: those in the window, then those that wait for one.
 *
 * <p>For aggregates, rows that come and go together are one pane and share a slot.
 */
final class Panes {
    private static final int SMALL = 4;

    /** Slots in the window. */
    final Line inside = new Line();
    /** Slots that come after them. */
    final Line waiting = new Line();
    /** Where the row that comes is, per range. */
    final long[] now;
    /** The low ends of the window. */
    final long[] lows;
    /** The high ends of the window. */
    final long[] highs;

    private final LineagePlan plan;
    private final SlideColumn[] columns;
    private final SlideEnds.Path path;
    /** Whether what has come into a window is remembered. */
    private final boolean keeps;
    private final long[][] where;
    private Object[][] rows = new Object[0][];
    private int[] free = new int[0];
    private int freeSlots;

    Panes(LineagePlan plan) {
        this.plan = plan;
        columns = plan.asked.columns();
        SlideEnds.Path found = null;
        for (SlideColumn column : columns) {
            found = column instanceof SlideEnds.Path one ? one : found;
        }
        path = found;
        keeps = plan.output != LineagePlan.Output.CHANGES || plan.ranges.length > 0 || plan.forgetAfter >= 0;
        where = new long[plan.ranges.length][0];
        now = new long[plan.ranges.length];
        lows = new long[plan.ranges.length];
        highs = new long[plan.ranges.length];
    }

    /** A row that comes, where `now` says; if it has a place, the step to it. */
    void add(Object[] row, boolean placed, long step) {
        if (columns.length == 0) {
            int slot = open();
            rows[slot] = row;
            waiting.add(slot);
            return;
        }
        int slot = waiting.size() > 0 && together(waiting.last()) ? waiting.last() : -1;
        if (slot < 0) {
            slot = open();
            waiting.add(slot);
        } else {
            put(slot);
        }
        for (SlideColumn column : columns) {
            if (column == path) {
                if (placed) {
                    path.step(slot, step);
                }
                continue;
            }
            Object value = column.argument < 0 ? Boolean.TRUE : row[column.argument];
            if (value != null || column.takesNull()) {
                column.add(slot, value);
            }
        }
    }

    /** The row in a slot. */
    Object[] row(int slot) {
        return rows[slot];
    }

    /** What the window comes to. */
    Object[] values() {
        return plan.asked.values(columns);
    }

    /** The tick at which the first row of the window is too old. */
    long age() {
        long tick = Long.MAX_VALUE;
        for (int at = 0; at < where.length; at++) {
            tick = Math.min(tick, where[at][inside.get(0)] - plan.ranges[at].lowOffset() + 1);
        }
        return tick;
    }

    /** Whether the first row of the window is below a low end. */
    boolean goes() {
        return inside.size() > 0 && below(inside.get(0));
    }

    /** Whether the first row that waits is not above a high end. */
    boolean comes() {
        if (waiting.size() == 0) {
            return false;
        }
        int slot = waiting.get(0);
        for (int at = 0; at < highs.length; at++) {
            if (where[at][slot] > highs[at]) {
                return false;
            }
        }
        return true;
    }

    /** Take the first row out of the window. */
    void leave() {
        int slot = inside.remove();
        for (SlideColumn column : columns) {
            column.leave(slot);
        }
        release(slot);
    }

    /** Let the rows go that come into no window. */
    void skip() {
        while (waiting.size() > 0 && below(waiting.get(0))) {
            release(waiting.remove());
        }
    }

    /** Put a slot into the window; where rows never go, all of them are one pane. */
    void enter(int slot) {
        if (!keeps) {
            release(slot);
            return;
        }
        boolean endless = plan.ranges.length == 0 && columns.length > 0 && inside.size() > 0;
        int into = endless ? inside.get(0) : slot;
        for (SlideColumn column : columns) {
            if (endless) {
                column.leave(into);
                column.merge(into, slot);
            }
            column.enter(into);
        }
        if (endless) {
            release(slot);
        } else {
            inside.add(slot);
        }
    }

    /** Remember nothing. */
    void clear() {
        while (inside.size() > 0) {
            leave();
        }
        while (waiting.size() > 0) {
            release(waiting.remove());
        }
    }

    void write(Codec.Writer out) {
        out.count(inside.size());
        out.count(waiting.size());
        Arrays.fill(now, 0);
        for (int place = 0; place < inside.size(); place++) {
            write(inside.get(place), out);
        }
        for (int place = 0; place < waiting.size(); place++) {
            write(waiting.get(place), out);
        }
    }

    private void write(int slot, Codec.Writer out) {
        for (int at = 0; at < now.length; at++) {
            out.number(where[at][slot] - now[at]);
            now[at] = where[at][slot];
        }
        if (columns.length == 0) {
            out.row(rows[slot]);
        }
        for (SlideColumn column : columns) {
            column.write(slot, out);
        }
    }

    void read(Codec.Reader in) {
        int entered = in.count();
        int all = entered + in.count();
        grow(Math.max(SMALL, all));
        for (int place = 0; place < all; place++) {
            for (int at = 0; at < now.length; at++) {
                now[at] += in.number();
            }
            int slot = open();
            if (columns.length == 0) {
                rows[slot] = in.row();
            }
            for (SlideColumn column : columns) {
                column.read(slot, in);
            }
            if (place < entered) {
                enter(slot);
            } else {
                waiting.add(slot);
            }
        }
    }

    private boolean below(int slot) {
        for (int at = 0; at < lows.length; at++) {
            if (where[at][slot] < lows[at]) {
                return true;
            }
        }
        return false;
    }

    private boolean together(int slot) {
        for (int at = 0; at < now.length; at++) {
            if (!plan.ranges[at].together(where[at][slot], now[at])) {
                return false;
            }
        }
        return true;
    }

    /** A free slot, for a row that is where `now` says. */
    private int open() {
        if (freeSlots == 0) {
            grow(Math.max(SMALL, 2 * free.length));
        }
        int slot = free[--freeSlots];
        put(slot);
        return slot;
    }

    private void put(int slot) {
        for (int at = 0; at < now.length; at++) {
            where[at][slot] = now[at];
        }
    }

    private void grow(int capacity) {
        int old = free.length;
        free = Arrays.copyOf(free, capacity);
        for (int at = 0; at < where.length; at++) {
            where[at] = Arrays.copyOf(where[at], capacity);
        }
        if (columns.length == 0) {
            rows = Arrays.copyOf(rows, capacity);
        }
        for (SlideColumn column : columns) {
            column.grow(capacity);
        }
        for (int slot = capacity - 1; slot >= old; slot--) {
            free[freeSlots++] = slot;
        }
    }

    private void release(int slot) {
        if (columns.length == 0) {
            rows[slot] = null;
        }
        for (SlideColumn column : columns) {
            column.clear(slot);
        }
        free[freeSlots++] = slot;
    }
}
