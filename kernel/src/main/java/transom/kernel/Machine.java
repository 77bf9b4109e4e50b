package transom.kernel;

import java.util.List;

/** A stateful operator on the rows of one key, which arrive in order. Its state is saved as bytes. */
public interface Machine {
    /**
     * Processes `inputs`, all rows and window markers of one tick, in order, and emits the machine's output rows to
     * `out`; ticks arrive in ascending order.
     */
    void feed(long tick, List<InputRow> inputs, Emitter out);

    /** Encodes the machine's state for Spark's state store as bytes; the first byte is a version. */
    byte[] save();

    /** The number of rows in the machine's state, to compare it with the state bound of the plan. */
    long held();

    /**
     * Drops the rows that no tick after `closedTick` needs, which bounds the state of keys that receive no more rows;
     * nothing by default.
     */
    default void evict(long closedTick) {}

    /**
     * The tick from which all rows in the state can be evicted, for the event-time timer; Long.MAX_VALUE, the default,
     * if none.
     */
    default long nextWakeup() {
        return Long.MAX_VALUE;
    }

    /**
     * Whether Spark's state of a key can be deleted when it holds no rows, because the machine then equals a new one;
     * false by default.
     */
    default boolean dropsEmptyState() {
        return false;
    }
}
