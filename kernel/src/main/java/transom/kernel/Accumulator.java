package transom.kernel;

/** A machine that aggregates rows in any order and emits the aggregates of closed ticks. */
public interface Accumulator {
    /**
     * Adds one row of an open (not closed) tick to the aggregates of that tick; rows of different ticks may arrive in
     * any order.
     */
    void take(long tick, Object[] row);

    /**
     * Emits to `out` the aggregates of every window whose tick is at most `closedTick`, the last tick that the
     * watermark has closed.
     */
    void advance(long closedTick, Emitter out);

    /**
     * The tick of the next window that would be emitted if no more rows arrived, for the event-time timer;
     * Long.MAX_VALUE if none.
     */
    long nextTick();

    /**
     * Encodes the partial aggregates for the state store as bytes, which begin with a version; null if there are none.
     */
    byte[] save();

    /** The number of partial aggregates (panes) in the state, to compare it with the state bound of the plan. */
    long held();
}
