package transom.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Aggregates one group of rows which arrive as changes, retracted in any order.
 *
 * <p>All changes of a tick act at once. What comes out is the old row with the count -1 and the new one with 1, if they
 * differ. Keeps counts and exact sums, and for MIN, MAX, SAMPLE, GROUP_CONCAT and DISTINCT all different values.
 */
public final class GroupAggregate implements Machine {
    /** A term is six values: itself, its sort key, its characters, and as a number its kind, exact and floating value. */
    static final int TERM_CELLS = 6;

    private static final char LETTER = 'A';
    private static final String TERM = "term";

    /**
     * One aggregate.
     *
     * @param function count, sum, avg, min, max, and of terms sample or concat
     * @param type the type of the values
     * @param argument where they begin in a row, or -1
     * @param distinct whether equal values count once
     * @param separator what stands between the values of concat
     */
    private record Aggregate(String function, String type, int argument, boolean distinct, String separator) {
        boolean isTerm() {
            return type.equals(TERM);
        }

        boolean keepsValues() {
            return distinct || List.of("min", "max", "sample", "concat").contains(function);
        }

        GroupTotal total() {
            if (function.equals("sum") || function.equals("avg")) {
                return isTerm() ? new GroupTotal.OfTerms(function.equals("avg")) : new GroupTotal.OfValues(function, type);
            }
            boolean counts = function.equals("count") && argument >= 0 && !distinct;
            return counts ? new GroupTotal.OfValues(function, type) : null;
        }
    }

    /** What a machine is told: how many values are the key, whether the group exists without rows, the aggregates. */
    public static final class Plan {
        private final int keys;
        private final boolean whole;
        private final List<Aggregate> aggregates = new ArrayList<>();
        private final TreeMap<Integer, Boolean> arguments = new TreeMap<>();

        /** The plan in a specification. */
        public Plan(JsonNode entries) {
            keys = entries.path("keys").asInt();
            whole = entries.path("whole").asBoolean();
            for (JsonNode one : entries.path("aggregates")) {
                Aggregate aggregate = new Aggregate(
                        one.path("function").asText(),
                        one.path("type").asText(),
                        one.path("argument").asInt(-1),
                        one.path("distinct").asBoolean(),
                        one.path("separator").asText());
                aggregates.add(aggregate);
                if (aggregate.keepsValues()) {
                    arguments.put(aggregate.argument, aggregate.isTerm());
                }
            }
        }
    }

    private final Plan plan;
    private final List<GroupTotal> totals = new ArrayList<>();
    private final Map<Integer, Multiset> bags = new TreeMap<>();
    private long rows;
    private Object[] key = {};
    private Object[] emitted;

    /** A machine that has seen nothing. */
    public GroupAggregate(Plan plan) {
        this.plan = plan;
        for (Aggregate aggregate : plan.aggregates) {
            totals.add(aggregate.total());
        }
        for (int argument : plan.arguments.keySet()) {
            bags.put(argument, new Multiset());
        }
    }

    /** The machine as it was when it was saved. */
    public static GroupAggregate load(Plan plan, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "groups");
        GroupAggregate machine = new GroupAggregate(plan);
        machine.rows = reader.number();
        machine.key = reader.row();
        machine.emitted = reader.row();
        for (GroupTotal total : machine.totals) {
            if (total != null) {
                total.read(reader);
            }
        }
        for (Multiset bag : machine.bags.values()) {
            bag.read(reader);
        }
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        Changes.putMarker(tick, arrivals, out);
        for (Arrival arrival : arrivals) {
            if (arrival.present()) {
                rows += arrival.sign();
                key = Arrays.copyOf(arrival.row(), plan.keys);
                add(arrival.row(), arrival.sign());
            }
        }
        check();
        Object[] before = emitted;
        emitted = rows != 0 || plan.whole ? row() : null;
        if (before != null && emitted != null && Values.sameRows(before, emitted)) {
            return;
        }
        if (before != null) {
            out.put(tick, 1, true, -1, before);
        }
        if (emitted != null) {
            out.put(tick, 1, true, 1, emitted);
        }
    }

    private void add(Object[] row, long count) {
        Map<Integer, Long> steps = new TreeMap<>();
        bags.forEach((argument, bag) -> {
            boolean isTerm = plan.arguments.get(argument);
            Object value = row[argument];
            if (isTerm && value != null) {
                value = new Object[] {row[argument + 1], value};
            } else if (value instanceof Double number) {
                value = number + 0.0; // -0.0 is 0.0
            }
            steps.put(argument, bag.add(value, count, isTerm ? (String) row[argument + 2] : null));
        });
        for (int place = 0; place < totals.size(); place++) {
            Aggregate aggregate = plan.aggregates.get(place);
            if (totals.get(place) != null) {
                long copies = aggregate.distinct ? steps.get(aggregate.argument) : count;
                if (copies != 0) {
                    totals.get(place).add(row, aggregate.argument, copies);
                }
            }
        }
    }

    private void check() {
        boolean valid = rows >= 0;
        for (Multiset bag : bags.values()) {
            valid &= bag.valid();
        }
        for (GroupTotal total : totals) {
            valid &= total == null || total.valid();
        }
        if (!valid) {
            throw new IllegalStateException("a row is retracted that was never added");
        }
    }

    /** The key and the aggregates. */
    private Object[] row() {
        List<Object> row = new ArrayList<>(Arrays.asList(key));
        for (int place = 0; place < totals.size(); place++) {
            Aggregate aggregate = plan.aggregates.get(place);
            if (totals.get(place) != null) {
                totals.get(place).put(row);
            } else {
                row.add(aggregate.argument < 0 ? (Object) rows : ofValues(aggregate, bags.get(aggregate.argument)));
            }
        }
        return row.toArray();
    }

    /** An aggregate of a multiset of values, or of terms with their sort keys before them. */
    private static Object ofValues(Aggregate aggregate, Multiset bag) {
        if (aggregate.function.equals("count")) {
            return bag.size();
        }
        if (aggregate.isTerm() && bag.isMissing() && !aggregate.function.equals("sample")) {
            return null;
        }
        if (aggregate.function.equals("concat")) {
            return concatenated(aggregate, bag);
        }
        Object found = bag.end(aggregate.function.equals("max"));
        return aggregate.isTerm() && found != null ? ((Object[]) found)[1] : found;
    }

    /** The characters of all terms in order; null if a term has none. */
    private static String concatenated(Aggregate aggregate, Multiset bag) {
        List<String> parts = new ArrayList<>();
        bag.labels((label, count) -> {
            for (long copy = aggregate.distinct ? count : 1; copy <= count; copy++) {
                parts.add(label);
            }
        });
        return parts.contains(null) ? null : String.join(aggregate.separator, parts);
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(rows);
        writer.row(key);
        writer.row(emitted);
        for (GroupTotal total : totals) {
            if (total != null) {
                total.write(writer);
            }
        }
        for (Multiset bag : bags.values()) {
            bag.write(writer);
        }
        return writer.done();
    }

    @Override
    public long held() {
        return bags.isEmpty() ? Math.min(rows, 1) : rows;
    }

    @Override
    public boolean forgets() {
        return !plan.whole;
    }
}
