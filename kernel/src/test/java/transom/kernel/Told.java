package transom.kernel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What tests of machines share: short ways to say what arrives, and what departed as text. */
final class Told implements Out {
    private final List<String> lines = new ArrayList<>();

    @Override
    public void put(long tick, int seq, boolean present, long place, Object[] row) {
        lines.add(tick + "/" + seq + " " + (present ? place + " " + Arrays.toString(row) : "window"));
    }

    /** All lines since the last call. */
    List<String> lines() {
        List<String> all = List.copyOf(lines);
        lines.clear();
        return all;
    }

    /** A row. */
    static Object[] row(Object... values) {
        return values;
    }

    /** A row of a stream. */
    static Arrival comes(Object... values) {
        return new Arrival(0, 1, true, 1, null, new Object[0], values);
    }

    /** A row of a window. */
    static Arrival in(int side, int seq, Object key, Object... values) {
        return new Arrival(side, seq, true, 1, null, row(key), values);
    }

    /** The word that a window exists. */
    static Arrival word(int side, int seq) {
        return new Arrival(side, seq, false, 1, null, new Object[0], new Object[0]);
    }

    /** So many copies of a row more, or fewer. */
    static Arrival change(int side, int sign, Object... values) {
        return new Arrival(side, 1, true, sign, null, new Object[0], values);
    }
}
