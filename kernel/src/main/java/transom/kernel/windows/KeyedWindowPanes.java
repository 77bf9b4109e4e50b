package transom.kernel.windows;

import java.util.Arrays;
import transom.kernel.StateVisitor;
import transom.kernel.aggregates.SlidingAggregate;
import transom.kernel.aggregates.SlidingOrdered;
import transom.kernel.state.Codec;
import transom.kernel.state.IntDeque;

/**
 * The rows in the state of a keyed window: those in the window, and pending ones that have not entered it.
 *
 * <p>The rows are in parallel arrays; a slot is an index of these arrays. For aggregates, rows that enter and leave
 * together form a pane and share a slot.
 */
final class KeyedWindowPanes {
    private static final int INITIAL_CAPACITY = 4;

    /** The slots in the window. */
    final IntDeque inWindow = new IntDeque();
    /** The slots after the window. */
    final IntDeque pending = new IntDeque();
    /** The coordinates of the row that is added, per range. */
    final long[] coordinates;
    /** The lower bounds of the window, per range. */
    final long[] lowerBounds;
    /** The upper bounds of the window, per range. */
    final long[] upperBounds;

    private final KeyedWindowSpec spec;
    private final SlidingAggregate[] aggregates;
    private final SlidingOrdered.Path path;
    /** Whether rows stay in the state after they have entered a window. */
    private final boolean keepsRows;
    private final long[][] slotCoordinates;
    private Object[][] rows = new Object[0][];
    private int[] freeSlots = new int[0];
    private int freeCount;

    /** Creates an empty state for the windows of a specification. */
    KeyedWindowPanes(KeyedWindowSpec spec) {
        this.spec = spec;
        aggregates = spec.aggregates.newAggregates();
        SlidingOrdered.Path pathAggregate = null;
        for (SlidingAggregate aggregate : aggregates) {
            pathAggregate = aggregate instanceof SlidingOrdered.Path path ? path : pathAggregate;
        }
        path = pathAggregate;
        keepsRows = spec.output != KeyedWindowSpec.Output.CHANGES || spec.ranges.length > 0 || spec.forgetAfter >= 0;
        slotCoordinates = new long[spec.ranges.length][0];
        coordinates = new long[spec.ranges.length];
        lowerBounds = new long[spec.ranges.length];
        upperBounds = new long[spec.ranges.length];
    }

    /**
     * Adds a row to the panes that have not entered the window yet; `step` is the distance in micrometres from the
     * previous position, if `hasPosition`. The row's tick, row number or distance (per range) is in the field
     * `coordinates`.
     */
    void add(Object[] row, boolean hasPosition, long step) {
        if (aggregates.length == 0) {
            int slot = allocate();
            rows[slot] = row;
            pending.add(slot);
            return;
        }
        int slot = pending.size() > 0 && samePane(pending.last()) ? pending.last() : -1;
        if (slot < 0) {
            slot = allocate();
            pending.add(slot);
        } else {
            storeCoordinates(slot);
        }
        for (SlidingAggregate aggregate : aggregates) {
            if (aggregate == path) {
                if (hasPosition) {
                    path.addStep(slot, step);
                }
                continue;
            }
            Object value = aggregate.argument < 0 ? Boolean.TRUE : row[aggregate.argument];
            if (value != null || aggregate.acceptsNull()) {
                aggregate.add(slot, value);
            }
        }
    }

    /**
     * Returns the row at array index `slot`, for windows without aggregates. With aggregates, an index holds a pane and
     * no row.
     */
    Object[] row(int slot) {
        return rows[slot];
    }

    /** Returns the results of all aggregates for the current window, in the order of the specification. */
    Object[] values() {
        return spec.aggregates.values(aggregates);
    }

    /**
     * The first tick at which the oldest row of the window is no longer in its range of ticks; Long.MAX_VALUE without a
     * range.
     */
    long expiryTick() {
        long tick = Long.MAX_VALUE;
        for (int i = 0; i < slotCoordinates.length; i++) {
            tick = Math.min(tick, slotCoordinates[i][inWindow.get(0)] - spec.ranges[i].lowOffset() + 1);
        }
        return tick;
    }

    /**
     * Whether the oldest row or pane of the window is below a lower bound of the window's range, so that it must leave.
     */
    boolean isFirstExpired() {
        return inWindow.size() > 0 && isBelow(inWindow.get(0));
    }

    /**
     * Whether the oldest waiting row or pane is within the upper bounds of the window's range, so that it must enter
     * the window.
     */
    boolean firstPendingFits() {
        if (pending.size() == 0) {
            return false;
        }
        int slot = pending.get(0);
        for (int i = 0; i < upperBounds.length; i++) {
            if (slotCoordinates[i][slot] > upperBounds[i]) {
                return false;
            }
        }
        return true;
    }

    /** Removes the oldest row or pane from the window and its aggregates, and frees its array index. */
    void removeFirst() {
        int slot = inWindow.removeFirst();
        for (SlidingAggregate aggregate : aggregates) {
            aggregate.leave(slot);
        }
        release(slot);
    }

    /**
     * Drops the waiting rows that are already below a lower bound of the window's range, since no later window contains
     * them.
     */
    void dropPendingBelow() {
        while (pending.size() > 0 && isBelow(pending.get(0))) {
            release(pending.removeFirst());
        }
    }

    /**
     * Moves the row or pane at array index `slot` into the window. Without a range, rows never leave, so that all are
     * merged into one pane.
     */
    void enter(int slot) {
        if (!keepsRows) {
            release(slot);
            return;
        }
        boolean mergesAll = spec.ranges.length == 0 && aggregates.length > 0 && inWindow.size() > 0;
        int target = mergesAll ? inWindow.get(0) : slot;
        for (SlidingAggregate aggregate : aggregates) {
            if (mergesAll) {
                aggregate.leave(target);
                aggregate.merge(target, slot);
            }
            aggregate.enter(target);
        }
        if (mergesAll) {
            release(slot);
        } else {
            inWindow.add(slot);
        }
    }

    /** Drops all rows and panes of the key, when it is reset. */
    void clear() {
        while (inWindow.size() > 0) {
            removeFirst();
        }
        while (pending.size() > 0) {
            release(pending.removeFirst());
        }
    }

    /**
     * Encodes the rows or panes of the key for saved state: first those in the window, then those that have not entered
     * it.
     */
    void write(Codec.Writer out) {
        out.count(inWindow.size());
        out.count(pending.size());
        Arrays.fill(coordinates, 0);
        for (int i = 0; i < inWindow.size(); i++) {
            write(inWindow.get(i), out);
        }
        for (int i = 0; i < pending.size(); i++) {
            write(pending.get(i), out);
        }
    }

    /**
     * Encodes the row or pane at array index `slot` for saved state. That is its coordinates, as differences to the
     * previous ones, then its values or partial aggregates.
     */
    private void write(int slot, Codec.Writer out) {
        for (int i = 0; i < coordinates.length; i++) {
            out.number(slotCoordinates[i][slot] - coordinates[i]);
            coordinates[i] = slotCoordinates[i][slot];
        }
        if (aggregates.length == 0) {
            out.row(rows[slot]);
        }
        for (SlidingAggregate aggregate : aggregates) {
            aggregate.write(slot, out);
        }
    }

    /**
     * Passes to `visitor`, for inspection, the rows of the key, or the aggregates of each pane alone: first those in
     * the window, then the others.
     */
    void visit(StateVisitor visitor) {
        for (int i = 0; i < inWindow.size(); i++) {
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.leave(inWindow.get(i));
            }
        }
        for (int i = 0; i < inWindow.size() + pending.size(); i++) {
            boolean isPending = i >= inWindow.size();
            int slot = isPending ? pending.get(i - inWindow.size()) : inWindow.get(i);
            if (aggregates.length == 0) {
                visitor.entry(isPending ? "next row" : "row", 0, StateVisitor.NO_TICK, 1, rows[slot]);
                continue;
            }
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.enter(slot);
            }
            visitor.entry(isPending ? "next pane" : "pane", 0, StateVisitor.NO_TICK, 1, values());
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.leave(slot);
            }
        }
    }

    /**
     * Restores the rows or panes of the key, those in the window and those that have not entered it, from saved state.
     */
    void read(Codec.Reader in) {
        int inWindowCount = in.count();
        int slotCount = inWindowCount + in.count();
        grow(Math.max(INITIAL_CAPACITY, slotCount));
        for (int i = 0; i < slotCount; i++) {
            for (int j = 0; j < coordinates.length; j++) {
                coordinates[j] += in.number();
            }
            int slot = allocate();
            if (aggregates.length == 0) {
                rows[slot] = in.row();
            }
            for (SlidingAggregate aggregate : aggregates) {
                aggregate.read(slot, in);
            }
            if (i < inWindowCount) {
                enter(slot);
            } else {
                pending.add(slot);
            }
        }
    }

    /**
     * Whether a coordinate (tick, row number or distance) of the row at array index `slot` is below the current
     * window's lower bound.
     */
    private boolean isBelow(int slot) {
        for (int i = 0; i < lowerBounds.length; i++) {
            if (slotCoordinates[i][slot] < lowerBounds[i]) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a new row enters and leaves every window together with the pane at array index `slot`, so that it can be
     * added to the pane. The row's tick, row number or distance (per range) is in the field `coordinates`.
     */
    private boolean samePane(int slot) {
        for (int i = 0; i < coordinates.length; i++) {
            if (!spec.ranges[i].samePane(slotCoordinates[i][slot], coordinates[i])) {
                return false;
            }
        }
        return true;
    }

    /**
     * Reserves an unused array index for a new row or pane, stores the new row's coordinates there and returns the
     * index. Enlarges the arrays if all are used.
     */
    private int allocate() {
        if (freeCount == 0) {
            grow(Math.max(INITIAL_CAPACITY, 2 * freeSlots.length));
        }
        int slot = freeSlots[--freeCount];
        storeCoordinates(slot);
        return slot;
    }

    /**
     * Copies the new row's coordinates from the field `coordinates` to the row or pane at array index `slot`. They are
     * its tick, row number or distance, per range.
     */
    private void storeCoordinates(int slot) {
        for (int i = 0; i < coordinates.length; i++) {
            slotCoordinates[i][slot] = coordinates[i];
        }
    }

    /**
     * Enlarges the arrays that hold the rows or panes of the key to `capacity` elements, and adds the new indexes to
     * the unused ones.
     */
    private void grow(int capacity) {
        int oldCapacity = freeSlots.length;
        freeSlots = Arrays.copyOf(freeSlots, capacity);
        for (int i = 0; i < slotCoordinates.length; i++) {
            slotCoordinates[i] = Arrays.copyOf(slotCoordinates[i], capacity);
        }
        if (aggregates.length == 0) {
            rows = Arrays.copyOf(rows, capacity);
        }
        for (SlidingAggregate aggregate : aggregates) {
            aggregate.grow(capacity);
        }
        for (int slot = capacity - 1; slot >= oldCapacity; slot--) {
            freeSlots[freeCount++] = slot;
        }
    }

    /** Clears the row or pane at array index `slot` and returns the index to the unused ones. */
    private void release(int slot) {
        if (aggregates.length == 0) {
            rows[slot] = null;
        }
        for (SlidingAggregate aggregate : aggregates) {
            aggregate.clear(slot);
        }
        freeSlots[freeCount++] = slot;
    }
}
