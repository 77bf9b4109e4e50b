package transom.kernel;

/** A machine that aggregates rows in any order and emits the aggregates of closed ticks. */
public interface Accumulator {
    /**
     * Adds a row to the aggregates of its tick, which the watermark has not closed yet. Rows of different ticks may
     * arrive in any order.
     */
    void take(long tick, Object[] row);

    /**
     * Emits to `out` the aggregates of every window up to `closedTick`, the last tick that the watermark has closed.
     */
    void advance(long closedTick, Emitter out);

    /**
     * The tick of the next window that is due if no more rows arrive, for the event-time timer; Long.MAX_VALUE if none.
     */
    long nextTick();

    /**
     * Encodes the partial aggregates as bytes for the state store; null if there are none. The first byte is a version.
     */
    byte[] save();

    /** The number of partial aggregates (panes) in the state, for comparison with the state bound of the plan. */
    long held();

    /** Passes every entry of the state to `visitor`, for people who look at it. The machine is not used afterwards. */
    void visit(StateVisitor visitor);
}
