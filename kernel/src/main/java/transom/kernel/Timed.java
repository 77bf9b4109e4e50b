package transom.kernel;

import java.util.List;

/** A machine of one key that also acts when nothing comes: a bucket holds many of them. */
public interface Timed {
    /** All rows of a tick, in order; what is told up to that tick. */
    void take(long tick, List<Object[]> rows, Out out);

    /** What is told of all ticks up to one that is closed now. */
    void advance(long closed, Out out);

    /** The next tick at which there is something to do if nothing more comes in; Long.MAX_VALUE if there is none. */
    long wake();

    /** Whether it is as good as new. */
    boolean blank();

    /** Rows that are remembered. */
    long held();

    /** The state as bytes, a version first. */
    byte[] save();
}
