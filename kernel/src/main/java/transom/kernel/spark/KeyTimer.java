package transom.kernel.spark;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/** The single event-time timer of a key, which fires if no more rows arrive. */
final class KeyTimer {
    /** No timer. */
    static final long NONE = -1;

    /** Prevents instantiation: all methods are static. */
    private KeyTimer() {}

    /**
     * Replaces a key's event-time timer, where NONE is no timer; `expiredTimerMillis` is the timer that has just fired,
     * which Spark has already deleted, or NONE. `handle` is Spark's.
     */
    static void update(
            StatefulProcessorHandle handle, long oldTimerMillis, long newTimerMillis, long expiredTimerMillis) {
        if (newTimerMillis == oldTimerMillis && oldTimerMillis != expiredTimerMillis) {
            return;
        }
        if (oldTimerMillis != NONE && oldTimerMillis != expiredTimerMillis) {
            handle.deleteTimer(oldTimerMillis);
        }
        if (newTimerMillis != NONE) {
            handle.registerTimer(newTimerMillis);
        }
    }
}
