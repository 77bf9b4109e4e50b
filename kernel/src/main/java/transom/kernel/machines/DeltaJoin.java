package transom.kernel.machines;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.ChangeRows;
import transom.kernel.state.Codec;
import transom.kernel.state.RowKey;
import transom.kernel.state.Values;

/**
 * Joins the changelogs of relations for one key: inner, left, semi, anti and mark joins.
 *
 * <p>All changes of a tick apply at once. Within the key, every row matches every row of the other sides. The output is
 * changes of pairs (window 1) and of left rows (window 0), with signed counts. The state holds the rows of all sides.
 */
public final class DeltaJoin implements Machine {
    private static final char LETTER = 'T';
    private static final Set<String> WITH_PAIRS = Set.of("inner", "left", "candidates");

    /**
     * The parameters of a join of changelogs: the number of values of each side's rows, and the join type: inner, left,
     * semi, anti, mark (left rows with a boolean: has a match) or candidates (left rows and pairs).
     *
     * @param widths the number of values per side
     * @param joinType inner, left, semi, anti, mark or candidates
     */
    public record Spec(int[] widths, String joinType) {
        /**
         * The number of NULLs appended to a left row without a match. It is the number of values of all other sides for
         * a left join or candidates, otherwise 0.
         */
        int padding() {
            int sum = 0;
            for (int i = 1; i < widths.length; i++) {
                sum += widths[i];
            }
            return joinType.equals("left") || joinType.equals("candidates") ? sum : 0;
        }
    }

    private final Spec spec;
    private final List<Map<RowKey, Long>> sides;

    /** Creates the state of the join of one join key, with no rows on any side. */
    public DeltaJoin(Spec spec) {
        this.spec = spec;
        this.sides = emptyBags(spec.widths.length);
    }

    /**
     * Restores the state of the join of one join key, with the current rows of all its sides, from the bytes of `save`.
     * `spec` has the widths of the sides and the join type.
     */
    public static DeltaJoin load(Spec spec, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "join");
        DeltaJoin machine = new DeltaJoin(spec);
        for (Map<RowKey, Long> side : machine.sides) {
            ChangeRows.readBag(reader, side);
        }
        return machine;
    }

    /** Creates `count` empty bags; a bag is a map from each distinct row to its number of copies. */
    private static List<Map<RowKey, Long>> emptyBags(int count) {
        List<Map<RowKey, Long>> bags = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            bags.add(new LinkedHashMap<>());
        }
        return bags;
    }

    /**
     * Applies the insertions and retractions of one tick to the sides, and emits the resulting changes of the join to
     * `out`. Changes of joined pairs are in window 1, those of left rows in window 0.
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        ChangeRows.emitMarker(tick, inputs, out);
        List<Map<RowKey, Long>> changes = emptyBags(sides.size());
        for (InputRow input : inputs) {
            if (input.present()) {
                changes.get(input.side()).merge(new RowKey(input.row()), (long) input.sign(), Long::sum);
            }
        }
        boolean pairing = WITH_PAIRS.contains(spec.joinType);
        boolean wasMatched = !sides.get(1).isEmpty();
        Map<RowKey, Long> pairs = new LinkedHashMap<>();
        for (int i = 0; i < changes.size(); i++) {
            if (pairing && !changes.get(i).isEmpty()) {
                joinSides(changes, i, 0, new Object[0], 1, pairs);
            }
            applyChanges(changes.get(i), sides.get(i));
        }
        if (pairing) {
            ChangeRows.emitChanges(tick, 1, pairs, 0, out);
        }
        if (!spec.joinType.equals("inner")) {
            ChangeRows.emitChanges(tick, 0, leftChanges(changes.get(0), wasMatched), spec.padding(), out);
        }
    }

    /**
     * Adds to the changelog `pairs`, recursively from side `nextSide` on, every combination of a change of
     * `changedSide` with the current rows of all other sides; `prefix` has the values of the sides before `nextSide`,
     * and `prefixCount` the product of their counts. `changes` has a changelog per side.
     */
    private void joinSides(
            List<Map<RowKey, Long>> changes,
            int changedSide,
            int nextSide,
            Object[] prefix,
            long prefixCount,
            Map<RowKey, Long> pairs) {
        if (nextSide == sides.size()) {
            pairs.merge(new RowKey(prefix), prefixCount, Long::sum);
            return;
        }
        Map<RowKey, Long> side = nextSide == changedSide ? changes.get(nextSide) : sides.get(nextSide);
        for (Map.Entry<RowKey, Long> entry : side.entrySet()) {
            Object[] extended = Values.concatRows(prefix, entry.getKey().row());
            joinSides(changes, changedSide, nextSide + 1, extended, prefixCount * entry.getValue(), pairs);
        }
    }

    /**
     * Returns the insertions and retractions of left rows that the join emits at this tick, as a map from row to signed
     * count; `wasMatched` says whether the right side had rows before the tick. That is for a left, semi, anti, mark or
     * candidates join; `changes` are those of the left side's input.
     */
    private Map<RowKey, Long> leftChanges(Map<RowKey, Long> changes, boolean wasMatched) {
        boolean isMatched = !sides.get(1).isEmpty();
        Map<RowKey, Long> result = new LinkedHashMap<>();
        if (spec.joinType.equals("candidates") || spec.joinType.equals("mark") && wasMatched == isMatched) {
            addSigned(result, changes, 1, isMatched);
        } else if (spec.joinType.equals("mark")) {
            addSigned(result, leftBefore(changes), -1, wasMatched);
            addSigned(result, sides.get(0), 1, isMatched);
        } else {
            boolean isSemi = spec.joinType.equals("semi");
            if (wasMatched == isMatched && isMatched == isSemi) {
                addSigned(result, changes, 1, isMatched);
            } else if (wasMatched != isMatched && isMatched == isSemi) {
                addSigned(result, sides.get(0), 1, isMatched);
            } else if (wasMatched != isMatched) {
                addSigned(result, leftBefore(changes), -1, wasMatched);
            }
        }
        return result;
    }

    /**
     * Adds `rows` to the changelog `result`, as insertions if `sign` is 1 or as retractions if it is -1; a mark join
     * appends `matched` (has the right side rows?) to each row, other joins ignore it.
     */
    private void addSigned(Map<RowKey, Long> result, Map<RowKey, Long> rows, long sign, boolean matched) {
        boolean isMark = spec.joinType.equals("mark");
        rows.forEach((row, count) -> {
            RowKey marked = isMark ? new RowKey(Values.concatRows(row.row(), new Object[] {matched})) : row;
            result.merge(marked, sign * count, Long::sum);
        });
    }

    /** Returns the left rows as they were before this tick, by undoing the tick's `changes` of the current rows. */
    private Map<RowKey, Long> leftBefore(Map<RowKey, Long> changes) {
        Map<RowKey, Long> result = new LinkedHashMap<>(sides.get(0));
        changes.forEach((row, count) -> result.merge(row, -count, Long::sum));
        return result;
    }

    /**
     * Adds the counts of a tick's `changes` to the rows of one side of the join. Throws IllegalStateException if a row
     * is retracted that was never inserted.
     */
    private static void applyChanges(Map<RowKey, Long> changes, Map<RowKey, Long> side) {
        for (Map.Entry<RowKey, Long> change : changes.entrySet()) {
            long count = side.getOrDefault(change.getKey(), 0L) + change.getValue();
            if (count < 0) {
                throw new IllegalStateException("a row is retracted that was never added");
            }
            if (count == 0) {
                side.remove(change.getKey());
            } else {
                side.put(change.getKey(), count);
            }
        }
    }

    /** Returns the current rows of each side of the join, as a map from each row to its number of copies. */
    List<Map<RowKey, Long>> sides() {
        return sides;
    }

    /** Passes to `visitor`, for inspection, the current rows of all sides of the join, with their counts. */
    @Override
    public void visit(StateVisitor visitor) {
        ChangeRows.visit(sides, visitor);
    }

    /** Encodes the current rows of all sides of the join, with their counts, for Spark's state store. */
    @Override
    public byte[] save() {
        return ChangeRows.writeBags(LETTER, sides);
    }

    /** The number of current rows on all sides of the join, counting duplicates. */
    @Override
    public long held() {
        return ChangeRows.countRows(sides);
    }

    /** Always true: a join without rows equals a new one, so that its state can be deleted. */
    @Override
    public boolean dropsEmptyState() {
        return true;
    }
}
