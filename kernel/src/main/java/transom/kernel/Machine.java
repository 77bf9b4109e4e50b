package transom.kernel;

import java.util.List;

/** A sequential machine: the rows of one key in order in, what it makes of them out; its state is bytes. */
public interface Machine {
    /** All rows of a tick, in order; ticks come in order. */
    void feed(long tick, List<Arrival> arrivals, Out out);

    /** The state as bytes, a version first. */
    byte[] save();

    /** Rows that are remembered. */
    long held();

    /** Forget what no tick after a closed one needs; for machines that hold rows of keys that may fall silent. */
    default void forget(long closed) {}

    /** The tick at which all that is held can be forgotten, or Long.MAX_VALUE. */
    default long wake() {
        return Long.MAX_VALUE;
    }

    /** Whether a machine that holds nothing is as good as new. */
    default boolean forgets() {
        return false;
    }
}
