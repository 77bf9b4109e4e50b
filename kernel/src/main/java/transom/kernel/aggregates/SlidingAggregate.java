package transom.kernel.aggregates;

import transom.kernel.state.Codec;

/**
 * Computes an aggregate over a sliding window of panes. The partial aggregates of panes are in arrays; the slot of a
 * pane is its index in these arrays.
 *
 * <p>Panes leave the window in the order in which they entered it.
 */
public abstract class SlidingAggregate {
    /** The aggregate functions. */
    public enum Function {
        COUNT,
        SUM,
        AVG,
        MIN,
        MAX,
        FIRST,
        LAST,
        PATH;

        /** Whether this aggregate function is FIRST, LAST or PATH, whose result depends on the order of rows. */
        public boolean dependsOnOrder() {
            return this == FIRST || this == LAST || this == PATH;
        }
    }

    /** The index of the argument in a row; negative for COUNT(*) and PATH. */
    public final int argument;

    /** Creates an aggregate of the argument at an index of a row; a negative index means that there is none. */
    SlidingAggregate(int argument) {
        this.argument = argument;
    }

    /**
     * Creates the empty sliding aggregate of a function over values of a type such as `float`; `argument` is the
     * value's index in a row, negative for COUNT(*) and PATH.
     */
    static SlidingAggregate of(Function function, String type, int argument) {
        switch (function) {
            case COUNT:
                return new SlidingCount(argument);
            case SUM:
            case AVG:
                return SlidingSums.of(type, argument);
            case FIRST:
            case LAST:
                return new SlidingOrdered.FirstLast(argument, function == Function.FIRST);
            case PATH:
                return new SlidingOrdered.Path();
            default:
                return SlidingExtremes.of(type, argument, function == Function.MIN);
        }
    }

    /**
     * Whether `add` must also be called for NULL values: only for FIRST and LAST, since other functions ignore NULL.
     */
    public boolean acceptsNull() {
        return false;
    }

    /** Enlarges the arrays that hold one partial aggregate per pane to `capacity` elements. */
    public abstract void grow(int capacity);

    /**
     * Resets the partial aggregate at array index `slot` to that of an empty pane, so that another pane can use the
     * index.
     */
    public abstract void clear(int slot);

    /** Adds the argument `value` of one row to the partial aggregate of the pane at array index `slot`. */
    public abstract void add(int slot, Object value);

    /** Adds the partial aggregate of the pane at array index `from` to that of the pane at array index `into`. */
    public abstract void merge(int into, int from);

    /** Adds the pane at array index `slot` to the current window, as its newest pane; called when the window slides. */
    public abstract void enter(int slot);

    /**
     * Removes the pane at array index `slot`, the oldest one, from the current window; called when the window slides.
     */
    public abstract void leave(int slot);

    /**
     * Returns the result of `function` for the current window, which has at least one pane. The function is passed
     * because SUM and AVG share one sliding aggregate.
     */
    public abstract Object value(Function function);

    /** Encodes the partial aggregate of the pane at array index `slot` for saved state. */
    public abstract void write(int slot, Codec.Writer out);

    /** Restores the partial aggregate of a pane from saved state to the empty array index `slot`. */
    public abstract void read(int slot, Codec.Reader in);
}
