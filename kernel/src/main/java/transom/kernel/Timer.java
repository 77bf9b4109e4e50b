package transom.kernel;

import org.apache.spark.sql.streaming.StatefulProcessorHandle;

/** The one timer of a key, for when it falls silent. */
final class Timer {
    /** No timer. */
    static final long NONE = -1;

    private Timer() {}

    /** Set the timer of a key to a millisecond, or to none; `fired` is the one that has just gone off. */
    static void move(StatefulProcessorHandle handle, long old, long wanted, long fired) {
        if (wanted == old && old != fired) {
            return;
        }
        if (old != NONE && old != fired) {
            handle.deleteTimer(old);
        }
        if (wanted != NONE) {
            handle.registerTimer(wanted);
        }
    }
}
