package transom.kernel;

import java.math.BigDecimal;
import java.util.Arrays;

/**
 * The least or the greatest values.
 *
 * <p>The panes in the window whose values no later pane has overtaken wait in a queue; the first of them has the value.
 */
abstract class SlideExtremes extends SlideColumn {
    /** Whether the least value is meant. */
    final boolean least;

    private boolean[] present = new boolean[0];
    private int[] queue = new int[1];
    private int first;
    private int waiting;

    SlideExtremes(int argument, boolean least) {
        super(argument);
        this.least = least;
    }

    /** The extremes of a type of values. */
    static SlideColumn of(String type, int argument, boolean least) {
        switch (type) {
            case "integer":
            case "time":
            case "timestamp":
            case "null":
                return new Whole(argument, least);
            case "float":
                return new Floating(argument, least);
            case "decimal":
            case "string":
            case "boolean":
                return new Any(argument, least);
            default:
                throw new IllegalArgumentException("there are no sliding extremes of " + type);
        }
    }

    /** Keep a value of a pane that has none. */
    abstract void put(int slot, Object value);

    /** Keep the further of the value of a pane and another. */
    abstract void push(int slot, Object value);

    /** Keep in one pane what another has. */
    abstract void copy(int into, int from);

    /** Whether the value of one pane is further than that of another. */
    abstract boolean beyond(int slot, int other);

    /** The value of a pane that has one. */
    abstract Object get(int slot);

    @Override
    void grow(int capacity) {
        present = Arrays.copyOf(present, capacity);
        int[] longer = new int[Math.max(1, Integer.highestOneBit(2 * capacity - 1))];
        for (int place = 0; place < waiting; place++) {
            longer[place] = queue[first + place & queue.length - 1];
        }
        queue = longer;
        first = 0;
    }

    @Override
    void clear(int slot) {
        present[slot] = false;
    }

    @Override
    final void add(int slot, Object value) {
        if (present[slot]) {
            push(slot, value);
        } else {
            present[slot] = true;
            put(slot, value);
        }
    }

    @Override
    final void merge(int into, int from) {
        if (present[from] && (!present[into] || beyond(from, into))) {
            present[into] = true;
            copy(into, from);
        }
    }

    @Override
    final void enter(int slot) {
        if (!present[slot]) {
            return;
        }
        int mask = queue.length - 1;
        while (waiting > 0 && !beyond(queue[first + waiting - 1 & mask], slot)) {
            waiting--;
        }
        queue[first + waiting++ & mask] = slot;
    }

    @Override
    final void leave(int slot) {
        if (waiting > 0 && queue[first] == slot) {
            first = first + 1 & queue.length - 1;
            waiting--;
        }
    }

    @Override
    final Object value(Function function) {
        return waiting == 0 ? null : get(queue[first]);
    }

    @Override
    final void write(int slot, Codec.Writer out) {
        out.value(present[slot] ? get(slot) : null);
    }

    @Override
    final void read(int slot, Codec.Reader in) {
        Object value = in.value();
        if (value != null) {
            add(slot, value);
        }
    }

    /** Whole numbers, and instants. */
    private static final class Whole extends SlideExtremes {
        private long[] values = new long[0];

        Whole(int argument, boolean least) {
            super(argument, least);
        }

        @Override
        void grow(int capacity) {
            super.grow(capacity);
            values = Arrays.copyOf(values, capacity);
        }

        @Override
        void put(int slot, Object value) {
            values[slot] = (Long) value;
        }

        @Override
        void push(int slot, Object value) {
            long number = (Long) value;
            values[slot] = least ? Math.min(values[slot], number) : Math.max(values[slot], number);
        }

        @Override
        void copy(int into, int from) {
            values[into] = values[from];
        }

        @Override
        boolean beyond(int slot, int other) {
            return least ? values[slot] < values[other] : values[slot] > values[other];
        }

        @Override
        Object get(int slot) {
            return values[slot];
        }
    }

    /** Floats; -0.0 is 0.0. */
    private static final class Floating extends SlideExtremes {
        private double[] values = new double[0];

        Floating(int argument, boolean least) {
            super(argument, least);
        }

        @Override
        void grow(int capacity) {
            super.grow(capacity);
            values = Arrays.copyOf(values, capacity);
        }

        @Override
        void put(int slot, Object value) {
            values[slot] = (Double) value + 0.0;
        }

        @Override
        void push(int slot, Object value) {
            double number = (Double) value + 0.0;
            values[slot] = least ? Math.min(values[slot], number) : Math.max(values[slot], number);
        }

        @Override
        void copy(int into, int from) {
            values[into] = values[from];
        }

        @Override
        boolean beyond(int slot, int other) {
            return least ? values[slot] < values[other] : values[slot] > values[other];
        }

        @Override
        Object get(int slot) {
            return values[slot];
        }
    }

    /** Values of other types. */
    private static final class Any extends SlideExtremes {
        private Object[] values = new Object[0];

        Any(int argument, boolean least) {
            super(argument, least);
        }

        @Override
        void grow(int capacity) {
            super.grow(capacity);
            values = Arrays.copyOf(values, capacity);
        }

        @Override
        void clear(int slot) {
            super.clear(slot);
            values[slot] = null;
        }

        @Override
        void put(int slot, Object value) {
            values[slot] = value instanceof BigDecimal number ? Values.oneForm(number) : value;
        }

        @Override
        void push(int slot, Object value) {
            int order = Values.compare(value, values[slot]);
            if (least ? order < 0 : order > 0) {
                put(slot, value);
            }
        }

        @Override
        void copy(int into, int from) {
            values[into] = values[from];
        }

        @Override
        boolean beyond(int slot, int other) {
            int order = Values.compare(values[slot], values[other]);
            return least ? order < 0 : order > 0;
        }

        @Override
        Object get(int slot) {
            return values[slot];
        }
    }
}
