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
}
