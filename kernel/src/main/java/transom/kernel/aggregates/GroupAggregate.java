package transom.kernel.aggregates;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.ChangeRows;
import transom.kernel.state.Codec;
import transom.kernel.state.Multiset;
import transom.kernel.state.Values;

/**
 * Aggregates one group of a changelog, with retraction in any order.
 *
 * <p>All changes of a tick apply at once. If the result differs, the machine retracts the old row (count -1) and emits
 * the new one (count 1). The state holds counts and exact sums, and all distinct values for MIN, MAX, SAMPLE,
 * GROUP_CONCAT and DISTINCT.
 */
public final class GroupAggregate implements Machine {
    /** A term has six values: the term, its sort key, its string, and the kind, exact and float value of a number. */
    static final int TERM_CELLS = 6;

    private static final char LETTER = 'A';
    private static final String TERM = "term";

    /**
     * Describes one aggregate of a GROUP BY: its function, value type, argument, DISTINCT and separator; `argument` is
     * an index in a row, -1 for COUNT of all rows; `separator` is that of GROUP_CONCAT.
     *
     * @param function count, sum, avg, min, max; for terms also sample and concat
     * @param type the type of the values
     * @param argument the index of the first value in a row, or -1
     * @param distinct whether duplicates are ignored
     * @param separator the separator of concat
     */
    private record Aggregate(String function, String type, int argument, boolean distinct, String separator) {
        /**
         * Whether the argument is an RDF term. A term takes six consecutive values of a row: the term, its sort key,
         * its string, and three for its number.
         */
        boolean isTerm() {
            return type.equals(TERM);
        }

        /**
         * Whether the state must hold all distinct values, as for DISTINCT, MIN, MAX, SAMPLE and GROUP_CONCAT. For
         * other aggregates a count and a sum suffice.
         */
        boolean keepsValues() {
            return distinct || List.of("min", "max", "sample", "concat").contains(function);
        }

        /**
         * Creates the empty running count or sum of this aggregate; null if it needs none. MIN, MAX, SAMPLE,
         * GROUP_CONCAT, COUNT(DISTINCT) and COUNT(*) need only the multiset of values or the row count.
         */
        RetractableSum newTotal() {
            if (function.equals("sum") || function.equals("avg")) {
                return isTerm()
                        ? new RetractableSum.OfTerms(function.equals("avg"))
                        : new RetractableSum.OfValues(function, type);
            }
            boolean counts = function.equals("count") && argument >= 0 && !distinct;
            return counts ? new RetractableSum.OfValues(function, type) : null;
        }
    }

    /** The number of key values, whether the group exists without rows (no GROUP BY), and the aggregates. */
    public static final class Spec {
        private final int keyCount;
        private final boolean isGlobal;
        private final List<Aggregate> aggregates = new ArrayList<>();
        private final TreeMap<Integer, Boolean> arguments = new TreeMap<>();

        /**
         * Parses the JSON specification of a GROUP BY. It has the number of key values at the front of a row, whether
         * there is no GROUP BY clause, and the aggregates.
         */
        public Spec(JsonNode entries) {
            keyCount = entries.path("keys").asInt();
            isGlobal = entries.path("whole").asBoolean();
            for (JsonNode entry : entries.path("aggregates")) {
                Aggregate aggregate = new Aggregate(
                        entry.path("function").asText(),
                        entry.path("type").asText(),
                        entry.path("argument").asInt(-1),
                        entry.path("distinct").asBoolean(),
                        entry.path("separator").asText());
                aggregates.add(aggregate);
                if (aggregate.keepsValues()) {
                    arguments.put(aggregate.argument, aggregate.isTerm());
                }
            }
        }
    }

    private final Spec spec;
    private final List<RetractableSum> totals = new ArrayList<>();
    private final Map<Integer, Multiset> multisets = new TreeMap<>();
    private long rows;
    private Object[] key = {};
    private Object[] emitted;

    /** Creates the aggregates of one group that has no rows yet. */
    public GroupAggregate(Spec spec) {
        this.spec = spec;
        for (Aggregate aggregate : spec.aggregates) {
            totals.add(aggregate.newTotal());
        }
        for (int argument : spec.arguments.keySet()) {
            multisets.put(argument, new Multiset());
        }
    }

    /** Restores the aggregates of one group from the bytes of `save`; `spec` describes the aggregates. */
    public static GroupAggregate load(Spec spec, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "groups");
        GroupAggregate machine = new GroupAggregate(spec);
        machine.rows = reader.number();
        machine.key = reader.row();
        machine.emitted = reader.row();
        for (RetractableSum total : machine.totals) {
            if (total != null) {
                total.read(reader);
            }
        }
        for (Multiset multiset : machine.multisets.values()) {
            multiset.read(reader);
        }
        return machine;
    }

    /**
     * Applies a tick's insertions and retractions to the group, and emits the change of the group's result row to
     * `out`. A change is the retraction of the old row (count -1) and the insertion of the new row (count 1).
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        ChangeRows.emitMarker(tick, inputs, out);
        for (InputRow input : inputs) {
            if (input.present()) {
                rows += input.sign();
                key = Arrays.copyOf(input.row(), spec.keyCount);
                addRow(input.row(), input.sign());
            }
        }
        checkCounts();
        Object[] previouslyEmitted = emitted;
        emitted = rows != 0 || spec.isGlobal ? currentRow() : null;
        if (previouslyEmitted != null && emitted != null && Values.sameRows(previouslyEmitted, emitted)) {
            return;
        }
        if (previouslyEmitted != null) {
            out.emit(tick, 1, true, -1, previouslyEmitted);
        }
        if (emitted != null) {
            out.emit(tick, 1, true, 1, emitted);
        }
    }

    /** Adds `count` copies of an input row to all aggregates of the group, or retracts them if `count` is negative. */
    private void addRow(Object[] row, long count) {
        Map<Integer, Long> distinctChanges = new TreeMap<>();
        multisets.forEach((argument, multiset) -> {
            boolean isTerm = spec.arguments.get(argument);
            Object value = row[argument];
            if (isTerm && value != null) {
                value = new Object[] {row[argument + 1], value};
            } else if (value instanceof Double number) {
                value = number + 0.0; // -0.0 becomes 0.0
            }
            distinctChanges.put(argument, multiset.add(value, count, isTerm ? (String) row[argument + 2] : null));
        });
        for (int i = 0; i < totals.size(); i++) {
            Aggregate aggregate = spec.aggregates.get(i);
            if (totals.get(i) != null) {
                long copies = aggregate.distinct ? distinctChanges.get(aggregate.argument) : count;
                if (copies != 0) {
                    totals.get(i).add(row, aggregate.argument, copies);
                }
            }
        }
    }

    /**
     * Throws IllegalStateException if any count of the group is negative, because a row was retracted that was never
     * inserted.
     */
    private void checkCounts() {
        boolean valid = rows >= 0;
        for (Multiset multiset : multisets.values()) {
            valid &= multiset.isValid();
        }
        for (RetractableSum total : totals) {
            valid &= total == null || total.isValid();
        }
        if (!valid) {
            throw new IllegalStateException("a row is retracted that was never added");
        }
    }

    /** Returns the group's current result row: the values of its key, then the result of each aggregate. */
    private Object[] currentRow() {
        List<Object> row = new ArrayList<>(Arrays.asList(key));
        for (int i = 0; i < totals.size(); i++) {
            Aggregate aggregate = spec.aggregates.get(i);
            if (totals.get(i) != null) {
                totals.get(i).appendTo(row);
            } else {
                Multiset multiset = multisets.get(aggregate.argument);
                row.add(aggregate.argument < 0 ? (Object) rows : multisetAggregate(aggregate, multiset));
            }
        }
        return row.toArray();
    }

    /**
     * Computes COUNT DISTINCT, MIN, MAX, SAMPLE or GROUP_CONCAT from the multiset of a group's values. The result is
     * null for MIN, MAX and SAMPLE without values, and also for RDF terms if one is NULL (except SAMPLE and COUNT).
     */
    private static Object multisetAggregate(Aggregate aggregate, Multiset multiset) {
        if (aggregate.function.equals("count")) {
            return multiset.size();
        }
        if (aggregate.isTerm() && multiset.hasNull() && !aggregate.function.equals("sample")) {
            return null;
        }
        if (aggregate.function.equals("concat")) {
            return concatTerms(aggregate, multiset);
        }
        Object extreme = multiset.extreme(aggregate.function.equals("max"));
        return aggregate.isTerm() && extreme != null ? ((Object[]) extreme)[1] : extreme;
    }

    /**
     * Computes GROUP_CONCAT: the strings of all RDF terms in `multiset`, in ascending order and joined by the
     * separator. DISTINCT takes each string once; the result is null if a term has no string.
     */
    private static String concatTerms(Aggregate aggregate, Multiset multiset) {
        List<String> parts = new ArrayList<>();
        multiset.forEachLabel((label, count) -> {
            for (long copy = aggregate.distinct ? count : 1; copy <= count; copy++) {
                parts.add(label);
            }
        });
        return parts.contains(null) ? null : String.join(aggregate.separator, parts);
    }

    /**
     * Passes to `visitor`, for inspection, the last result row with the number of the group's rows, then the values
     * that the group keeps.
     */
    @Override
    public void visit(StateVisitor visitor) {
        visitor.entry("group", 0, StateVisitor.NO_TICK, rows, emitted);
        multisets.forEach((argument, multiset) -> multiset.visit(argument, visitor));
    }

    /**
     * Encodes the group for Spark's state store: its row count, key, last emitted result row, sums and multisets of
     * values.
     */
    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(rows);
        writer.row(key);
        writer.row(emitted);
        for (RetractableSum total : totals) {
            if (total != null) {
                total.write(writer);
            }
        }
        for (Multiset multiset : multisets.values()) {
            multiset.write(writer);
        }
        return writer.toBytes();
    }

    /**
     * The number of rows in the group's state: all its input rows if it keeps values, otherwise at most 1. Values are
     * kept for MIN, DISTINCT and others.
     */
    @Override
    public long held() {
        return multisets.isEmpty() ? Math.min(rows, 1) : rows;
    }

    /**
     * Whether the state of a group without rows can be deleted: only with GROUP BY, since the single group without it
     * always has a result.
     */
    @Override
    public boolean dropsEmptyState() {
        return !spec.isGlobal;
    }
}
