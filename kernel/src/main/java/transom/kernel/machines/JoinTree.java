package transom.kernel.machines;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
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
     * One join in a tree of joins: its parameters, the numbers of its inputs (first the sides of the tree, then earlier
     * joins), and the columns that its result keeps.
     *
     * @param join the widths of the inputs and the join type
     * @param inputs the numbers of its inputs: sides, and from the number of sides on earlier joins
     * @param columns the columns of the joined rows that the result keeps, in this order
     */
    public record Step(DeltaJoin.Spec join, int[] inputs, int[] columns) {
        /** Returns the values of a joined row that the result of this join keeps. */
        Object[] select(Object[] row) {
            Object[] selected = new Object[columns.length];
            for (int i = 0; i < columns.length; i++) {
                selected[i] = row[columns[i]];
            }
            return selected;
        }
    }

    /**
     * The parameters of a tree of joins: the number of its sides, and its joins, each after those whose results it
     * reads.
     *
     * @param sides the number of sides
     * @param steps the joins
     */
    public record Spec(int sides, List<Step> steps) {}

    private final Spec spec;
    private final List<DeltaJoin> joins = new ArrayList<>();

    /** Creates the joins of a join tree for one key, with no rows on any side. */
    public JoinTree(Spec spec) {
        this.spec = spec;
        for (Step step : spec.steps) {
            joins.add(new DeltaJoin(step.join));
        }
    }

    /** Restores one key's join tree from `state`, the bytes that `save` returned. */
    public static JoinTree load(Spec spec, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "join tree");
        JoinTree machine = new JoinTree(spec);
        for (Map<RowKey, Long> bag : machine.bags()) {
            ChangeRows.readBag(reader, bag);
        }
        return machine;
    }

    /**
     * Applies a tick's changes to the joins of the tree in turn, and emits the changes of the last join's result to
     * `out`.
     */
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

    /**
     * Creates a change on one side of a join: the insertion of `count` copies of a row, or their retraction if it is
     * negative.
     */
    private static InputRow change(int side, int count, Object[] row) {
        return new InputRow(side, 1, true, count, null, null, row);
    }

    /**
     * Returns the current rows of each side of each join of the tree, as a map from each row to its number of copies.
     */
    private List<Map<RowKey, Long>> bags() {
        List<Map<RowKey, Long>> bags = new ArrayList<>();
        for (DeltaJoin join : joins) {
            bags.addAll(join.sides());
        }
        return bags;
    }

    /**
     * Passes to `visitor`, for inspection, the rows of each side of each join of the tree, with their counts; the sides
     * are numbered in turn.
     */
    @Override
    public void visit(StateVisitor visitor) {
        ChangeRows.visit(bags(), visitor);
    }

    /** Encodes the rows of all joins of the tree, with their counts, for Spark's state store. */
    @Override
    public byte[] save() {
        return ChangeRows.writeBags(LETTER, bags());
    }

    /** The number of rows in the state of all joins of the tree, counting duplicates. */
    @Override
    public long held() {
        return ChangeRows.countRows(bags());
    }

    /** Always true: a join tree without rows equals a new one, so that its state can be deleted. */
    @Override
    public boolean dropsEmptyState() {
        return true;
    }
}
