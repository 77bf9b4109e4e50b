package transom.kernel;

/** A machine that adds rows up as they come, in any order, and hands out what is closed. */
public interface Gathering {
    /** A row of a tick that is not closed. */
    void take(long tick, Object[] row);

    /** What all ticks up to one that is closed now make. */
    void advance(long closed, Out out);

    /** The next tick at which something comes out if nothing more comes in; Long.MAX_VALUE if there is none. */
    long next();

    /** The state as bytes, a version first; null when nothing is remembered. */
    byte[] save();

    /** Groups that are remembered. */
    long held();
}
