package transom.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;

/**
 * Sliding aggregates of one group: rows in, in any order, one row of aggregates per window out.
 *
 * <p>A row is in so many windows, a period apart, the first at its tick; or, if rows have ends of their own, in those
 * before the tick that is its first value. What rows that come and go together add up to is kept once, as a pane, as
 * long as a coming window holds it. Panes lie in slots of parallel arrays; `ticks` and `slots` list them: first those
 * in the window, from `from`, then those to come, from `to`, which may be out of order until a tick is closed.
 * Panes leave the window in the order in which they entered it: of two rows the one that comes later must not go
 * earlier.
 */
public final class Slide implements Gathering {
    private static final char LETTER = 'S';
    /** The state of rows with ends of their own has more in it. */
    private static final char ENDS_LETTER = 'E';
    private static final int SMALL = 8;

    private final Plan plan;
    private final SlideColumn[] columns;
    private long[] ticks = new long[0];
    private int[] slots = new int[0];
    /** By slot, when the pane is gone; empty unless rows have ends of their own. */
    private long[] ends = new long[0];
    private int[] free = new int[0];
    private int freeSlots;
    private int from;
    private int to;
    private int size;
    private boolean unsorted;
    /** All windows before it are out. */
    private long reached = Long.MIN_VALUE;

    /** A machine that has seen nothing. */
    public Slide(Plan plan) {
        this.plan = plan;
        this.columns = plan.asked.columns();
    }

    /** The machine as it was when it was saved. */
    public static Slide load(Plan plan, byte[] state) {
        Slide machine = new Slide(plan);
        if (state != null) {
            machine.read(new Codec.Reader(state, plan.letter(), "slide"));
        }
        return machine;
    }

    @Override
    public void take(long tick, Object[] row) {
        long end = plan.ends ? end(tick, row) : 0;
        boolean last = size > to && ticks[size - 1] == tick && (!plan.ends || ends[slots[size - 1]] == end);
        int slot = last ? slots[size - 1] : open(tick, end);
        for (SlideColumn column : columns) {
            Object value = column.argument < 0 ? Boolean.TRUE : row[column.argument];
            if (value != null) {
                column.add(slot, value);
            }
        }
    }

    @Override
    public void advance(long closed, Out out) {
        if (closed < reached) {
            return;
        }
        settle();
        long tick = next();
        while (from < size && tick <= closed) {
            while (to < size && ticks[to] <= tick) {
                enter(slots[to++]);
            }
            forget(tick);
            if (from < to) {
                out.put(tick, 1, true, 0, plan.asked.values(columns));
                tick += plan.period;
            } else if (to < size) {
                tick = ticks[to];
            }
        }
        long step = plan.period - Math.floorMod(closed, plan.period);
        reached = closed > Long.MAX_VALUE - step ? Long.MAX_VALUE : closed + step;
        forget(reached);
        if (from == size) {
            from = 0;
            to = 0;
            size = 0;
        }
    }

    @Override
    public long next() {
        settle();
        if (from == size) {
            return Long.MAX_VALUE;
        }
        return from < to ? reached : ticks[to];
    }

    @Override
    public byte[] save() {
        settle();
        if (from == size) {
            return null;
        }
        Codec.Writer out = new Codec.Writer(plan.letter());
        out.number(reached);
        out.count(size - from);
        long before = 0;
        for (int place = from; place < size; place++) {
            out.number(place == from ? ticks[place] : (ticks[place] - before) / plan.period);
            before = ticks[place];
            if (plan.ends) {
                out.number(ends[slots[place]] / plan.period - before / plan.period);
            }
            for (SlideColumn column : columns) {
                column.write(slots[place], out);
            }
        }
        return out.done();
    }

    /** Panes that are remembered. */
    @Override
    public long held() {
        settle();
        return size - from;
    }

    private void read(Codec.Reader in) {
        reached = in.number();
        int panes = in.count();
        grow(panes + SMALL);
        for (; size < panes; size++) {
            ticks[size] = size == 0 ? in.number() : ticks[size - 1] + in.number() * plan.period;
            slots[size] = free[--freeSlots];
            if (plan.ends) {
                ends[slots[size]] = (ticks[size] / plan.period + in.number()) * plan.period;
            }
            for (SlideColumn column : columns) {
                column.read(slots[size], in);
            }
        }
        while (to < size && ticks[to] < reached) {
            enter(slots[to++]);
        }
    }

    private static long end(long tick, Object[] row) {
        if (row[0] instanceof Long end) {
            return end;
        }
        throw new IllegalArgumentException("a row of tick " + tick + " does not say when it is gone");
    }

    /** A new pane at the end; the slot that it lies in. */
    private int open(long tick, long end) {
        if (tick < reached) {
            throw new IllegalArgumentException(
                    "a row of tick " + tick + " came when all windows before " + reached + " were out");
        }
        if (tick % plan.period != 0) {
            throw new IllegalArgumentException(
                    "tick " + tick + " is not a window: these are " + plan.period + " apart");
        }
        if (plan.ends && (end <= tick || end % plan.period != 0)) {
            throw new IllegalArgumentException("a row of tick " + tick + " is gone at " + end
                    + ": no window after it, these are " + plan.period + " apart");
        }
        if (size == ticks.length) {
            makeRoom();
        }
        int slot = free[--freeSlots];
        if (plan.ends) {
            ends[slot] = end;
            unsorted |= size > from && !(before(size - 1, tick, slot) && ends[slots[size - 1]] <= end);
        } else {
            unsorted |= size > to && ticks[size - 1] >= tick;
        }
        ticks[size] = tick;
        slots[size++] = slot;
        return slot;
    }

    /** Whether a pane that is listed comes before another, or with it and goes before it. */
    private boolean before(int place, long tick, int slot) {
        return ticks[place] < tick || plan.ends && ticks[place] == tick && ends[slots[place]] < ends[slot];
    }

    /** Room for one more pane: that of panes which are gone or were the same, or more. */
    private void makeRoom() {
        settle();
        size -= from;
        to -= from;
        System.arraycopy(ticks, from, ticks, 0, size);
        System.arraycopy(slots, from, slots, 0, size);
        from = 0;
        if (size >= ticks.length / 2) {
            grow(Math.max(SMALL, 2 * ticks.length));
        }
    }

    private void grow(int capacity) {
        int old = ticks.length;
        ticks = Arrays.copyOf(ticks, capacity);
        slots = Arrays.copyOf(slots, capacity);
        free = Arrays.copyOf(free, capacity);
        ends = plan.ends ? Arrays.copyOf(ends, capacity) : ends;
        for (int slot = capacity - 1; slot >= old; slot--) {
            free[freeSlots++] = slot;
        }
        for (SlideColumn column : columns) {
            column.grow(capacity);
        }
    }

    private void enter(int slot) {
        for (SlideColumn column : columns) {
            column.enter(slot);
        }
    }

    /** Let the panes go that a window does not hold any more. */
    private void forget(long window) {
        while (from < to && (plan.ends ? ends[slots[from]] <= window : ticks[from] < window - plan.span)) {
            int slot = slots[from++];
            for (SlideColumn column : columns) {
                column.leave(slot);
            }
            release(slot);
        }
    }

    private void release(int slot) {
        for (SlideColumn column : columns) {
            column.clear(slot);
        }
        free[freeSlots++] = slot;
    }

    /** Put the panes to come in order, each once. */
    private void settle() {
        if (!unsorted) {
            return;
        }
        sort();
        int kept = to;
        for (int place = to; place < size; place++) {
            if (kept > to && !before(kept - 1, ticks[place], slots[place])) {
                for (SlideColumn column : columns) {
                    column.merge(slots[kept - 1], slots[place]);
                }
                release(slots[place]);
            } else {
                ticks[kept] = ticks[place];
                slots[kept++] = slots[place];
            }
        }
        size = kept;
        if (plan.ends) {
            checkEnds();
        }
        unsorted = false;
    }

    /** Refuse panes that do not go in the order in which they come. */
    private void checkEnds() {
        for (int place = Math.max(from + 1, to); place < size; place++) {
            long late = ends[slots[place - 1]];
            long end = ends[slots[place]];
            if (end < late) {
                throw new IllegalArgumentException("a row of tick " + ticks[place] + " is gone at " + end
                        + ", but one of tick " + ticks[place - 1] + " at " + late
                        + ": of two rows the one that comes later must not go earlier");
            }
        }
    }

    /** Merge runs of growing length; runs that lie in order already are left alone. */
    private void sort() {
        long[] otherTicks = new long[size - to];
        int[] otherSlots = new int[size - to];
        for (int length = 1; length < size - to; length *= 2) {
            for (int start = to; start + length < size; start += 2 * length) {
                int middle = start + length;
                if (!before(middle, ticks[middle - 1], slots[middle - 1])) {
                    continue;
                }
                System.arraycopy(ticks, start, otherTicks, 0, length);
                System.arraycopy(slots, start, otherSlots, 0, length);
                int end = Math.min(middle + length, size);
                int left = 0;
                int right = middle;
                for (int place = start; left < length; place++) {
                    if (right < end && before(right, otherTicks[left], otherSlots[left])) {
                        ticks[place] = ticks[right];
                        slots[place] = slots[right++];
                    } else {
                        ticks[place] = otherTicks[left];
                        slots[place] = otherSlots[left++];
                    }
                }
            }
        }
    }

    /** What a specification says, read once: windows and aggregates. */
    public static final class Plan {
        private final long period;
        private final long span;
        /** Whether rows have ends of their own. */
        private final boolean ends;
        private final Asked asked;

        private Plan(JsonNode entries) {
            JsonNode aggregates = entries.path("aggregates");
            this.ends = entries.path("copies").isNull();
            long copies = ends ? 1 : entries.path("copies").asLong();
            this.period = entries.path("period").asLong();
            if (copies < 1 || period < 1) {
                throw new IllegalArgumentException(
                        "a row is in at least one window, and windows are at least one tick apart");
            }
            this.span = Math.multiplyExact(copies - 1, period);
            this.asked = new Asked(aggregates, ends ? 1 : 0);
            if (asked.inOrder()) {
                throw new IllegalArgumentException("rows that come in any order have no path, no first and no last");
            }
        }

        /** The plan in a specification. */
        public static Plan of(JsonNode entries) {
            return new Plan(entries);
        }

        private char letter() {
            return ends ? ENDS_LETTER : LETTER;
        }
    }
}
