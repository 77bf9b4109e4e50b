package transom.kernel.spark;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/** The single event-time timer of a key, which fires if no more rows arrive. */
final class KeyTimer {
    /** No timer. */
    static final long NONE = -1;

    /** Prevents instantiation: all methods are static. */
    private KeyTimer() {}

    /**
     * Replaces a key's event-time timer `oldTimer` by `newTimer`; NONE is no timer. Timers are in milliseconds,
     * `handle` is Spark's; `expiredTimer` is the timer that has just fired, which Spark has already deleted, or NONE.
     */
    static void update(StatefulProcessorHandle handle, long oldTimer, long newTimer, long expiredTimer) {
        if (newTimer == oldTimer && oldTimer != expiredTimer) {
            return;
        }
        if (oldTimer != NONE && oldTimer != expiredTimer) {
            handle.deleteTimer(oldTimer);
        }
        if (newTimer != NONE) {
            handle.registerTimer(newTimer);
        }
    }
}
