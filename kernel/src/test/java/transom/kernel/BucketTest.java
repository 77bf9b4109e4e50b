package transom.kernel;

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

/** Many keys in one bucket. */
final class BucketTest {
    private static final String LINEAGE = "{\"machine\": \"lineage\", \"slide\": \"%s\", \"ranges\": [%s],"
            + " \"step\": %d, \"first\": 0, \"start\": 0, \"until\": null, \"eager\": false, \"flag\": null,"
            + " \"place\": {\"x\": 0, \"y\": null, \"geodesic\": false, \"unit\": 1, \"limit\": null},"
            + " \"output\": \"%s\", \"tags\": [], \"aggregates\": [%s], \"forget_after\": %s, \"shared\": true}";
    private static final String FAR = "{\"coordinate\": \"distance\", \"low\": [10, -20], \"high\": [10, 0]}";
    private static final String PATH = "{\"function\": \"path\", \"type\": \"integer\", \"argument\": null}";

    private final List<String> told = new ArrayList<>();

    private static Machines.TimedMaker lineages(
            String slide, String ranges, int step, String output, String aggregates, String forget) {
        return Machines.timed(String.format(LINEAGE, slide, ranges, step, output, aggregates, forget));
    }

    private static Coming comes(long tick, Object key, Object... values) {
        return new Coming(tick, new Arrival(0, 1, true, 1, null, new Object[] {key}, values));
    }

    private Bucket.Outs outs() {
        return key -> (tick, seq, present, place, row) ->
                told.add(Arrays.toString(key) + tick + " " + place + " " + Arrays.toString(row));
    }

    private List<String> lines() {
        List<String> all = List.copyOf(told);
        told.clear();
        return all;
    }

    @Test
    void everyKeyHasDistancesOfItsOwn() {
        Machines.TimedMaker maker = lineages("distance", FAR, 10, "aggregates", PATH, "null");
        Bucket bucket = new Bucket(maker, null);
        bucket.run(List.of(comes(1, "a", 5L), comes(1, "b", 100L), comes(2, "a", 17L)), 2, outs());
        assertEquals(List.of("[a]1 0 [0]", "[a]2 0 [0]", "[b]1 0 [0]"), lines());
        bucket = new Bucket(maker, bucket.save());
        bucket.run(List.of(comes(3, "a", 25L), comes(3, "b", 104L)), 3, outs());
        assertEquals(List.of("[a]3 0 [20]"), lines());
        assertEquals(2, bucket.keys());
        assertEquals(Long.MAX_VALUE, bucket.wake());
    }

    @Test
    void keysThatAreSilentAreNotTouched() {
        Machines.TimedMaker maker = lineages("distance", FAR, 10, "content", "", "null");
        Bucket bucket = new Bucket(maker, null);
        List<Coming> rows = new ArrayList<>();
        for (int key = 0; key < 500; key++) {
            rows.add(comes(1, (long) key, 0L, "row " + key));
        }
        bucket.run(rows, 1, outs());
        byte[] before = bucket.save();
        Bucket idle = new Bucket(maker, before);
        idle.run(List.of(), 100, outs());
        assertSame(before, idle.save());
        String broken = new String(before, StandardCharsets.ISO_8859_1).replace("row 77", "ro\u00ff 77");
        byte[] spoilt = broken.getBytes(StandardCharsets.ISO_8859_1);
        Bucket other = new Bucket(maker, spoilt);
        other.run(List.of(comes(101, 3L, 50L, "far")), 101, outs());
        byte[] after = other.save();
        assertEquals(500, new Bucket(maker, after).keys());
        int tail = 2000;
        assertArrayEquals(
                Arrays.copyOfRange(spoilt, spoilt.length - tail, spoilt.length),
                Arrays.copyOfRange(after, after.length - tail, after.length));
    }

    @Test
    void theAgendaWakesTheKeysWhoseTimeHasCome() {
        String all = "{\"coordinate\": \"tick\", \"low\": [1, -3], \"high\": [1, 0]}";
        Machines.TimedMaker maker = lineages("change", all, 1, "aggregates",
                "{\"function\": \"count\", \"type\": \"integer\", \"argument\": null}", "null");
        Bucket bucket = new Bucket(maker, null);
        bucket.run(List.of(comes(1, "a", 0L), comes(5, "b", 0L)), 5, outs());
        assertEquals(List.of("[a]1 0 [1]", "[a]5 0 [0]", "[b]5 0 [1]"), lines());
        assertEquals(9, bucket.wake());
        bucket = new Bucket(maker, bucket.save());
        bucket.run(List.of(), 8, outs());
        assertEquals(List.of(), lines());
        bucket.run(List.of(), 9, outs());
        assertEquals(List.of("[b]9 0 [0]"), lines());
        assertEquals(Long.MAX_VALUE, bucket.wake());
    }

    @Test
    void keysAreForgotten() {
        Machines.TimedMaker maker = lineages("arrival", "", 1, "changes", "", "4");
        Bucket bucket = new Bucket(maker, null);
        bucket.run(List.of(comes(1, "a", 0L), comes(3, "b", 1L)), 3, outs());
        assertEquals(6, bucket.wake());
        lines();
        bucket.run(List.of(), 7, outs());
        assertEquals(List.of("[a]6 0 null", "[a]6 -1 [0]"), lines());
        assertEquals(1, bucket.keys());
        bucket = new Bucket(maker, bucket.save());
        assertEquals(1, bucket.held());
        bucket.run(List.of(comes(9, "a", 2L)), 9, outs());
        assertEquals(List.of("[a]9 0 null", "[a]9 1 [2]", "[b]8 0 null", "[b]8 -1 [1]"), lines());
        bucket.run(List.of(), 50, outs());
        assertNull(bucket.save());
    }

    @Test
    void otherStateIsRefused() {
        Machines.TimedMaker maker = lineages("arrival", "", 1, "content", "", "null");
        assertThrows(IllegalStateException.class, () -> new Bucket(maker, new byte[] {7, 'B', 0, 0, 0, 0}));
        assertThrows(IllegalStateException.class, () -> new Bucket(maker, new byte[] {1}));
        assertThrows(IllegalArgumentException.class, () -> Machines.timed("{\"machine\": \"order\"}"));
    }
}
