package transom.kernel.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.junit.jupiter.api.Test;

final class ClockTest {
    private static final ReadLimit ALL = ReadLimit.allAvailable();

    /** A clock whose tick is a microsecond. */
    private static ClockStream clock(Long until, Long behind) {
        return new ClockStream(new ClockSetting(0, new long[] {1}, until, 1, 0, behind));
    }

    /** The JSON of the latest offset of a clock. */
    private static String latest(ClockStream clock) {
        return clock.latestOffset(clock.initialOffset(), ALL).json();
    }

    @Test
    void availableNowPinsTheWallClock() throws InterruptedException {
        for (Long behind : new Long[] {null, 20L}) {
            ClockStream free = clock(null, behind); // a tick completes every microsecond
            ClockStream pinned = clock(null, behind);
            pinned.prepareForTriggerAvailableNow();
            String moving = latest(free);
            String fixed = latest(pinned);
            Thread.sleep(2);
            assertNotEquals(moving, latest(free));
            assertEquals(fixed, latest(pinned));
        }
    }

    @Test
    void pinnedClockNeverGoesBack() {
        ClockStream pinned = clock(null, null);
        pinned.prepareForTriggerAvailableNow();
        pinned.deserializeOffset("{\"tick\": " + Long.MAX_VALUE + "}");
        assertTrue(latest(pinned).startsWith("{\"tick\": " + Long.MAX_VALUE + ", \"started\": "));
    }

    @Test
    void endIsTakenFromTheSetting() {
        ClockStream pinned = clock(7L, null);
        pinned.prepareForTriggerAvailableNow();
        assertTrue(latest(pinned).startsWith("{\"tick\": 8, \"started\": "));
    }
}
