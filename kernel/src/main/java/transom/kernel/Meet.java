package transom.kernel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Joins two relations that arrive as changes: changes of both sides of one key in, changes of their pairs out.
 *
 * <p>All changes of a tick act at once: a pair that comes and goes within a tick was never there. Keeps the rows that
 * are present on each side. The sign of a row that comes in, and the place of one that goes out, is a signed count.
 */
public final class Meet implements Machine {
    private static final char LETTER = 'M';

    private final List<Map<RowKey, Long>> present = List.of(new LinkedHashMap<>(), new LinkedHashMap<>());

    /** A pair that comes or goes. */
    private record Pair(Object[] row, long count) {}

    /** A machine that has seen nothing. */
    public Meet() {}

    /** The machine as it was when it was saved. */
    public static Meet load(byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "meet");
        Meet machine = new Meet();
        for (Map<RowKey, Long> side : machine.present) {
            for (int rest = reader.count(); rest > 0; rest--) {
                long count = reader.number();
                side.put(new RowKey(reader.row()), count);
            }
        }
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        List<Map<RowKey, Long>> coming = List.of(new LinkedHashMap<>(), new LinkedHashMap<>());
        for (Arrival arrival : arrivals) {
            if (arrival.present()) {
                coming.get(arrival.side()).merge(new RowKey(arrival.row()), (long) arrival.sign(), Long::sum);
            }
        }
        ArrayList<Pair> pairs = new ArrayList<>();
        multiply(coming.get(0), present.get(1), pairs);
        apply(coming.get(0), present.get(0));
        for (Map.Entry<RowKey, Long> other : coming.get(1).entrySet()) {
            for (Map.Entry<RowKey, Long> row : present.get(0).entrySet()) {
                pairs.add(pair(row, other));
            }
        }
        apply(coming.get(1), present.get(1));
        pairs.sort((one, other) -> Values.compareRows(one.row, other.row));
        int at = 0;
        while (at < pairs.size()) {
            Object[] row = pairs.get(at).row;
            long count = 0;
            while (at < pairs.size() && Values.sameRows(row, pairs.get(at).row)) {
                count += pairs.get(at++).count;
            }
            if (count != 0) {
                out.put(tick, 1, true, count, row);
            }
        }
    }

    private static void multiply(Map<RowKey, Long> left, Map<RowKey, Long> right, List<Pair> pairs) {
        for (Map.Entry<RowKey, Long> row : left.entrySet()) {
            for (Map.Entry<RowKey, Long> other : right.entrySet()) {
                pairs.add(pair(row, other));
            }
        }
    }

    private static Pair pair(Map.Entry<RowKey, Long> left, Map.Entry<RowKey, Long> right) {
        Object[] row = Values.joined(left.getKey().row(), right.getKey().row());
        return new Pair(row, left.getValue() * right.getValue());
    }

    private static void apply(Map<RowKey, Long> changes, Map<RowKey, Long> side) {
        for (Map.Entry<RowKey, Long> change : changes.entrySet()) {
            long count = side.getOrDefault(change.getKey(), 0L) + change.getValue();
            if (count == 0) {
                side.remove(change.getKey());
            } else {
                side.put(change.getKey(), count);
            }
        }
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        for (Map<RowKey, Long> side : present) {
            writer.count(side.size());
            for (Map.Entry<RowKey, Long> entry : side.entrySet()) {
                writer.number(entry.getValue());
                writer.row(entry.getKey().row());
            }
        }
        return writer.done();
    }

    @Override
    public long held() {
        long held = 0;
        for (Map<RowKey, Long> side : present) {
            for (long count : side.values()) {
                held += Math.abs(count);
            }
        }
        return held;
    }
}
