package transom.kernel.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;

/**
 * The settings of a clock source, which produces ticks without rows.
 *
 * @param firstTick the first tick
 * @param periods the clock has the multiples of these; if empty, only `firstTick`
 * @param lastTick the last tick; null for a clock that follows the wall clock
 * @param tickMicros the length of a tick in microseconds
 * @param epochMicros the start of tick 0, in microseconds since 1970
 * @param heartbeatLag for a clock of heartbeats only: its lag in ticks; else null
 * @param commitLog the folder of the query's commit log; if null, ticks do not wait until the watermark closes them
 */
record ClockSetting(
        long firstTick,
        long[] periods,
        Long lastTick,
        long tickMicros,
        long epochMicros,
        Long heartbeatLag,
        String commitLog)
        implements Serializable {
    /** Parses the JSON option `setting` of a clock source; throws IllegalArgumentException if it is not JSON. */
    static ClockSetting of(String json) {
        try {
            JsonNode node = new ObjectMapper().readTree(json);
            JsonNode list = node.get("periods");
            long[] periods = new long[list.size()];
            for (int i = 0; i < periods.length; i++) {
                periods[i] = list.get(i).asLong();
            }
            OffsetDateTime epochMicros = OffsetDateTime.parse(node.get("epoch").asText());
            long micros = ChronoUnit.MICROS.between(java.time.Instant.EPOCH, epochMicros.toInstant());
            return new ClockSetting(
                    node.get("first").asLong(),
                    periods,
                    number(node.get("until")),
                    node.get("length").asLong(),
                    micros,
                    number(node.get("behind")),
                    node.hasNonNull("commits") ? node.get("commits").asText() : null);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("the setting of the clock is not JSON: " + json, error);
        }
    }

    /** The last tick that has ended at the instant `nowMicros`, in microseconds since 1970. */
    long lastCompletedTick(long nowMicros) {
        return Math.floorDiv(nowMicros - epochMicros, tickMicros) - 1;
    }

    /**
     * The first tick at or after `tick` for which the clock has a row; Long.MAX_VALUE if none. Those are the multiples
     * of its periods, or without periods its first tick.
     */
    long nextTick(long tick) {
        long earliestTick = Math.max(tick, firstTick);
        if (periods.length == 0) {
            return earliestTick == firstTick ? firstTick : Long.MAX_VALUE;
        }
        long next = Long.MAX_VALUE;
        for (long period : periods) {
            next = Math.min(next, -Math.floorDiv(-earliestTick, period) * period);
        }
        return next;
    }

    /** Converts an optional JSON number to a Long; null if the entry is missing or JSON null. */
    private static Long number(JsonNode node) {
        return node == null || node.isNull() ? null : Long.valueOf(node.asLong());
    }
}
