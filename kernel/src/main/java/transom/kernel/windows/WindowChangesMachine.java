package transom.kernel.windows;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.Codec;
import transom.kernel.state.RowKey;

/**
 * Compares consecutive windows and emits the numbered insertions or deletions. The state is the previous window.
 *
 * <p>The windows of a tick are compared in order. Window 0 says that the key has ended and clears the state.
 */
public final class WindowChangesMachine implements Machine {
    private static final char LETTER = 'C';

    /** What to emit: insertions, deletions, both as signed changes, or the whole window if it has new rows. */
    public enum Report {
        INSERTED,
        DELETED,
        BOTH,
        EXTENDED;

        /**
         * Converts the name of what to emit (inserted, deleted, both or extended) to its constant. Throws
         * IllegalArgumentException if it is unknown.
         */
        public static Report of(String name) {
            for (Report report : values()) {
                if (report.name().toLowerCase(Locale.ROOT).equals(name)) {
                    return report;
                }
            }
            throw new IllegalArgumentException("report is inserted, deleted, both or extended, not '" + name + "'");
        }
    }

    private final Report report;
    private List<RowKey> previous = List.of();
    private long count;
    private boolean isKeyEnded;

    /**
     * Creates a comparison of consecutive windows, which starts with an empty window; `report` says what to emit. That
     * is inserted rows, deleted rows, both, or every window with a new row.
     */
    public WindowChangesMachine(Report report) {
        this.report = report;
    }

    /**
     * Restores a comparison of consecutive windows, with its previous window, from the bytes of `save`. `report` says
     * what to emit: inserted rows, deleted rows, both, or every window with a new row.
     */
    public static WindowChangesMachine load(Report report, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "change");
        WindowChangesMachine machine = new WindowChangesMachine(report);
        machine.count = reader.number();
        int size = reader.count();
        ArrayList<RowKey> rows = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            rows.add(new RowKey(reader.row()));
        }
        machine.previous = rows;
        return machine;
    }

    /**
     * Compares each window of a tick with the window before it, and emits the rows that differ to `out`. As the query
     * asks, these are inserted rows, deleted rows, both, or all rows of every window with a new row.
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        List<InputRow> sorted = sortedBySeq(inputs);
        int next = 0;
        if (report == Report.BOTH && !sorted.isEmpty()) {
            out.emit(tick, 1, false, 0, null);
        }
        while (next < sorted.size()) {
            int seq = sorted.get(next).seq();
            ArrayList<RowKey> window = new ArrayList<>();
            for (; next < sorted.size() && sorted.get(next).seq() == seq; next++) {
                if (sorted.get(next).present()) {
                    window.add(new RowKey(sorted.get(next).row()));
                }
            }
            List<RowKey> previousWindow = previous;
            previous = window;
            isKeyEnded = seq == 0;
            if (report == Report.EXTENDED && isKeyEnded) {
                out.emit(tick, 0, false, 0, null);
                continue;
            }
            if (report == Report.EXTENDED) {
                emitIfGrown(tick, window, previousWindow, out);
                continue;
            }
            if (report != Report.INSERTED) {
                emitDifference(tick, previousWindow, window, -1, out);
            }
            if (report != Report.DELETED) {
                emitDifference(tick, window, previousWindow, 1, out);
            }
        }
    }

    /**
     * Emits to `out` the rows of `left` that `right` lacks; each row on the right cancels one equal row on the left;
     * `sign` is their signed count if insertions and deletions are both emitted, else they are numbered.
     */
    private void emitDifference(long tick, List<RowKey> left, List<RowKey> right, long sign, Emitter out) {
        if (left.isEmpty()) {
            return;
        }
        HashMap<RowKey, int[]> rightCounts = new HashMap<>(2 * right.size());
        for (RowKey row : right) {
            rightCounts.computeIfAbsent(row, unseen -> new int[1])[0]++;
        }
        for (RowKey row : left) {
            int[] copies = rightCounts.isEmpty() ? null : rightCounts.get(row);
            if (copies != null && copies[0] > 0) {
                copies[0]--;
            } else {
                out.emit(tick, 1, true, report == Report.BOTH ? sign : ++count, row.row());
            }
        }
    }

    /**
     * Emits a marker and all rows of `window` to `out` if it has a row that `previousWindow` lacks, else nothing. One
     * more copy of a row counts as such a row.
     */
    private static void emitIfGrown(long tick, List<RowKey> window, List<RowKey> previousWindow, Emitter out) {
        HashMap<RowKey, int[]> previousCounts = new HashMap<>(2 * previousWindow.size());
        for (RowKey row : previousWindow) {
            previousCounts.computeIfAbsent(row, unseen -> new int[1])[0]++;
        }
        boolean hasNewRow = false;
        for (RowKey row : window) {
            int[] copies = previousCounts.get(row);
            hasNewRow |= copies == null || --copies[0] < 0;
        }
        if (!hasNewRow) {
            return;
        }
        out.emit(tick, 1, false, 0, null);
        long position = 0;
        for (RowKey row : window) {
            out.emit(tick, 1, true, ++position, row.row().clone());
        }
    }

    /**
     * Sorts the input rows of a tick by the number of their window; returns the same list if they already are sorted.
     */
    private static List<InputRow> sortedBySeq(List<InputRow> inputs) {
        for (int i = 1; i < inputs.size(); i++) {
            if (inputs.get(i - 1).seq() > inputs.get(i).seq()) {
                ArrayList<InputRow> sorted = new ArrayList<>(inputs);
                sorted.sort(Comparator.comparingInt(InputRow::seq));
                return sorted;
            }
        }
        return inputs;
    }

    /** Whether the last window was the end marker of an idle key, which has sequence number 0: its state can be deleted. */
    public boolean isKeyEnded() {
        return isKeyEnded;
    }

    /** Passes to `visitor`, for inspection, the rows of the previous window. */
    @Override
    public void visit(StateVisitor visitor) {
        for (RowKey row : previous) {
            visitor.entry("row", 0, StateVisitor.NO_TICK, 1, row.row());
        }
    }

    /** Encodes the previous window and the number of emitted rows for Spark's state store. */
    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(count);
        writer.count(previous.size());
        for (RowKey row : previous) {
            writer.row(row.row());
        }
        return writer.toBytes();
    }

    /** The number of rows in the previous window, which is the state. */
    @Override
    public long held() {
        return previous.size();
    }
}
