package transom.kernel.machines;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import transom.kernel.InputRow;
import transom.kernel.state.TimedRow;

/** Buckets with the machines of many keys. */
final class BucketTest {
    private static final String KEYED_WINDOW = "{\"machine\": \"lineage\", \"slide\": \"%s\", \"ranges\": [%s],"
            + " \"step\": %d, \"first\": 0, \"start\": 0, \"until\": null, \"eager\": false, \"flag\": null,"
            + " \"place\": {\"x\": 0, \"y\": null, \"geodesic\": false, \"unit\": 1, \"limit\": null},"
            + " \"output\": \"%s\", \"tags\": [], \"aggregates\": [%s], \"forget_after\": %s, \"shared\": true}";
    private static final String DISTANCE = "{\"coordinate\": \"distance\", \"low\": [10, -20], \"high\": [10, 0]}";
    private static final String PATH = "{\"function\": \"path\", \"type\": \"integer\", \"argument\": null}";

    private final List<String> emissions = new ArrayList<>();

    /** The factory of keyed windows with a slide, ranges, output and aggregates, as JSON. */
    private static MachineFactories.TimedMachineFactory keyedWindows(
            String slide, String ranges, int step, String output, String aggregates, String forget) {
        return MachineFactories.timed(String.format(KEYED_WINDOW, slide, ranges, step, output, aggregates, forget));
    }

    /** A row of a stream with its tick and key. */
    private static TimedRow timedRow(long tick, Object key, Object... values) {
        return new TimedRow(tick, new InputRow(0, 1, true, 1, null, new Object[] {key}, values));
    }

    /** Emitters that record each emission as a line with its key. */
    private Bucket.Emitters recorders() {
        return key -> (tick, seq, present, position, row) ->
                emissions.add(Arrays.toString(key) + tick + " " + position + " " + Arrays.toString(row));
    }

    /** The lines recorded since the last call. */
    private List<String> lines() {
        List<String> recorded = List.copyOf(emissions);
        emissions.clear();
        return recorded;
    }

    @Test
    void eachKeyHasItsOwnDistance() {
        MachineFactories.TimedMachineFactory factory =
                keyedWindows("distance", DISTANCE, 10, "aggregates", PATH, "null");
        Bucket bucket = new Bucket(factory, null);
        bucket.run(List.of(timedRow(1, "a", 5L), timedRow(1, "b", 100L), timedRow(2, "a", 17L)), 2, recorders());
        assertEquals(List.of("[a]1 0 [0]", "[a]2 0 [0]", "[b]1 0 [0]"), lines());
        bucket = new Bucket(factory, bucket.save());
        bucket.run(List.of(timedRow(3, "a", 25L), timedRow(3, "b", 104L)), 3, recorders());
        assertEquals(List.of("[a]3 0 [20]"), lines());
        assertEquals(2, bucket.keys());
        assertEquals(Long.MAX_VALUE, bucket.nextWakeup());
    }

    @Test
    void idleKeysAreNotDecoded() {
        MachineFactories.TimedMachineFactory factory = keyedWindows("distance", DISTANCE, 10, "content", "", "null");
        Bucket bucket = new Bucket(factory, null);
        List<TimedRow> rows = new ArrayList<>();
        for (int key = 0; key < 500; key++) {
            rows.add(timedRow(1, (long) key, 0L, "row " + key));
        }
        bucket.run(rows, 1, recorders());
        byte[] before = bucket.save();
        Bucket idle = new Bucket(factory, before);
        idle.run(List.of(), 100, recorders());
        assertSame(before, idle.save());
        String corruptedText = new String(before, StandardCharsets.ISO_8859_1).replace("row 77", "ro\u00ff 77");
        byte[] corrupted = corruptedText.getBytes(StandardCharsets.ISO_8859_1);
        Bucket woken = new Bucket(factory, corrupted);
        woken.run(List.of(timedRow(101, 3L, 50L, "far")), 101, recorders());
        byte[] after = woken.save();
        assertEquals(500, new Bucket(factory, after).keys());
        int tail = 2000;
        assertArrayEquals(
                Arrays.copyOfRange(corrupted, corrupted.length - tail, corrupted.length),
                Arrays.copyOfRange(after, after.length - tail, after.length));
    }

    @Test
    void dueKeysAreWokenUp() {
        String range = "{\"coordinate\": \"tick\", \"low\": [1, -3], \"high\": [1, 0]}";
        MachineFactories.TimedMachineFactory factory = keyedWindows("change", range, 1, "aggregates",
                "{\"function\": \"count\", \"type\": \"integer\", \"argument\": null}", "null");
        Bucket bucket = new Bucket(factory, null);
        bucket.run(List.of(timedRow(1, "a", 0L), timedRow(5, "b", 0L)), 5, recorders());
        assertEquals(List.of("[a]1 0 [1]", "[a]5 0 [0]", "[b]5 0 [1]"), lines());
        assertEquals(9, bucket.nextWakeup());
        bucket = new Bucket(factory, bucket.save());
        bucket.run(List.of(), 8, recorders());
        assertEquals(List.of(), lines());
        bucket.run(List.of(), 9, recorders());
        assertEquals(List.of("[b]9 0 [0]"), lines());
        assertEquals(Long.MAX_VALUE, bucket.nextWakeup());
    }

    @Test
    void idleKeysAreForgotten() {
        MachineFactories.TimedMachineFactory factory = keyedWindows("arrival", "", 1, "changes", "", "4");
        Bucket bucket = new Bucket(factory, null);
        bucket.run(List.of(timedRow(1, "a", 0L), timedRow(3, "b", 1L)), 3, recorders());
        assertEquals(6, bucket.nextWakeup());
        lines();
        bucket.run(List.of(), 7, recorders());
        assertEquals(List.of("[a]6 0 null", "[a]6 -1 [0]"), lines());
        assertEquals(1, bucket.keys());
        bucket = new Bucket(factory, bucket.save());
        assertEquals(1, bucket.held());
        bucket.run(List.of(timedRow(9, "a", 2L)), 9, recorders());
        assertEquals(List.of("[a]9 0 null", "[a]9 1 [2]", "[b]8 0 null", "[b]8 -1 [1]"), lines());
        bucket.run(List.of(), 50, recorders());
        assertNull(bucket.save());
    }

    @Test
    void foreignStateIsRefused() {
        MachineFactories.TimedMachineFactory factory = keyedWindows("arrival", "", 1, "content", "", "null");
        assertThrows(IllegalStateException.class, () -> new Bucket(factory, new byte[] {7, 'B', 0, 0, 0, 0}));
        assertThrows(IllegalStateException.class, () -> new Bucket(factory, new byte[] {1}));
        assertThrows(IllegalArgumentException.class, () -> MachineFactories.timed("{\"machine\": \"order\"}"));
    }
}
