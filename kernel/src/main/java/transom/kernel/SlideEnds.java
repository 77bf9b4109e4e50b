package transom.kernel;

import java.util.Arrays;

/** What depends on the order of rows: the value of the first or of the last one, and the path through them. */
final class SlideEnds {
    private SlideEnds() {}

    /** The value, which may be NULL, of the first or of the last row. */
    static final class End extends SlideColumn {
        private final boolean first;
        private final Line line = new Line();
        private Object[] values = new Object[0];
        private boolean[] present = new boolean[0];

        End(int argument, boolean first) {
            super(argument);
            this.first = first;
        }

        @Override
        boolean takesNull() {
            return true;
        }

        @Override
        void grow(int capacity) {
            values = Arrays.copyOf(values, capacity);
            present = Arrays.copyOf(present, capacity);
        }

        @Override
        void clear(int slot) {
            values[slot] = null;
            present[slot] = false;
        }

        @Override
        void add(int slot, Object value) {
            if (!first || !present[slot]) {
                values[slot] = value;
                present[slot] = true;
            }
        }

        @Override
        void merge(int into, int from) {
            if (!first) {
                values[into] = values[from];
            }
        }

        @Override
        void enter(int slot) {
            line.add(slot);
        }

        @Override
        void leave(int slot) {
            line.remove();
        }

        @Override
        Object value(Function function) {
            return line.size() == 0 ? null : values[first ? line.get(0) : line.last()];
        }

        @Override
        void write(int slot, Codec.Writer out) {
            out.value(values[slot]);
        }

        @Override
        void read(int slot, Codec.Reader in) {
            add(slot, in.value());
        }
    }

    /** All steps to rows with a place but that to the first of the window. */
    static final class Path extends SlideColumn {
        private final Line line = new Line();
        private long[] firsts = new long[0];
        private long[] totals = new long[0];
        private boolean[] present = new boolean[0];
        private long total;

        Path() {
            super(-1);
        }

        /** The step to a row with a place. */
        void step(int slot, long step) {
            if (!present[slot]) {
                present[slot] = true;
                firsts[slot] = step;
            }
            totals[slot] += step;
        }

        @Override
        void grow(int capacity) {
            firsts = Arrays.copyOf(firsts, capacity);
            totals = Arrays.copyOf(totals, capacity);
            present = Arrays.copyOf(present, capacity);
        }

        @Override
        void clear(int slot) {
            totals[slot] = 0;
            present[slot] = false;
        }

        @Override
        void add(int slot, Object value) {
            step(slot, (Long) value);
        }

        @Override
        void merge(int into, int from) {
            if (present[from]) {
                firsts[into] = present[into] ? firsts[into] : firsts[from];
                totals[into] += totals[from];
                present[into] = true;
            }
        }

        @Override
        void enter(int slot) {
            if (present[slot]) {
                line.add(slot);
                total += totals[slot];
            }
        }

        @Override
        void leave(int slot) {
            if (present[slot]) {
                line.remove();
                total -= totals[slot];
            }
        }

        @Override
        Object value(Function function) {
            return line.size() == 0 ? null : (Object) (total - firsts[line.get(0)]);
        }

        @Override
        void write(int slot, Codec.Writer out) {
            out.flag(present[slot]);
            if (present[slot]) {
                out.number(firsts[slot]);
                out.number(totals[slot]);
            }
        }

        @Override
        void read(int slot, Codec.Reader in) {
            present[slot] = in.flag();
            if (present[slot]) {
                firsts[slot] = in.number();
                totals[slot] = in.number();
            }
        }
    }
}
