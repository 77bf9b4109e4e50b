package transom.kernel;

import java.util.List;

/** A stateful operator on the rows of one key, which arrive in order. Its state is saved as bytes. */
public interface Machine {
    /**
     * Processes `inputs`, the rows and window markers of one tick, in order, and emits the resulting rows to `out`.
     * Ticks arrive in ascending order.
     */
    void feed(long tick, List<InputRow> inputs, Emitter out);

    /** Encodes the state of this key as bytes for Spark's state store. The first byte is a version. */
    byte[] save();

    /** The number of rows in the state of this key, for comparison with the state bound of the plan. */
    long held();

    /**
     * Drops the rows that no tick after `closedTick` needs, which bounds the state of keys without new rows. By default
     * it does nothing.
     */
    default void evict(long closedTick) {}

    /**
     * The tick whose closing lets all rows in the state be evicted, for the event-time timer; Long.MAX_VALUE if none.
     * None is the default.
     */
    default long nextWakeup() {
        return Long.MAX_VALUE;
    }

    /**
     * Whether Spark's state of a key can be deleted once it holds no rows, because it then equals that of a new key.
     * False by default.
     */
    default boolean dropsEmptyState() {
        return false;
    }

    /** Passes every entry of the state to `visitor`, for people who look at it. The machine is not used afterwards. */
    void visit(StateVisitor visitor);
}
