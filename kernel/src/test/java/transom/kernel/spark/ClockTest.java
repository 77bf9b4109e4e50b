package transom.kernel.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ClockTest {
    private static final ReadLimit ALL = ReadLimit.allAvailable();

    /** A clock whose tick is a microsecond. */
    private static ClockStream clock(Long until, Long behind) {
        return new ClockStream(new ClockSetting(0, new long[] {1}, until, 1, 0, behind, null));
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

    /** Ticks wait in the source until the watermark of the next micro-batch closes them; the heartbeat does not. */
    @Test
    void ticksWaitForTheWatermark(@TempDir Path commits) throws IOException {
        long second = 1_000_000;
        ClockStream clock =
                new ClockStream(new ClockSetting(0, new long[] {2}, 99L, second, 0, null, commits.toString()));
        String begin = clock.initialOffset().json();
        String started = latest(clock);
        assertTrue(started.startsWith("{\"tick\": 100, \"closed\": -1, \"started\": "));
        assertEquals(List.of("100 true"), rows(clock, begin, started));
        assertThrows(
                IllegalStateException.class, () -> clock.latestOffset(clock.deserializeOffset(started), ALL));
        commit(commits, 3, 4_999);
        String later = latest(clock);
        assertTrue(later.startsWith("{\"tick\": 100, \"closed\": 3, "));
        assertEquals(List.of("0 false", "2 false", "100 true"), rows(clock, started, later));
        assertEquals(later, latest(clock));
        commit(commits, 4, 5_000);
        assertEquals(List.of("4 false", "100 true"), rows(clock, later, latest(clock)));
        ClockStream again = new ClockStream(new ClockSetting(0, new long[] {2}, 99L, second, 0, null, null));
        assertTrue(rows(again, later, latest(again)).contains("98 false"));
        again = new ClockStream(new ClockSetting(0, new long[] {2}, 99L, second, 0, null, commits.toString()));
        again.deserializeOffset("{\"tick\": 50, \"started\": 1}"); // of a version whose clock did not wait
        assertTrue(latest(again).startsWith("{\"tick\": 100, \"closed\": 50, "));
    }

    /** Writes a file of the commit log, as Spark does. */
    private static void commit(Path commits, long batch, long watermark) throws IOException {
        Files.writeString(commits.resolve("" + batch), "v1\n{\"nextBatchWatermarkMs\":" + watermark + "}");
        Files.writeString(commits.resolve("." + batch + ".crc"), "");
    }

    /** The rows of a clock between two offsets. */
    private static List<String> rows(ClockStream clock, String start, String end) throws IOException {
        List<String> rows = new ArrayList<>();
        for (InputPartition partition :
                clock.planInputPartitions(clock.deserializeOffset(start), clock.deserializeOffset(end))) {
            PartitionReader<InternalRow> reader = clock.createReaderFactory().createReader(partition);
            while (reader.next()) {
                rows.add(reader.get().getLong(0) + " " + reader.get().getBoolean(1));
            }
        }
        return rows;
    }

    @Test
    void endIsTakenFromTheSetting() {
        ClockStream pinned = clock(7L, null);
        pinned.prepareForTriggerAvailableNow();
        assertTrue(latest(pinned).startsWith("{\"tick\": 8, \"started\": "));
    }
}
