package transom.kernel.aggregates;

import java.math.BigDecimal;
import java.util.Arrays;
import transom.kernel.state.Codec;
import transom.kernel.state.Values;

/**
 * MIN and MAX.
 *
 * <p>A monotonic queue holds the panes of the window that no later pane dominates. The first of them has the result.
 */
abstract class SlidingExtremes extends SlidingAggregate {
    /** MIN if true, MAX if false. */
    final boolean isMin;

    private boolean[] present = new boolean[0];
    private int[] queue = new int[1];
    private int queueStart;
    private int queueSize;

    /** Creates a sliding MIN or MAX of the argument at an index of a row. */
    SlidingExtremes(int argument, boolean isMin) {
        super(argument);
        this.isMin = isMin;
    }

    /**
     * Creates an empty sliding MIN or MAX (by `isMin`) over values of a type such as `float`; `argument` is the value's
     * index in a row.
     */
    static SlidingAggregate of(String type, int argument, boolean isMin) {
        switch (type) {
            case "integer":
            case "time":
            case "timestamp":
            case "null":
                return new Whole(argument, isMin);
            case "float":
                return new Floating(argument, isMin);
            case "decimal":
            case "string":
            case "boolean":
                return new Any(argument, isMin);
            default:
                throw new IllegalArgumentException("there are no sliding extremes of " + type);
        }
    }

    /** Sets the MIN or MAX of the pane at array index `slot` to the pane's first value. */
    abstract void set(int slot, Object value);

    /** Replaces the MIN (or MAX) of the pane at array index `slot` by `value` if that is smaller (or greater). */
    abstract void update(int slot, Object value);

    /** Copies the MIN or MAX of the pane at array index `from` to the pane at array index `into`. */
    abstract void copy(int into, int from);

    /**
     * Whether the MIN of the pane at `slot` is smaller than that of the pane at `otherSlot`, or its MAX greater. Both
     * are array indexes; equal values do not count.
     */
    abstract boolean precedes(int slot, int otherSlot);

    /** Returns the MIN or MAX of the pane at array index `slot`, which has at least one value. */
    abstract Object get(int slot);

    /**
     * Enlarges the arrays that hold the MIN or MAX of each pane, and the monotonic queue of the window, to `capacity`
     * panes.
     */
    @Override
    public void grow(int capacity) {
        present = Arrays.copyOf(present, capacity);
        int[] newQueue = new int[Math.max(1, Integer.highestOneBit(2 * capacity - 1))];
        for (int i = 0; i < queueSize; i++) {
            newQueue[i] = queue[queueStart + i & queue.length - 1];
        }
        queue = newQueue;
        queueStart = 0;
    }

    /** Marks the pane at array index `slot` as having no MIN or MAX, so that another pane can use the index. */
    @Override
    public void clear(int slot) {
        present[slot] = false;
    }

    /** Updates the MIN or MAX of the pane at array index `slot` with the value of one row. */
    @Override
    public final void add(int slot, Object value) {
        if (present[slot]) {
            update(slot, value);
        } else {
            present[slot] = true;
            set(slot, value);
        }
    }

    /** Updates the MIN or MAX of the pane at array index `into` with that of the pane at array index `from`. */
    @Override
    public final void merge(int into, int from) {
        if (present[from] && (!present[into] || precedes(from, into))) {
            present[into] = true;
            copy(into, from);
        }
    }

    /**
     * Appends a pane that enters the sliding window to the monotonic queue, and drops earlier panes that can no longer
     * give the window's MIN or MAX. The pane is at array index `slot`.
     */
    @Override
    public final void enter(int slot) {
        if (!present[slot]) {
            return;
        }
        int mask = queue.length - 1;
        while (queueSize > 0 && !precedes(queue[queueStart + queueSize - 1 & mask], slot)) {
            queueSize--;
        }
        queue[queueStart + queueSize++ & mask] = slot;
    }

    /**
     * Removes the pane that leaves the sliding window from the front of the monotonic queue, unless a later pane has
     * displaced it. The pane is at array index `slot`.
     */
    @Override
    public final void leave(int slot) {
        if (queueSize > 0 && queue[queueStart] == slot) {
            queueStart = queueStart + 1 & queue.length - 1;
            queueSize--;
        }
    }

    /**
     * Returns the MIN or MAX of the current window, which is that of the first pane in the queue; null if no pane has a
     * value.
     */
    @Override
    public final Object value(Function function) {
        return queueSize == 0 ? null : get(queue[queueStart]);
    }

    /** Encodes the MIN or MAX of the pane at array index `slot` for saved state; NULL if it has no value. */
    @Override
    public final void write(int slot, Codec.Writer out) {
        out.value(present[slot] ? get(slot) : null);
    }

    /** Restores the MIN or MAX of the pane at array index `slot` from saved state. */
    @Override
    public final void read(int slot, Codec.Reader in) {
        Object value = in.value();
        if (value != null) {
            add(slot, value);
        }
    }

    /** Integers and instants. */
    private static final class Whole extends SlidingExtremes {
        private long[] values = new long[0];

        /** Creates a sliding MIN or MAX of integers or instants. */
        Whole(int argument, boolean isMin) {
            super(argument, isMin);
        }

        /** Enlarges the array that holds the integer MIN or MAX of each pane to `capacity` elements. */
        @Override
        public void grow(int capacity) {
            super.grow(capacity);
            values = Arrays.copyOf(values, capacity);
        }

        /** Stores the first integer of the pane at array index `slot` as its MIN or MAX. */
        @Override
        void set(int slot, Object value) {
            values[slot] = (Long) value;
        }

        /**
         * Replaces the integer MIN (or MAX) of the pane at array index `slot` by `value` if that is smaller (or
         * greater).
         */
        @Override
        void update(int slot, Object value) {
            long number = (Long) value;
            values[slot] = isMin ? Math.min(values[slot], number) : Math.max(values[slot], number);
        }

        /** Copies the integer MIN or MAX of the pane at array index `from` to the pane at array index `into`. */
        @Override
        void copy(int into, int from) {
            values[into] = values[from];
        }

        /**
         * Whether the integer MIN of the pane at `slot` is smaller than that of the pane at `otherSlot`, or its MAX
         * greater. Both are array indexes; equal values do not count.
         */
        @Override
        boolean precedes(int slot, int otherSlot) {
            return isMin ? values[slot] < values[otherSlot] : values[slot] > values[otherSlot];
        }

        /** The integer MIN or MAX of the pane at array index `slot`, which has at least one value. */
        @Override
        Object get(int slot) {
            return values[slot];
        }
    }

    /** Floats; -0.0 becomes 0.0. */
    private static final class Floating extends SlidingExtremes {
        private double[] values = new double[0];

        /** Creates a sliding MIN or MAX of floats. */
        Floating(int argument, boolean isMin) {
            super(argument, isMin);
        }

        /** Enlarges the array that holds the float MIN or MAX of each pane to `capacity` elements. */
        @Override
        public void grow(int capacity) {
            super.grow(capacity);
            values = Arrays.copyOf(values, capacity);
        }

        /** Stores the first float of the pane at array index `slot` as its MIN or MAX; -0.0 becomes 0.0. */
        @Override
        void set(int slot, Object value) {
            values[slot] = (Double) value + 0.0;
        }

        /**
         * Replaces the float MIN (or MAX) of the pane at array index `slot` by `value` if that is smaller (or greater).
         */
        @Override
        void update(int slot, Object value) {
            double number = (Double) value + 0.0;
            values[slot] = isMin ? Math.min(values[slot], number) : Math.max(values[slot], number);
        }

        /** Copies the float MIN or MAX of the pane at array index `from` to the pane at array index `into`. */
        @Override
        void copy(int into, int from) {
            values[into] = values[from];
        }

        /**
         * Whether the float MIN of the pane at `slot` is smaller than that of the pane at `otherSlot`, or its MAX
         * greater. Both are array indexes; equal values do not count.
         */
        @Override
        boolean precedes(int slot, int otherSlot) {
            return isMin ? values[slot] < values[otherSlot] : values[slot] > values[otherSlot];
        }

        /** The float MIN or MAX of the pane at array index `slot`, which has at least one value. */
        @Override
        Object get(int slot) {
            return values[slot];
        }
    }

    /** Values of other types. */
    private static final class Any extends SlidingExtremes {
        private Object[] values = new Object[0];

        /** Creates a sliding MIN or MAX of decimals, strings or booleans. */
        Any(int argument, boolean isMin) {
            super(argument, isMin);
        }

        /**
         * Enlarges the array that holds the MIN or MAX of decimals, strings or booleans of each pane to `capacity`
         * elements.
         */
        @Override
        public void grow(int capacity) {
            super.grow(capacity);
            values = Arrays.copyOf(values, capacity);
        }

        /**
         * Marks the pane at array index `slot` as having no MIN or MAX, and releases the old value to the garbage
         * collector.
         */
        @Override
        public void clear(int slot) {
            super.clear(slot);
            values[slot] = null;
        }

        /**
         * Stores the first decimal, string or boolean of the pane at array index `slot` as its MIN or MAX. Decimals
         * lose trailing zeros.
         */
        @Override
        void set(int slot, Object value) {
            values[slot] = value instanceof BigDecimal number ? Values.normalized(number) : value;
        }

        /**
         * Replaces the MIN (or MAX) of the pane at array index `slot` by `value` if that is smaller (or greater). The
         * values are decimals, strings or booleans.
         */
        @Override
        void update(int slot, Object value) {
            int order = Values.compare(value, values[slot]);
            if (isMin ? order < 0 : order > 0) {
                set(slot, value);
            }
        }

        /**
         * Copies the decimal, string or boolean MIN or MAX of the pane at array index `from` to the pane at array index
         * `into`.
         */
        @Override
        void copy(int into, int from) {
            values[into] = values[from];
        }

        /**
         * Whether the decimal, string or boolean MIN of the pane at `slot` is smaller than that of the pane at
         * `otherSlot`, or its MAX greater. Both are array indexes; equal values do not count.
         */
        @Override
        boolean precedes(int slot, int otherSlot) {
            int order = Values.compare(values[slot], values[otherSlot]);
            return isMin ? order < 0 : order > 0;
        }

        /**
         * The decimal, string or boolean MIN or MAX of the pane at array index `slot`, which has at least one value.
         */
        @Override
        Object get(int slot) {
            return values[slot];
        }
    }
}
