package transom.kernel;

import java.util.List;

/** A machine of one key that also emits when no rows arrive. A bucket holds the machines of many keys. */
public interface TimedMachine {
    /** Processes the rows of one tick, in order, and emits to `out` all output up to and including that tick. */
    void take(long tick, List<Object[]> rows, Emitter out);

    /**
     * Emits to `out` the output that is due without new rows, up to and including `closedTick`, the last tick that the
     * watermark has closed.
     */
    void advance(long closedTick, Emitter out);

    /**
     * The next tick at which the machine must run even if no rows arrive, for the event-time timer; Long.MAX_VALUE if
     * none.
     */
    long nextWakeup();

    /** Whether the state equals that of a new machine, so that Spark's state of the key can be deleted. */
    boolean isEmpty();

    /** The number of rows in the machine's state, to compare it with the state bound of the plan. */
    long held();

    /** Encodes the machine's state for Spark's state store as bytes; the first byte is a version. */
    byte[] save();
}
