package transom.kernel.machines;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.Codec;

/**
 * Joins two sides of one key by overlapping validity intervals, whose ends are known when the rows arrive.
 *
 * <p>A row is valid from its own tick until the tick that is its first value, exclusive. A pair is emitted once, at the
 * later tick of its rows if both are valid then; its first value is the earlier of both ends. The pairs of a tick are
 * ordered by the arrival of their left rows, then by the arrival of their right rows.
 */
public final class IntervalJoinMachine implements Machine {
    private static final char LETTER = 'J';

    private final Side left = new Side();
    private final Side right = new Side();

    /**
     * Restores the join of one join key, with the rows of both sides that are still valid, from the bytes of `save`.
     */
    public static IntervalJoinMachine load(byte[] state) {
        Codec.Reader in = new Codec.Reader(state, LETTER, "pairs");
        IntervalJoinMachine machine = new IntervalJoinMachine();
        machine.left.read(in);
        machine.right.read(in);
        return machine;
    }

    /**
     * Joins the rows of both sides at one tick with each other and with the earlier rows that are still valid, and
     * emits the pairs to `out`.
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        left.evict(tick);
        right.evict(tick);
        List<Interval> leftIntervals = intervals(tick, inputs, 0);
        List<Interval> rightIntervals = intervals(tick, inputs, 1);
        if (!rightIntervals.isEmpty()) {
            for (Interval leftRow = left.first; leftRow != null; leftRow = leftRow.next) {
                for (Interval rightRow : rightIntervals) {
                    emitPair(tick, leftRow, rightRow, out);
                }
            }
        }
        for (Interval leftRow : leftIntervals) {
            for (Interval rightRow = right.first; rightRow != null; rightRow = rightRow.next) {
                emitPair(tick, leftRow, rightRow, out);
            }
            for (Interval rightRow : rightIntervals) {
                emitPair(tick, leftRow, rightRow, out);
            }
        }
        left.add(leftIntervals);
        right.add(rightIntervals);
    }

    /**
     * The last tick at which a row in the state is valid, after which all rows can be evicted; Long.MAX_VALUE without
     * rows.
     */
    @Override
    public long nextWakeup() {
        return held() == 0 ? Long.MAX_VALUE : Math.max(left.latestEnd, right.latestEnd) - 1;
    }

    /**
     * Drops the rows of both sides that are not valid at any tick after `closedTick`, as they can match no later row.
     */
    @Override
    public void evict(long closedTick) {
        long nextTick = closedTick == Long.MAX_VALUE ? closedTick : closedTick + 1;
        left.evict(nextTick);
        right.evict(nextTick);
    }

    /**
     * Passes to `visitor`, for inspection, the valid rows of both sides, whose first value is the tick from which they
     * are no longer valid.
     */
    @Override
    public void visit(StateVisitor visitor) {
        left.visit(0, visitor);
        right.visit(1, visitor);
    }

    /** Encodes, for Spark's state store, the rows of both sides that are still valid. */
    @Override
    public byte[] save() {
        Codec.Writer out = new Codec.Writer(LETTER);
        left.write(out);
        right.write(out);
        return out.toBytes();
    }

    /** Always true: an interval join without rows equals a new one, so that its state can be deleted. */
    @Override
    public boolean dropsEmptyState() {
        return true;
    }

    /** The number of rows in the state, of both sides of the join. */
    @Override
    public long held() {
        return left.size + right.size;
    }

    /**
     * Selects the rows of one side (0 left, 1 right) from the inputs of a tick, each with the tick at which its
     * validity ends. Throws IllegalArgumentException if it has already ended.
     */
    private static List<Interval> intervals(long tick, List<InputRow> inputs, int side) {
        ArrayList<Interval> intervals = new ArrayList<>();
        for (InputRow input : inputs) {
            if (input.side() == side) {
                Interval interval = new Interval(input.row());
                if (interval.end <= tick) {
                    throw new IllegalArgumentException(
                            "a row of tick " + tick + " leaves at " + interval.end + ": it is never valid");
                }
                intervals.add(interval);
            }
        }
        return intervals;
    }

    /**
     * Emits to `out` the pair of a `left` and a `right` row, which is valid until the earlier of both ends. Its values
     * are this end, then the values of the left and of the right row.
     */
    private static void emitPair(long tick, Interval left, Interval right, Emitter out) {
        Object[] pair = new Object[left.row.length + right.row.length - 1];
        System.arraycopy(left.row, 0, pair, 0, left.row.length);
        System.arraycopy(right.row, 1, pair, left.row.length, right.row.length - 1);
        if (right.end < left.end) {
            pair[0] = right.row[0];
        }
        out.emit(tick, 1, true, 0, pair);
    }

    /** A row of one side with its validity, in a linked list in the order of arrival. */
    private static final class Interval {
        private final long end;
        private final Object[] row;
        private Interval previous;
        private Interval next;

        /** Wraps a row whose first value is the tick from which it is no longer valid. */
        Interval(Object[] row) {
            this.end = (Long) row[0];
            this.row = row;
        }
    }

    /**
     * The rows of a side in the order of arrival.
     *
     * <p>If all intervals have the same length, this is also the order of their ends. From the first row that ends
     * before its predecessor, a heap orders the rows by their ends until the side is empty.
     */
    private static final class Side {
        private Interval first;
        private Interval last;
        private long size;
        /** An upper limit of all ends; Long.MIN_VALUE without rows. */
        private long latestEnd = Long.MIN_VALUE;
        private PriorityQueue<Interval> byEnd;

        /**
         * Passes to `visitor`, for inspection, the rows of this side of the join, which is the one at `index`, in the
         * order of arrival.
         */
        void visit(int index, StateVisitor visitor) {
            for (Interval interval = first; interval != null; interval = interval.next) {
                visitor.entry("side", index, StateVisitor.NO_TICK, 1, interval.row);
            }
        }

        /** Adds the new rows of a tick to this side of the join, in the order of arrival. */
        void add(List<Interval> intervals) {
            for (Interval interval : intervals) {
                add(interval);
            }
        }

        /**
         * Adds one row to this side of the join, which gets a heap ordered by end tick once rows do not end in order of
         * arrival.
         */
        private void add(Interval interval) {
            if (byEnd == null && last != null && interval.end < last.end) {
                byEnd = new PriorityQueue<>((left, right) -> Long.compare(left.end, right.end));
                for (Interval earlier = first; earlier != null; earlier = earlier.next) {
                    byEnd.add(earlier);
                }
            }
            if (byEnd != null) {
                byEnd.add(interval);
            }
            interval.previous = last;
            if (last == null) {
                first = interval;
            } else {
                last.next = interval;
            }
            last = interval;
            latestEnd = Math.max(latestEnd, interval.end);
            size++;
        }

        /** Drops the rows of this side of the join whose validity has ended at or before `tick`. */
        void evict(long tick) {
            if (byEnd == null) {
                while (first != null && first.end <= tick) {
                    remove(first);
                }
                return;
            }
            while (!byEnd.isEmpty() && byEnd.peek().end <= tick) {
                remove(byEnd.poll());
            }
            if (byEnd.isEmpty()) {
                byEnd = null;
            }
        }

        /** Unlinks a row that is no longer valid from the linked list of this side's rows. */
        private void remove(Interval interval) {
            if (interval.previous == null) {
                first = interval.next;
            } else {
                interval.previous.next = interval.next;
            }
            if (interval.next == null) {
                last = interval.previous;
            } else {
                interval.next.previous = interval.previous;
            }
            size--;
            if (size == 0) {
                latestEnd = Long.MIN_VALUE;
            }
        }

        /** Encodes the rows of this side of the join, in the order of arrival, for saved state. */
        void write(Codec.Writer out) {
            out.number(size);
            for (Interval interval = first; interval != null; interval = interval.next) {
                out.row(interval.row);
            }
        }

        /** Restores the rows of this side of the join from saved state. */
        void read(Codec.Reader in) {
            for (long remaining = in.number(); remaining > 0; remaining--) {
                add(new Interval(in.row()));
            }
        }
    }
}
