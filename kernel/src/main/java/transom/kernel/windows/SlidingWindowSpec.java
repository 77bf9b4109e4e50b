package transom.kernel.windows;

import com.fasterxml.jackson.databind.JsonNode;
import transom.kernel.aggregates.AggregateSpecs;

/** The windows and aggregates of a {@link SlidingWindowMachine}, parsed from its specification. */
public final class SlidingWindowSpec {
    private static final char LETTER = 'S';
    /** The letter for rows with end ticks, whose state has additional fields. */
    private static final char ENDS_LETTER = 'E';

    final long period;
    final long span;
    /** Whether rows have end ticks. */
    final boolean hasEnds;
    final AggregateSpecs aggregates;

    /**
     * Parses and checks the JSON specification of sliding windows: their period, the number of windows that contain a
     * row (null if rows have end ticks), and the aggregates.
     */
    public SlidingWindowSpec(JsonNode entries) {
        this.hasEnds = entries.path("copies").isNull();
        long copies = hasEnds ? 1 : entries.path("copies").asLong();
        this.period = entries.path("period").asLong();
        if (copies < 1 || period < 1) {
            throw new IllegalArgumentException(
                    "a row is in at least one window, and windows are at least one tick apart");
        }
        this.span = Math.multiplyExact(copies - 1, period);
        this.aggregates = new AggregateSpecs(entries.path("aggregates"), hasEnds ? 1 : 0);
        if (aggregates.dependsOnOrder()) {
            throw new IllegalArgumentException("rows that arrive in any order have no path, no first and no last");
        }
    }

    /** Returns the letter that identifies the saved state: `E` if rows have end ticks, otherwise `S`. */
    char letter() {
        return hasEnds ? ENDS_LETTER : LETTER;
    }
}
