package transom.kernel.state;

import java.util.Comparator;
import transom.kernel.InputRow;

/**
 * An input row with its tick.
 *
 * @param tick the tick
 * @param row the row
 */
public record TimedRow(long tick, InputRow row) {
    /** Orders rows by tick, and the rows of a tick as a machine expects them. */
    public static final Comparator<TimedRow> TICK_ORDER =
            Comparator.comparingLong(TimedRow::tick).thenComparing(TimedRow::row, Values.INPUT_ORDER);
}
