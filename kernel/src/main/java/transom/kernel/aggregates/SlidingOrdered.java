package transom.kernel.aggregates;

import java.util.Arrays;
import transom.kernel.state.Codec;
import transom.kernel.state.IntDeque;

/** Aggregates that depend on the order of rows: FIRST, LAST and PATH. */
public final class SlidingOrdered {
    /** Prevents instantiation: the class only groups FIRST, LAST and PATH. */
    private SlidingOrdered() {}

    /** The value of the first or the last row, which may be NULL. */
    static final class FirstLast extends SlidingAggregate {
        private final boolean first;
        private final IntDeque inWindow = new IntDeque();
        private Object[] values = new Object[0];
        private boolean[] present = new boolean[0];

        /** Creates a sliding FIRST (or LAST, if `first` is false) of the argument at an index of a row. */
        FirstLast(int argument, boolean first) {
            super(argument);
            this.first = first;
        }

        /** Always true: `add` must also get NULL values, as the FIRST or LAST value of a window may be NULL. */
        @Override
        public boolean acceptsNull() {
            return true;
        }

        /** Enlarges the arrays that hold the FIRST or LAST value of each pane to `capacity` elements. */
        @Override
        public void grow(int capacity) {
            values = Arrays.copyOf(values, capacity);
            present = Arrays.copyOf(present, capacity);
        }

        /**
         * Resets the pane at array index `slot` to one without FIRST or LAST value, so that another pane can use the
         * index.
         */
        @Override
        public void clear(int slot) {
            values[slot] = null;
            present[slot] = false;
        }

        /**
         * Stores the value of the next row as the LAST value of the pane at array index `slot`; for FIRST, only if it
         * has none yet.
         */
        @Override
        public void add(int slot, Object value) {
            if (!first || !present[slot]) {
                values[slot] = value;
                present[slot] = true;
            }
        }

        /**
         * Merges the pane at array index `from`, whose rows are later, into the pane at `into`. FIRST keeps the value
         * of `into`, LAST takes that of `from`.
         */
        @Override
        public void merge(int into, int from) {
            if (!first) {
                values[into] = values[from];
            }
        }

        /**
         * Appends a pane that enters the sliding window to the list of the window's panes for FIRST and LAST. The pane
         * is at array index `slot`.
         */
        @Override
        public void enter(int slot) {
            inWindow.add(slot);
        }

        /**
         * Removes the oldest pane, which is the one at array index `slot`, from the list of the window's panes for
         * FIRST and LAST.
         */
        @Override
        public void leave(int slot) {
            inWindow.removeFirst();
        }

        /**
         * Returns the current window's FIRST value (from its oldest pane) or LAST value (from its newest pane); null if
         * the window is empty.
         */
        @Override
        public Object value(Function function) {
            return inWindow.size() == 0 ? null : values[first ? inWindow.get(0) : inWindow.last()];
        }

        /** Encodes the FIRST or LAST value of the pane at array index `slot` for saved state. */
        @Override
        public void write(int slot, Codec.Writer out) {
            out.value(values[slot]);
        }

        /** Restores the FIRST or LAST value of the pane at array index `slot` from saved state. */
        @Override
        public void read(int slot, Codec.Reader in) {
            add(slot, in.value());
        }
    }

    /** The length of the path through the positions of the window: all steps except that to its first position. */
    public static final class Path extends SlidingAggregate {
        private final IntDeque inWindow = new IntDeque();
        private long[] firsts = new long[0];
        private long[] totals = new long[0];
        private boolean[] present = new boolean[0];
        private long total;

        /** Creates a sliding PATH: the length of an object's path within the window. */
        Path() {
            super(-1);
        }

        /**
         * Adds the distance `step`, in micrometres, to the path length of the pane at array index `slot`. It is the
         * distance from an object's previous position to that of its next row.
         */
        public void addStep(int slot, long step) {
            if (!present[slot]) {
                present[slot] = true;
                firsts[slot] = step;
            }
            totals[slot] += step;
        }

        /** Enlarges the arrays that hold the path length of each pane to `capacity` elements. */
        @Override
        public void grow(int capacity) {
            firsts = Arrays.copyOf(firsts, capacity);
            totals = Arrays.copyOf(totals, capacity);
            present = Arrays.copyOf(present, capacity);
        }

        /**
         * Resets the pane at array index `slot` to a path of length 0 without positions, so that another pane can use
         * the index.
         */
        @Override
        public void clear(int slot) {
            totals[slot] = 0;
            present[slot] = false;
        }

        /**
         * Adds the distance `value`, a Long in micrometres, to the path length of the pane at array index `slot`. It is
         * the distance from an object's previous position to that of its next row.
         */
        @Override
        public void add(int slot, Object value) {
            addStep(slot, (Long) value);
        }

        /**
         * Appends the path of the pane at array index `from`, whose rows are later, to the path of the pane at array
         * index `into`.
         */
        @Override
        public void merge(int into, int from) {
            if (present[from]) {
                firsts[into] = present[into] ? firsts[into] : firsts[from];
                totals[into] += totals[from];
                present[into] = true;
            }
        }

        /**
         * Adds the path length of the pane at array index `slot`, which enters the sliding window, to that of the
         * window.
         */
        @Override
        public void enter(int slot) {
            if (present[slot]) {
                inWindow.add(slot);
                total += totals[slot];
            }
        }

        /**
         * Subtracts the path length of the pane at array index `slot`, which leaves the sliding window, from that of
         * the window.
         */
        @Override
        public void leave(int slot) {
            if (present[slot]) {
                inWindow.removeFirst();
                total -= totals[slot];
            }
        }

        /**
         * Returns the length in micrometres of an object's path through the current window; null if it has no
         * positions. The step to the first position does not count.
         */
        @Override
        public Object value(Function function) {
            return inWindow.size() == 0 ? null : (Object) (total - firsts[inWindow.get(0)]);
        }

        /** Encodes the first step and the path length of the pane at array index `slot` for saved state. */
        @Override
        public void write(int slot, Codec.Writer out) {
            out.flag(present[slot]);
            if (present[slot]) {
                out.number(firsts[slot]);
                out.number(totals[slot]);
            }
        }

        /** Restores the first step and the path length of the pane at array index `slot` from saved state. */
        @Override
        public void read(int slot, Codec.Reader in) {
            present[slot] = in.flag();
            if (present[slot]) {
                firsts[slot] = in.number();
                totals[slot] = in.number();
            }
        }
    }
}
