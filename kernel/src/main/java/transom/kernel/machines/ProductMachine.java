package transom.kernel.machines;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.Codec;
import transom.kernel.state.RowKey;
import transom.kernel.state.Values;

/**
 * Joins the current windows of two sides. The state is the current windows of both sides.
 *
 * <p>A side arrives as whole windows (markers and rows) or as changes (markers, insertions and retractions). All
 * windows of the last tick of a side are current; a tick may have several. There is no output until both sides have a
 * window. If both sides are relations that arrive as changes, there is output at every tick at which one of them has a
 * window, and a side without window is empty. The output is the pairs, the left rows with and without matches, or the
 * rows of both sides.
 */
public final class ProductMachine implements Machine {
    private static final char LETTER = 'P';

    /**
     * The parameters of a join of the current windows of two sides: whether each side arrives as changes or as whole
     * windows, the width of a right row, and the output: windows (of pairs), pairs, partners (left rows too) or both
     * (the rows of both sides).
     *
     * @param leftIsChanges whether the left side arrives as changes
     * @param rightIsChanges whether the right side arrives as changes
     * @param output windows, pairs, partners or both
     * @param rightWidth the number of values of a right row
     */
    public record Spec(boolean leftIsChanges, boolean rightIsChanges, String output, int rightWidth) {
        /** Checks the parameters. */
        public Spec {
            if (!List.of("windows", "pairs", "partners", "both").contains(output)) {
                throw new IllegalArgumentException(
                        "how must be windows, pairs, partners or both, not '" + output + "'");
            }
            if (!output.equals("windows") && !(leftIsChanges && rightIsChanges)) {
                throw new IllegalArgumentException("a relation is given as changes, not as windows");
            }
        }
    }

    private final Spec spec;
    private final ProductSide left;
    private final ProductSide right;

    /** Creates the state of the join of the current windows of two sides, neither of which has a window yet. */
    public ProductMachine(Spec spec) {
        this.spec = spec;
        left = side(spec.leftIsChanges());
        right = side(spec.rightIsChanges());
    }

    /**
     * Restores the join of two sides, with their current windows, from the bytes of `save`. Throws
     * IllegalStateException if a side arrives otherwise in `spec` than in the state.
     */
    public static ProductMachine load(Spec spec, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "product");
        ProductMachine machine = new ProductMachine(spec);
        for (ProductSide side : List.of(machine.left, machine.right)) {
            if (reader.flag() != side instanceof ProductSide.ChangeSide) {
                throw new IllegalStateException(
                        "the state of another product was given to product: start without the old state");
            }
            side.read(reader);
        }
        return machine;
    }

    /**
     * Creates one side of the join, without a window. Its current window is built from insertions and retractions if
     * `isChanges`, else replaced by each new window.
     */
    private static ProductSide side(boolean isChanges) {
        return isChanges ? new ProductSide.ChangeSide() : new ProductSide.WindowSide();
    }

    /**
     * Updates the current windows of both sides with the rows of a tick and, if one is new, emits the join of the
     * windows to `out`.
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        boolean hasNewWindow = left.update(inputs, 0) | right.update(inputs, 1);
        if (!spec.output().equals("windows")) {
            if (hasNewWindow) {
                emitRelations(tick, left.windows().get(0), right.windows().get(0), out);
            }
            return;
        }
        if (!hasNewWindow || !left.hasWindow() || !right.hasWindow()) {
            return;
        }
        List<List<ProductSide.OrderedRow>> leftWindows = left.windows();
        List<Map<RowKey, List<Object[]>>> rightWindows = new ArrayList<>();
        for (List<ProductSide.OrderedRow> window : right.windows()) {
            rightWindows.add(byKey(window));
        }
        int seq = 0;
        long position = 0;
        for (List<ProductSide.OrderedRow> leftWindow : leftWindows) {
            for (Map<RowKey, List<Object[]>> rightWindow : rightWindows) {
                out.emit(tick, ++seq, false, ++position, null);
                if (rightWindow.isEmpty()) {
                    continue;
                }
                for (ProductSide.OrderedRow row : leftWindow) {
                    for (Object[] match : rightWindow.getOrDefault(new RowKey(row.key), List.of())) {
                        out.emit(tick, seq, true, ++position, Values.concatRows(row.row, match));
                    }
                }
            }
        }
    }

    /**
     * Emits to `out` the rows of the current windows of both sides, joined as the specification asks. That is `pairs`;
     * `partners`, each left row padded with NULLs and followed by its matches; or `both`, the rows of each side
     * unjoined.
     */
    private void emitRelations(
            long tick, List<ProductSide.OrderedRow> leftRows, List<ProductSide.OrderedRow> rightRows, Emitter out) {
        long position = 0;
        out.emit(tick, 1, false, ++position, null);
        if (spec.output().equals("both")) {
            for (ProductSide.OrderedRow row : leftRows) {
                out.emit(tick, 0, true, ++position, row.row.clone());
            }
            for (ProductSide.OrderedRow row : rightRows) {
                out.emit(tick, 1, true, ++position, row.row.clone());
            }
            return;
        }
        Map<RowKey, List<Object[]>> matches = byKey(rightRows);
        boolean partners = spec.output().equals("partners");
        Object[] nullRow = new Object[spec.rightWidth()];
        long number = 0;
        for (ProductSide.OrderedRow row : leftRows) {
            number++;
            if (partners) {
                out.emit(tick, 0, true, number, Values.concatRows(row.row, nullRow));
            }
            for (Object[] match : matches.getOrDefault(new RowKey(row.key), List.of())) {
                out.emit(tick, 1, true, partners ? number : ++position, Values.concatRows(row.row, match));
            }
        }
    }

    /** Groups the rows of one window by join key, for the lookup of matches. */
    private static Map<RowKey, List<Object[]>> byKey(List<ProductSide.OrderedRow> rows) {
        Map<RowKey, List<Object[]>> result = new HashMap<>();
        for (ProductSide.OrderedRow row : rows) {
            result.computeIfAbsent(new RowKey(row.key), unseen -> new ArrayList<>()).add(row.row);
        }
        return result;
    }

    /** Passes to `visitor`, for inspection, the rows of the current windows of both sides. */
    @Override
    public void visit(StateVisitor visitor) {
        for (ProductSide side : List.of(left, right)) {
            if (side instanceof ProductSide.ChangeSide || side.hasWindow()) {
                for (List<ProductSide.OrderedRow> window : side.windows()) {
                    for (ProductSide.OrderedRow row : window) {
                        visitor.entry("side", side == left ? 0 : 1, StateVisitor.NO_TICK, 1, row.row);
                    }
                }
            }
        }
    }

    /** Encodes the current windows of both sides of the join for Spark's state store. */
    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        for (ProductSide side : List.of(left, right)) {
            writer.flag(side instanceof ProductSide.ChangeSide);
            side.write(writer);
        }
        return writer.toBytes();
    }

    /** The number of rows in the current windows of both sides of the join. */
    @Override
    public long held() {
        return left.held() + right.held();
    }
}
