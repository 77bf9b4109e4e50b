package transom.kernel;

import java.util.List;

/** A machine of one key that also emits when no rows arrive. A bucket holds the machines of many keys. */
public interface TimedMachine {
    /** Processes the rows of one tick, in order, and emits to `out` all output up to and including that tick. */
    void take(long tick, List<Object[]> rows, Emitter out);

    /**
     * Emits to `out` what is due without new rows, up to and including `closedTick`, the last tick that the watermark
     * has closed.
     */
    void advance(long closedTick, Emitter out);

    /**
     * The next tick at which this key has work to do even if no rows arrive, for the event-time timer; Long.MAX_VALUE
     * if none.
     */
    long nextWakeup();

    /** Whether the state equals that of a new key, so that Spark's state of the key can be deleted. */
    boolean isEmpty();

    /** The number of rows in the state of this key, for comparison with the state bound of the plan. */
    long held();

    /** Encodes the state of this key as bytes for Spark's state store. The first byte is a version. */
    byte[] save();

    /** Passes every entry of the state to `visitor`, for people who look at it. The machine is not used afterwards. */
    void visit(StateVisitor visitor);
}
