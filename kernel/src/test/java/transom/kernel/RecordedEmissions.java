package transom.kernel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Records the output of a machine as text, and creates input rows for tests. */
public final class RecordedEmissions implements Emitter {
    private final List<String> lines = new ArrayList<>();

    /** Records a row or a window marker as one line of text. */
    @Override
    public void emit(long tick, int seq, boolean present, long position, Object[] values) {
        lines.add(tick + "/" + seq + " " + (present ? position + " " + Arrays.toString(values) : "window"));
    }

    /** The lines recorded since the last call. */
    public List<String> lines() {
        List<String> recorded = List.copyOf(lines);
        lines.clear();
        return recorded;
    }

    /** The values of a row. */
    public static Object[] values(Object... values) {
        return values;
    }

    /** A row of a stream. */
    public static InputRow streamRow(Object... values) {
        return new InputRow(0, 1, true, 1, null, new Object[0], values);
    }

    /** A row of a window. */
    public static InputRow windowRow(int side, int seq, Object key, Object... values) {
        return new InputRow(side, seq, true, 1, null, values(key), values);
    }

    /** A window marker. */
    public static InputRow marker(int side, int seq) {
        return new InputRow(side, seq, false, 1, null, new Object[0], new Object[0]);
    }

    /** The insertion (sign above 0) or retraction of copies of a row. */
    public static InputRow change(int side, int sign, Object... values) {
        return new InputRow(side, 1, true, sign, null, new Object[0], values);
    }
}
