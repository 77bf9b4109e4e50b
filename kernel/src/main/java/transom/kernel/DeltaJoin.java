package transom.kernel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Joins relations of one key which arrive as changes: inner, left, semi, anti and mark joins.
 *
 * <p>All changes of a tick act at once. Every row of the key matches every other. What comes out is a pair (window 1)
 * or a left row (window 0); the place is a signed count. Keeps the rows of all sides.
 */
public final class DeltaJoin implements Machine {
    private static final char LETTER = 'T';
    private static final Set<String> WITH_PAIRS = Set.of("inner", "left", "candidates");

    /**
     * What a machine is told.
     *
     * @param widths the number of values of the rows of each side
     * @param emit inner, left, semi, anti, mark or candidates
     */
    public record Plan(int[] widths, String emit) {
        int padding() {
            int sum = 0;
            for (int at = 1; at < widths.length; at++) {
                sum += widths[at];
            }
            return emit.equals("left") || emit.equals("candidates") ? sum : 0;
        }
    }

    private final Plan plan;
    private final List<Map<RowKey, Long>> present;

    /** A machine that has seen nothing. */
    public DeltaJoin(Plan plan) {
        this.plan = plan;
        this.present = bags(plan.widths.length);
    }

    /** The machine as it was when it was saved. */
    public static DeltaJoin load(Plan plan, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "join");
        DeltaJoin machine = new DeltaJoin(plan);
        for (Map<RowKey, Long> side : machine.present) {
            Changes.load(reader, side);
        }
        return machine;
    }

    private static List<Map<RowKey, Long>> bags(int count) {
        List<Map<RowKey, Long>> made = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            made.add(new LinkedHashMap<>());
        }
        return made;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        Changes.putMarker(tick, arrivals, out);
        List<Map<RowKey, Long>> coming = bags(present.size());
        for (Arrival arrival : arrivals) {
            if (arrival.present()) {
                coming.get(arrival.side()).merge(new RowKey(arrival.row()), (long) arrival.sign(), Long::sum);
            }
        }
        boolean pairing = WITH_PAIRS.contains(plan.emit);
        boolean matched = !present.get(1).isEmpty();
        Map<RowKey, Long> pairs = new LinkedHashMap<>();
        for (int place = 0; place < coming.size(); place++) {
            if (pairing && !coming.get(place).isEmpty()) {
                multiply(coming, place, 0, new Object[0], 1, pairs);
            }
            apply(coming.get(place), present.get(place));
        }
        if (pairing) {
            Changes.put(tick, 1, pairs, 0, out);
        }
        if (!plan.emit.equals("inner")) {
            Changes.put(tick, 0, left(coming.get(0), matched), plan.padding(), out);
        }
    }

    /** The pairs of the changes of a side with all rows of the others. */
    private void multiply(
            List<Map<RowKey, Long>> coming, int place, int at, Object[] row, long count, Map<RowKey, Long> pairs) {
        if (at == present.size()) {
            pairs.merge(new RowKey(row), count, Long::sum);
            return;
        }
        Map<RowKey, Long> side = at == place ? coming.get(at) : present.get(at);
        for (Map.Entry<RowKey, Long> entry : side.entrySet()) {
            Object[] longer = Values.joined(row, entry.getKey().row());
            multiply(coming, place, at + 1, longer, count * entry.getValue(), pairs);
        }
    }

    /** The changes of left rows; `matched` says whether they matched before this tick. */
    private Map<RowKey, Long> left(Map<RowKey, Long> coming, boolean matched) {
        boolean now = !present.get(1).isEmpty();
        Map<RowKey, Long> found = new LinkedHashMap<>();
        if (plan.emit.equals("candidates") || plan.emit.equals("mark") && matched == now) {
            add(found, coming, 1, now);
        } else if (plan.emit.equals("mark")) {
            add(found, before(coming), -1, matched);
            add(found, present.get(0), 1, now);
        } else {
            boolean wanted = plan.emit.equals("semi");
            if (matched == now && now == wanted) {
                add(found, coming, 1, now);
            } else if (matched != now && now == wanted) {
                add(found, present.get(0), 1, now);
            } else if (matched != now) {
                add(found, before(coming), -1, matched);
            }
        }
        return found;
    }

    private void add(Map<RowKey, Long> found, Map<RowKey, Long> rows, long sign, boolean matched) {
        boolean marked = plan.emit.equals("mark");
        rows.forEach((row, count) -> {
            RowKey made = marked ? new RowKey(Values.joined(row.row(), new Object[] {matched})) : row;
            found.merge(made, sign * count, Long::sum);
        });
    }

    /** The left rows as they were before this tick. */
    private Map<RowKey, Long> before(Map<RowKey, Long> coming) {
        Map<RowKey, Long> found = new LinkedHashMap<>(present.get(0));
        coming.forEach((row, count) -> found.merge(row, -count, Long::sum));
        return found;
    }

    private static void apply(Map<RowKey, Long> changes, Map<RowKey, Long> side) {
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

    @Override
    public byte[] save() {
        return Changes.save(LETTER, present);
    }

    @Override
    public long held() {
        return Changes.held(present);
    }

    @Override
    public boolean forgets() {
        return true;
    }
}
