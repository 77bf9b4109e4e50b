package transom.kernel;

import java.util.Comparator;

/**
 * A row and its tick.
 *
 * @param tick its tick
 * @param row the row
 */
record Coming(long tick, Arrival row) {
    /** By tick, and as a machine wants the rows of a tick. */
    static final Comparator<Coming> IN_ORDER =
            Comparator.comparingLong(Coming::tick).thenComparing(Coming::row, Values.IN_ORDER);
}
