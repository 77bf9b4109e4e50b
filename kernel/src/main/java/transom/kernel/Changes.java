package transom.kernel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Changes of rows on their way out. */
final class Changes {
    private Changes() {}

    /** Pass a window marker on, if one is among the arrivals of a tick. */
    static void putMarker(long tick, List<Arrival> arrivals, Out out) {
        for (Arrival arrival : arrivals) {
            if (!arrival.present()) {
                out.put(tick, 1, false, 0, null);
                return;
            }
        }
    }

    /** Put out the changes that are not nothing, in the order of their rows, with so many empty values behind each. */
    static void put(long tick, int seq, Map<RowKey, Long> changes, int padding, Out out) {
        List<Map.Entry<RowKey, Long>> told = new ArrayList<>();
        for (Map.Entry<RowKey, Long> change : changes.entrySet()) {
            if (change.getValue() != 0) {
                told.add(change);
            }
        }
        told.sort((one, other) -> Values.compareRows(one.getKey().row(), other.getKey().row()));
        for (Map.Entry<RowKey, Long> change : told) {
            out.put(tick, seq, true, change.getValue(), padded(change.getKey().row(), padding));
        }
    }

    /** A row with so many empty values behind it. */
    static Object[] padded(Object[] row, int padding) {
        return Arrays.copyOf(row, row.length + padding);
    }

    /** Saves bags of rows, each row with its count. */
    static byte[] save(char letter, List<Map<RowKey, Long>> bags) {
        Codec.Writer writer = new Codec.Writer(letter);
        for (Map<RowKey, Long> bag : bags) {
            writer.count(bag.size());
            for (Map.Entry<RowKey, Long> entry : bag.entrySet()) {
                writer.number(entry.getValue());
                writer.row(entry.getKey().row());
            }
        }
        return writer.done();
    }

    /** Reads one saved bag into an empty one. */
    static void load(Codec.Reader reader, Map<RowKey, Long> bag) {
        for (int rest = reader.count(); rest > 0; rest--) {
            long count = reader.number();
            bag.put(new RowKey(reader.row()), count);
        }
    }

    /** The number of rows in bags, equal ones counted. */
    static long held(List<Map<RowKey, Long>> bags) {
        long held = 0;
        for (Map<RowKey, Long> bag : bags) {
            for (long count : bag.values()) {
                held += count;
            }
        }
        return held;
    }
}
