package transom.kernel.machines;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.ChangeRows;
import transom.kernel.state.Codec;
import transom.kernel.state.RowKey;
import transom.kernel.state.Values;

/**
 * Counts the copies and the matches of one left row.
 *
 * <p>Side 0 has the changes of the row, side 1 the changes of the pairs that match it. All changes of a tick apply at
 * once. The output is changes of pairs (window 1) and of the row (window 0), with signed counts.
 */
public final class MatchCounter implements Machine {
    private static final char LETTER = 'V';

    private final String joinType;
    private final int appendedNulls;
    private long copies;
    private long matches;
    private long emittedUnmatched;
    private long emittedMatched;
    private Object[] row;

    /**
     * Creates the counter of the copies and matches of one distinct left row of a join; `joinType` is the join type
     * (left, semi, anti, mark for a boolean: has a match, distinct or numbered copies), and `appendedNulls` is the
     * number of NULLs appended to an emitted left row.
     */
    public MatchCounter(String joinType, int appendedNulls) {
        this.joinType = joinType;
        this.appendedNulls = appendedNulls;
    }

    /**
     * Restores the counter of the copies and matches of one left row from the bytes of `save`; `joinType` is the join
     * type (left, semi, anti, mark for a boolean: has a match, distinct or numbered copies), and `appendedNulls` is the
     * number of NULLs appended to an emitted left row.
     */
    public static MatchCounter load(String joinType, int appendedNulls, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "matches");
        MatchCounter machine = new MatchCounter(joinType, appendedNulls);
        machine.copies = reader.number();
        machine.matches = reader.number();
        machine.emittedUnmatched = reader.number();
        machine.emittedMatched = reader.number();
        machine.row = reader.row();
        return machine;
    }

    /**
     * Applies a tick's changes of the left row and of its joined pairs, and emits the resulting changes of the join to
     * `out`. In the input, side 0 is the left row and side 1 the pairs; in the output, left rows are in window 0 and,
     * for a left join, pairs in window 1.
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        ChangeRows.emitMarker(tick, inputs, out);
        Map<RowKey, Long> pairs = new LinkedHashMap<>();
        for (InputRow input : inputs) {
            if (!input.present()) {
                continue;
            }
            if (input.side() == 1) {
                matches += input.sign();
                pairs.merge(new RowKey(input.row()), (long) input.sign(), Long::sum);
                continue;
            }
            copies += input.sign();
            if (row == null) {
                row = input.row();
            }
        }
        if (copies < 0 || matches < 0) {
            String retracted = copies < 0 ? "row" : "pair";
            throw new IllegalStateException("a " + retracted + " is retracted that was never added");
        }
        if (joinType.equals("left")) {
            ChangeRows.emitChanges(tick, 1, pairs, 0, out);
        }
        long unmatched = 0;
        long matched = 0;
        switch (joinType) {
            case "distinct" -> unmatched = Math.min(copies, 1);
            case "semi" -> matched = matches != 0 ? copies : 0;
            case "mark" -> {
                matched = matches != 0 ? copies : 0;
                unmatched = copies - matched;
            }
            case "numbered" -> unmatched = copies;
            default -> unmatched = matches != 0 ? 0 : copies;
        }
        if (row != null && joinType.equals("numbered")) {
            emitNumbered(tick, out);
        } else if (row != null) {
            emitCopies(tick, unmatched - emittedUnmatched, false, out);
            emitCopies(tick, matched - emittedMatched, true, out);
        }
        emittedUnmatched = unmatched;
        emittedMatched = matched;
        if (held() == 0) {
            row = null;
        }
    }

    /**
     * Emits to `out` the insertion of each new copy and the retraction of each removed copy of the left row, with the
     * copy's number. Numbers start at 0 and are an additional value of the row.
     */
    private void emitNumbered(long tick, Emitter out) {
        for (long copy = emittedUnmatched; copy < copies; copy++) {
            out.emit(tick, 0, true, 1, Values.concatRows(row, new Object[] {copy}));
        }
        for (long copy = copies; copy < emittedUnmatched; copy++) {
            out.emit(tick, 0, true, -1, Values.concatRows(row, new Object[] {copy}));
        }
    }

    /**
     * Emits to `out` the insertion of `count` copies of the left row, or their retraction if `count` is negative; a
     * mark join appends `matched` (has the left row a match?) to the row. Other joins append the NULLs of an outer
     * join. With a count of 0 it emits nothing.
     */
    private void emitCopies(long tick, long count, boolean matched, Emitter out) {
        if (count != 0) {
            Object[] result = joinType.equals("mark")
                    ? Values.concatRows(row, new Object[] {matched})
                    : ChangeRows.padWithNulls(row, appendedNulls);
            out.emit(tick, 0, true, count, result);
        }
    }

    /**
     * Passes to `visitor`, for inspection, the left row with the number of its copies, then the number of its matches.
     */
    @Override
    public void visit(StateVisitor visitor) {
        visitor.entry("row", 0, StateVisitor.NO_TICK, copies, row);
        visitor.entry("matches", 0, StateVisitor.NO_TICK, matches, null);
    }

    /**
     * Encodes the left row and the numbers of its copies, its matches and its emitted copies for Spark's state store.
     */
    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(copies);
        writer.number(matches);
        writer.number(emittedUnmatched);
        writer.number(emittedMatched);
        writer.row(row);
        return writer.toBytes();
    }

    /** The number of rows in the state: 1 if the left row has copies or matches, otherwise 0. */
    @Override
    public long held() {
        return copies == 0 && matches == 0 ? 0 : 1;
    }

    /** Always true: a counter without copies and matches equals a new one, so that its state can be deleted. */
    @Override
    public boolean dropsEmptyState() {
        return true;
    }
}
