package transom.kernel.machines;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.state.ChangeRows;
import transom.kernel.state.Codec;
import transom.kernel.state.RowKey;

/**
 * Runs several joins of one key in one operator: the result of a join is an input of the next. Each join gets the
 * changes of a tick from all its inputs at once, as it does in an operator of its own.
 */
public final class JoinTree implements Machine {
    private static final char LETTER = 'F';

    /**
     * One join of a tree: its parameters, its inputs and the columns of its result.
     *
     * @param join the widths of the inputs and the join type
     * @param inputs the numbers of its inputs: sides, and from the number of sides on earlier joins
     * @param columns the columns of the joined rows that the result keeps, in this order
     */
    public record Step(DeltaJoin.Spec join, int[] inputs, int[] columns) {
        /** The kept columns of a joined row. */
        Object[] select(Object[] row) {
            Object[] selected = new Object[columns.length];
            for (int i = 0; i < columns.length; i++) {
                selected[i] = row[columns[i]];
            }
            return selected;
        }
    }

    /**
     * The parameters of a tree: the number of its sides, and its joins, each after those that it reads.
     *
     * @param sides the number of sides
     * @param steps the joins
     */
    public record Spec(int sides, List<Step> steps) {}

    private final Spec spec;
    private final List<DeltaJoin> joins = new ArrayList<>();

    /** Creates the joins of one key, with no rows on any side. */
    public JoinTree(Spec spec) {
        this.spec = spec;
        for (Step step : spec.steps) {
            joins.add(new DeltaJoin(step.join));
        }
    }

    /** Restores the joins of one key from `state`, the bytes of `save`. */
    public static JoinTree load(Spec spec, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "join tree");
        JoinTree machine = new JoinTree(spec);
        for (Map<RowKey, Long> bag : machine.bags()) {
            ChangeRows.readBag(reader, bag);
        }
        return machine;
    }

    /** Applies `inputs`, the changes of one tick, to the joins in turn, and emits the changes of the last one. */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        ChangeRows.emitMarker(tick, inputs, out);
        List<List<InputRow>> outputs = new ArrayList<>();
        for (int i = 0; i < spec.sides; i++) {
            outputs.add(new ArrayList<>());
        }
        for (InputRow input : inputs) {
            if (input.present()) {
                outputs.get(input.side()).add(input);
            }
        }
        for (int i = 0; i < joins.size(); i++) {
            Step step = spec.steps.get(i);
            List<InputRow> arrivals = new ArrayList<>();
            for (int side = 0; side < step.inputs.length; side++) {
                for (InputRow row : outputs.get(step.inputs[side])) {
                    arrivals.add(change(side, row.sign(), row.row()));
                }
            }
            List<InputRow> result = new ArrayList<>();
            if (!arrivals.isEmpty()) {
                joins.get(i).feed(tick, arrivals, (when, seq, present, count, row) ->
                        result.add(change(0, Math.toIntExact(count), step.select(row))));
            }
            outputs.add(result);
        }
        for (InputRow row : outputs.get(outputs.size() - 1)) {
            out.emit(tick, 1, true, row.sign(), row.row());
        }
    }

    /** A change of a row: `count` copies are inserted, or retracted if it is negative, on a side of a join. */
    private static InputRow change(int side, int count, Object[] row) {
        return new InputRow(side, 1, true, count, null, null, row);
    }

    /** The bags of rows of all joins, in order. */
    private List<Map<RowKey, Long>> bags() {
        List<Map<RowKey, Long>> bags = new ArrayList<>();
        for (DeltaJoin join : joins) {
            bags.addAll(join.sides());
        }
        return bags;
    }

    /** Encodes the rows of all joins, with their counts, for Spark's state store. */
    @Override
    public byte[] save() {
        return ChangeRows.writeBags(LETTER, bags());
    }

    /** The number of rows in the state of all joins, counting duplicates. */
    @Override
    public long held() {
        return ChangeRows.countRows(bags());
    }

    /** Always true: joins without rows equal new ones, so that their state can be deleted. */
    @Override
    public boolean dropsEmptyState() {
        return true;
    }
}
