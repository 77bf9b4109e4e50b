package transom.kernel.aggregates;

import java.util.Arrays;
import transom.kernel.state.Codec;

/** COUNT, and the base of SUM and AVG, which count their values as well. */
class SlidingCount extends SlidingAggregate {
    private long[] counts = new long[0];
    private long count;

    /** Creates a COUNT of the argument at an index of a row; a negative index counts all rows. */
    SlidingCount(int argument) {
        super(argument);
    }

    /** Enlarges the array that holds the COUNT of each pane to `capacity` elements. */
    @Override
    public void grow(int capacity) {
        counts = Arrays.copyOf(counts, capacity);
    }

    /** Resets the COUNT of the pane at array index `slot` to 0, so that another pane can use the index. */
    @Override
    public void clear(int slot) {
        counts[slot] = 0;
    }

    /**
     * Adds 1 to the COUNT of the pane at array index `slot` for one row. Its `value` is not NULL, except for COUNT(*).
     */
    @Override
    public void add(int slot, Object value) {
        count(slot);
    }

    /** Adds 1 to the number of values in the pane at array index `slot`; also used by SUM and AVG. */
    final void count(int slot) {
        counts[slot]++;
    }

    /** Adds the COUNT of the pane at array index `from` to that of the pane at array index `into`. */
    @Override
    public void merge(int into, int from) {
        counts[into] += counts[from];
    }

    /** Adds the COUNT of the pane at array index `slot`, which enters the sliding window, to the window's COUNT. */
    @Override
    public void enter(int slot) {
        count += counts[slot];
    }

    /**
     * Subtracts the COUNT of the pane at array index `slot`, which leaves the sliding window, from the window's COUNT.
     */
    @Override
    public void leave(int slot) {
        count -= counts[slot];
    }

    /**
     * Returns the COUNT, SUM or AVG of the current window, as `function` asks; SUM and AVG are null if it has no
     * values.
     */
    @Override
    public Object value(Function function) {
        if (function == Function.COUNT) {
            return count;
        }
        if (count == 0) {
            return null;
        }
        if (function == Function.SUM) {
            return sum();
        }
        double mean = mean(count);
        return Double.isFinite(mean) ? mean + 0.0 : null;
    }

    /**
     * Returns the SUM of the values in the current window; null if it overflows the result type. A plain COUNT has
     * none.
     */
    Object sum() {
        throw new IllegalStateException("a count has no sum");
    }

    /**
     * Computes AVG: the exact sum of the values in the current window, divided by their number `count` and rounded once
     * to a double. A plain COUNT has none.
     */
    double mean(long count) {
        throw new IllegalStateException("a count has no sum");
    }

    /** Encodes the COUNT of the pane at array index `slot` for saved state. */
    @Override
    public void write(int slot, Codec.Writer out) {
        out.number(counts[slot]);
    }

    /** Restores the COUNT of the pane at array index `slot` from saved state. */
    @Override
    public void read(int slot, Codec.Reader in) {
        counts[slot] = in.number();
    }

    /** Whether the pane at array index `slot` has at least one value, so that its sum is defined. */
    final boolean hasValues(int slot) {
        return counts[slot] != 0;
    }
}
