package transom.kernel.state;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.StateVisitor;

/** Emits changes of rows, and saves bags of rows. */
public final class ChangeRows {
    /** Prevents instantiation: all methods are static. */
    private ChangeRows() {}

    /**
     * Emits one window marker to `out` for a tick if the tick's inputs include at least one marker, otherwise nothing.
     */
    public static void emitMarker(long tick, List<InputRow> inputs, Emitter out) {
        for (InputRow input : inputs) {
            if (!input.present()) {
                out.emit(tick, 1, false, 0, null);
                return;
            }
        }
    }

    /**
     * Emits to `out`, as part of window `windowNumber` of a tick, each change of the changelog `changes` (row to signed
     * count) whose count is not 0, in ascending order of rows. Each row gets `appendedNulls` additional NULLs.
     */
    public static void emitChanges(
            long tick, int windowNumber, Map<RowKey, Long> changes, int appendedNulls, Emitter out) {
        List<Map.Entry<RowKey, Long>> changed = new ArrayList<>();
        for (Map.Entry<RowKey, Long> change : changes.entrySet()) {
            if (change.getValue() != 0) {
                changed.add(change);
            }
        }
        changed.sort((left, right) -> Values.compareRows(left.getKey().row(), right.getKey().row()));
        for (Map.Entry<RowKey, Long> change : changed) {
            out.emit(tick, windowNumber, true, change.getValue(), padWithNulls(change.getKey().row(), appendedNulls));
        }
    }

    /** Returns a copy of a row with `appendedNulls` NULLs appended, for the missing side of an outer join. */
    public static Object[] padWithNulls(Object[] row, int appendedNulls) {
        return Arrays.copyOf(row, row.length + appendedNulls);
    }

    /**
     * Encodes several bags of rows (maps from a row to its number of copies) as saved state; `machineLetter` identifies
     * the kind of state machine.
     */
    public static byte[] writeBags(char machineLetter, List<Map<RowKey, Long>> bags) {
        Codec.Writer writer = new Codec.Writer(machineLetter);
        for (Map<RowKey, Long> bag : bags) {
            writer.count(bag.size());
            for (Map.Entry<RowKey, Long> entry : bag.entrySet()) {
                writer.number(entry.getValue());
                writer.row(entry.getKey().row());
            }
        }
        return writer.toBytes();
    }

    /**
     * Restores one bag of rows, which `writeBags` has encoded, into the empty `bag`. It is a map from a row to its
     * number of copies.
     */
    public static void readBag(Codec.Reader reader, Map<RowKey, Long> bag) {
        for (int remaining = reader.count(); remaining > 0; remaining--) {
            long count = reader.number();
            bag.put(new RowKey(reader.row()), count);
        }
    }

    /**
     * Passes to `visitor`, for inspection, the rows of several bags, which are numbered as sides from 0, with their
     * numbers of copies.
     */
    public static void visit(List<Map<RowKey, Long>> bags, StateVisitor visitor) {
        for (int side = 0; side < bags.size(); side++) {
            for (Map.Entry<RowKey, Long> entry : bags.get(side).entrySet()) {
                visitor.entry(
                        "side",
                        side,
                        StateVisitor.NO_TICK,
                        entry.getValue(),
                        entry.getKey().row());
            }
        }
    }

    /** The number of rows in several bags (maps from a row to its number of copies), counting duplicates. */
    public static long countRows(List<Map<RowKey, Long>> bags) {
        long rows = 0;
        for (Map<RowKey, Long> bag : bags) {
            for (long count : bag.values()) {
                rows += count;
            }
        }
        return rows;
    }
}
