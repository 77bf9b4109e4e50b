package transom.kernel.windows;

import java.util.Arrays;
import transom.kernel.Accumulator;
import transom.kernel.Emitter;
import transom.kernel.StateVisitor;
import transom.kernel.aggregates.SlidingAggregate;
import transom.kernel.state.Codec;

/**
 * Computes sliding aggregates of one group: rows in any order in, one row of aggregates per window out.
 *
 * <p>Windows are a period apart. A row is in a fixed number of windows, the first at its tick; or, if rows have an end
 * tick as their first value, in all windows from its tick until that end. Rows that enter and leave together form a
 * pane, which the state holds as long as a future window contains it. Panes are slots of parallel arrays. `ticks` and
 * `slots` list the panes of the window (indexes `windowStart` to `pendingStart`) and then the pending panes (from
 * `pendingStart`), which may be unsorted until a tick is closed. Panes leave the window in the order in which they
 * entered it: of two rows the later one must not end earlier.
 */
public final class SlidingWindowMachine implements Accumulator {
    private static final int INITIAL_CAPACITY = 8;

    private final SlidingWindowSpec spec;
    private final SlidingAggregate[] aggregates;
    private long[] ticks = new long[0];
    private int[] slots = new int[0];
    /** The end tick of the pane in a slot; empty unless rows have end ticks. */
    private long[] ends = new long[0];
    private int[] freeSlots = new int[0];
    private int freeCount;
    private int windowStart;
    private int pendingStart;
    private int size;
    private boolean isPendingUnsorted;
    /** The first window that has not been emitted. */
    private long nextOpenTick = Long.MIN_VALUE;

    /** Creates the sliding windows of one group without rows. */
    public SlidingWindowMachine(SlidingWindowSpec spec) {
        this.spec = spec;
        this.aggregates = spec.aggregates.newAggregates();
    }

    /**
     * Restores the panes of one group from the bytes of `save`; null gives a group without rows. `spec` describes the
     * windows.
     */
    public static SlidingWindowMachine load(SlidingWindowSpec spec, byte[] state) {
        SlidingWindowMachine machine = new SlidingWindowMachine(spec);
        if (state != null) {
            machine.read(new Codec.Reader(state, spec.letter(), "slide"));
        }
        return machine;
    }

    /** Adds a row of the group to the pane of its tick. Rows of open ticks may arrive in any order. */
    @Override
    public void take(long tick, Object[] row) {
        long end = spec.hasEnds ? endTick(tick, row) : 0;
        boolean sameTick = size > pendingStart && ticks[size - 1] == tick;
        boolean isNewestPane = sameTick && (!spec.hasEnds || ends[slots[size - 1]] == end);
        int slot = isNewestPane ? slots[size - 1] : addPane(tick, end);
        for (SlidingAggregate aggregate : aggregates) {
            Object value = aggregate.argument < 0 ? Boolean.TRUE : row[aggregate.argument];
            if (value != null) {
                aggregate.add(slot, value);
            }
        }
    }

    /**
     * Emits to `out` the aggregates of the group's windows up to and including `closedTick`, and drops the panes that
     * no later window contains.
     */
    @Override
    public void advance(long closedTick, Emitter out) {
        if (closedTick < nextOpenTick) {
            return;
        }
        sortPending();
        long tick = nextTick();
        while (windowStart < size && tick <= closedTick) {
            while (pendingStart < size && ticks[pendingStart] <= tick) {
                enter(slots[pendingStart++]);
            }
            evict(tick);
            if (windowStart < pendingStart) {
                out.emit(tick, 1, true, 0, spec.aggregates.values(aggregates));
                tick += spec.period;
            } else if (pendingStart < size) {
                tick = ticks[pendingStart];
            }
        }
        long step = spec.period - Math.floorMod(closedTick, spec.period);
        nextOpenTick = closedTick > Long.MAX_VALUE - step ? Long.MAX_VALUE : closedTick + step;
        evict(nextOpenTick);
        if (windowStart == size) {
            windowStart = 0;
            pendingStart = 0;
            size = 0;
        }
    }

    /** The tick of the group's next window if no more rows arrive; Long.MAX_VALUE if the group has no panes. */
    @Override
    public long nextTick() {
        sortPending();
        if (windowStart == size) {
            return Long.MAX_VALUE;
        }
        return windowStart < pendingStart ? nextOpenTick : ticks[pendingStart];
    }

    /**
     * Passes to `visitor`, for inspection, the panes of the group with their ticks and the aggregates of each pane
     * alone.
     */
    @Override
    public void visit(StateVisitor visitor) {
        sortPending();
        for (int i = windowStart; i < pendingStart; i++) {
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.leave(slots[i]);
            }
        }
        for (int i = windowStart; i < size; i++) {
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.enter(slots[i]);
            }
            visitor.entry("pane", 0, ticks[i], 1, spec.aggregates.values(aggregates));
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.leave(slots[i]);
            }
        }
    }

    /** Encodes the group's panes for Spark's state store; null if there are none, so that the state is deleted. */
    @Override
    public byte[] save() {
        sortPending();
        if (windowStart == size) {
            return null;
        }
        Codec.Writer out = new Codec.Writer(spec.letter());
        out.number(nextOpenTick);
        out.count(size - windowStart);
        long previous = 0;
        for (int i = windowStart; i < size; i++) {
            out.number(i == windowStart ? ticks[i] : (ticks[i] - previous) / spec.period);
            previous = ticks[i];
            if (spec.hasEnds) {
                out.number(ends[slots[i]] / spec.period - previous / spec.period);
            }
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.write(slots[i], out);
            }
        }
        return out.toBytes();
    }

    /** The number of the group's panes in the state, for comparison with the state bound of the plan. */
    @Override
    public long held() {
        sortPending();
        return size - windowStart;
    }

    /** Restores the group's panes from saved state, and adds the current window's panes to its aggregates. */
    private void read(Codec.Reader in) {
        nextOpenTick = in.number();
        int panes = in.count();
        grow(panes + INITIAL_CAPACITY);
        for (; size < panes; size++) {
            ticks[size] = size == 0 ? in.number() : ticks[size - 1] + in.number() * spec.period;
            slots[size] = freeSlots[--freeCount];
            if (spec.hasEnds) {
                ends[slots[size]] = (ticks[size] / spec.period + in.number()) * spec.period;
            }
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.read(slots[size], in);
            }
        }
        while (pendingStart < size && ticks[pendingStart] < nextOpenTick) {
            enter(slots[pendingStart++]);
        }
    }

    /**
     * Returns the row's first value: the tick of the first window that no longer contains the row, where rows have end
     * ticks. Throws IllegalArgumentException if that is not an integer.
     */
    private static long endTick(long tick, Object[] row) {
        if (row[0] instanceof Long end) {
            return end;
        }
        throw new IllegalArgumentException("a row of tick " + tick + " has no tick at which it leaves");
    }

    /**
     * Appends an empty pane for rows of `tick` and returns its array index. The rows leave the windows at `end` (unused
     * unless rows have end ticks). Throws IllegalArgumentException if the tick is closed or has no window.
     */
    private int addPane(long tick, long end) {
        if (tick < nextOpenTick) {
            throw new IllegalArgumentException(
                    "a row of tick " + tick + " arrived after all windows before " + nextOpenTick + " were emitted");
        }
        if (tick % spec.period != 0) {
            throw new IllegalArgumentException(
                    "tick " + tick + " is not a window: these are " + spec.period + " apart");
        }
        if (spec.hasEnds && (end <= tick || end % spec.period != 0)) {
            throw new IllegalArgumentException("a row of tick " + tick + " leaves at " + end
                    + ": no window after it, these are " + spec.period + " apart");
        }
        if (size == ticks.length) {
            ensureCapacity();
        }
        int slot = freeSlots[--freeCount];
        if (spec.hasEnds) {
            ends[slot] = end;
            isPendingUnsorted |=
                    size > windowStart && !(precedes(size - 1, tick, slot) && ends[slots[size - 1]] <= end);
        } else {
            isPendingUnsorted |= size > pendingStart && ticks[size - 1] >= tick;
        }
        ticks[size] = tick;
        slots[size++] = slot;
        return slot;
    }

    /**
     * Whether the pane at position `index` of the list sorts before another pane, by tick and then by end tick. The
     * other pane is that of `tick` at array index `slot`.
     */
    private boolean precedes(int index, long tick, int slot) {
        return ticks[index] < tick || spec.hasEnds && ticks[index] == tick && ends[slots[index]] < ends[slot];
    }

    /**
     * Makes room for one more pane: moves the panes to the front of the arrays, and enlarges the arrays if they are
     * then half full.
     */
    private void ensureCapacity() {
        sortPending();
        size -= windowStart;
        pendingStart -= windowStart;
        System.arraycopy(ticks, windowStart, ticks, 0, size);
        System.arraycopy(slots, windowStart, slots, 0, size);
        windowStart = 0;
        if (size >= ticks.length / 2) {
            grow(Math.max(INITIAL_CAPACITY, 2 * ticks.length));
        }
    }

    /** Enlarges the arrays of panes to `capacity` elements, and adds the new indexes to the unused ones. */
    private void grow(int capacity) {
        int oldCapacity = ticks.length;
        ticks = Arrays.copyOf(ticks, capacity);
        slots = Arrays.copyOf(slots, capacity);
        freeSlots = Arrays.copyOf(freeSlots, capacity);
        ends = spec.hasEnds ? Arrays.copyOf(ends, capacity) : ends;
        for (int slot = capacity - 1; slot >= oldCapacity; slot--) {
            freeSlots[freeCount++] = slot;
        }
        for (SlidingAggregate aggregate : aggregates) {
            aggregate.grow(capacity);
        }
    }

    /** Adds the pane at array index `slot` to the aggregates of the current window, as its newest pane. */
    private void enter(int slot) {
        for (SlidingAggregate aggregate : aggregates) {
            aggregate.enter(slot);
        }
    }

    /** Removes the panes that the window at the tick `window` no longer contains from the aggregates and the state. */
    private void evict(long window) {
        while (windowStart < pendingStart && isExpired(windowStart, window)) {
            int slot = slots[windowStart++];
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.leave(slot);
            }
            release(slot);
        }
    }

    /** Whether the window at the tick `window` no longer contains the pane at position `index` of the list of panes. */
    private boolean isExpired(int index, long window) {
        return spec.hasEnds ? ends[slots[index]] <= window : ticks[index] < window - spec.span;
    }

    /** Clears the pane at array index `slot` and returns the index to the unused ones. */
    private void release(int slot) {
        for (SlidingAggregate aggregate : aggregates) {
            aggregate.clear(slot);
        }
        freeSlots[freeCount++] = slot;
    }

    /** Sorts the panes that have not entered the window by tick, and merges panes of the same tick (and end tick). */
    private void sortPending() {
        if (!isPendingUnsorted) {
            return;
        }
        sort();
        int mergedEnd = pendingStart;
        for (int i = pendingStart; i < size; i++) {
            if (mergedEnd > pendingStart && !precedes(mergedEnd - 1, ticks[i], slots[i])) {
                for (SlidingAggregate aggregate : aggregates) {
                    aggregate.merge(slots[mergedEnd - 1], slots[i]);
                }
                release(slots[i]);
            } else {
                ticks[mergedEnd] = ticks[i];
                slots[mergedEnd++] = slots[i];
            }
        }
        size = mergedEnd;
        if (spec.hasEnds) {
            checkEnds();
        }
        isPendingUnsorted = false;
    }

    /**
     * Checks that panes leave the window in the order in which they enter; throws IllegalArgumentException if an
     * earlier row ends later.
     */
    private void checkEnds() {
        for (int i = Math.max(windowStart + 1, pendingStart); i < size; i++) {
            long previousEnd = ends[slots[i - 1]];
            long end = ends[slots[i]];
            if (end < previousEnd) {
                throw new IllegalArgumentException("a row of tick " + ticks[i] + " leaves at " + end
                        + ", but one of tick " + ticks[i - 1] + " at " + previousEnd
                        + ": of two rows the later one must not leave earlier");
            }
        }
    }

    /**
     * Sorts the panes that have not entered the window by tick and end tick. This is a bottom-up merge sort that skips
     * runs already in order.
     */
    private void sort() {
        long[] otherTicks = new long[size - pendingStart];
        int[] otherSlots = new int[size - pendingStart];
        for (int runLength = 1; runLength < size - pendingStart; runLength *= 2) {
            for (int start = pendingStart; start + runLength < size; start += 2 * runLength) {
                int middle = start + runLength;
                if (!precedes(middle, ticks[middle - 1], slots[middle - 1])) {
                    continue;
                }
                System.arraycopy(ticks, start, otherTicks, 0, runLength);
                System.arraycopy(slots, start, otherSlots, 0, runLength);
                int rightEnd = Math.min(middle + runLength, size);
                int left = 0;
                int right = middle;
                for (int i = start; left < runLength; i++) {
                    if (right < rightEnd && precedes(right, otherTicks[left], otherSlots[left])) {
                        ticks[i] = ticks[right];
                        slots[i] = slots[right++];
                    } else {
                        ticks[i] = otherTicks[left];
                        slots[i] = otherSlots[left++];
                    }
                }
            }
        }
    }
}
