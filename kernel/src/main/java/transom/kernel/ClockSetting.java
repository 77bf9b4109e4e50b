package transom.kernel;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;

/**
 * What a clock shows.
 *
 * @param first the first tick
 * @param periods ticks that are multiples of one of these; none: `first` alone
 * @param until the last tick, or null for one that follows the wall clock
 * @param length microseconds of a tick
 * @param epoch the beginning of tick 0, in microseconds since 1970
 * @param behind for heartbeats: only the newest tick of a batch, so far behind; else null
 */
record ClockSetting(long first, long[] periods, Long until, long length, long epoch, Long behind)
        implements Serializable {
    /** The setting in a JSON document. */
    static ClockSetting of(String json) {
        try {
            JsonNode node = new ObjectMapper().readTree(json);
            JsonNode list = node.get("periods");
            long[] periods = new long[list.size()];
            for (int at = 0; at < periods.length; at++) {
                periods[at] = list.get(at).asLong();
            }
            OffsetDateTime epoch = OffsetDateTime.parse(node.get("epoch").asText());
            long micros = ChronoUnit.MICROS.between(java.time.Instant.EPOCH, epoch.toInstant());
            return new ClockSetting(
                    node.get("first").asLong(),
                    periods,
                    number(node.get("until")),
                    node.get("length").asLong(),
                    micros,
                    number(node.get("behind")));
        } catch (JsonProcessingException broken) {
            throw new IllegalArgumentException("the setting of the clock is not JSON: " + json, broken);
        }
    }

    /** The last tick that is over at an instant in microseconds. */
    long completed(long now) {
        return Math.floorDiv(now - epoch, length) - 1;
    }

    /** The first shown tick from a given one on, or Long.MAX_VALUE. */
    long from(long tick) {
        long least = Math.max(tick, first);
        if (periods.length == 0) {
            return least == first ? first : Long.MAX_VALUE;
        }
        long found = Long.MAX_VALUE;
        for (long period : periods) {
            found = Math.min(found, -Math.floorDiv(-least, period) * period);
        }
        return found;
    }

    private static Long number(JsonNode node) {
        return node == null || node.isNull() ? null : Long.valueOf(node.asLong());
    }
}
