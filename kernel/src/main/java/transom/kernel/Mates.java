package transom.kernel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Brings relations of one key together which arrive as changes: changes of pairs, and of left rows without a partner.
 *
 * <p>All changes of a tick act at once. Every row of the key is a partner of every other. What comes out is a pair
 * (window 1) or a left row (window 0); the place is a signed count. Keeps the rows that are there.
 */
public final class Mates implements Machine {
    private static final char LETTER = 'T';
    private static final Set<String> WITH_PAIRS = Set.of("pairs", "outer", "asked");

    /**
     * What a machine is told.
     *
     * @param widths the number of values of the rows of each side
     * @param tell pairs, outer, lone, matched or asked
     */
    public record Plan(int[] widths, String tell) {
        int more() {
            int sum = 0;
            for (int at = 1; at < widths.length; at++) {
                sum += widths[at];
            }
            return WITH_PAIRS.contains(tell) ? sum : 0;
        }
    }

    private final Plan plan;
    private final List<Map<RowKey, Long>> present;

    /** A machine that has seen nothing. */
    public Mates(Plan plan) {
        this.plan = plan;
        this.present = bags(plan.widths.length);
    }

    /** The machine as it was when it was saved. */
    public static Mates load(Plan plan, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "mates");
        Mates machine = new Mates(plan);
        for (Map<RowKey, Long> side : machine.present) {
            for (int rest = reader.count(); rest > 0; rest--) {
                long count = reader.number();
                side.put(new RowKey(reader.row()), count);
            }
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
        List<Map<RowKey, Long>> coming = bags(present.size());
        for (Arrival arrival : arrivals) {
            if (arrival.present()) {
                coming.get(arrival.side()).merge(new RowKey(arrival.row()), (long) arrival.sign(), Long::sum);
            }
        }
        boolean pairing = WITH_PAIRS.contains(plan.tell);
        boolean covered = !present.get(1).isEmpty();
        Map<RowKey, Long> was = plan.tell.equals("pairs") ? Map.of() : new LinkedHashMap<>(present.get(0));
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
        if (!plan.tell.equals("pairs")) {
            Changes.put(tick, 0, lefts(coming.get(0), was, covered), plan.more(), out);
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

    private Map<RowKey, Long> lefts(Map<RowKey, Long> coming, Map<RowKey, Long> was, boolean covered) {
        if (plan.tell.equals("asked")) {
            return coming;
        }
        boolean wanted = plan.tell.equals("matched");
        Map<RowKey, Long> found = new LinkedHashMap<>();
        if (!present.get(1).isEmpty() == wanted) {
            found.putAll(present.get(0));
        }
        if (covered == wanted) {
            was.forEach((row, count) -> found.merge(row, -count, Long::sum));
        }
        return found;
    }

    private static void apply(Map<RowKey, Long> changes, Map<RowKey, Long> side) {
        for (Map.Entry<RowKey, Long> change : changes.entrySet()) {
            long count = side.getOrDefault(change.getKey(), 0L) + change.getValue();
            if (count < 0) {
                throw new IllegalStateException("a row goes that never came");
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
        Codec.Writer writer = new Codec.Writer(LETTER);
        for (Map<RowKey, Long> side : present) {
            writer.count(side.size());
            for (Map.Entry<RowKey, Long> entry : side.entrySet()) {
                writer.number(entry.getValue());
                writer.row(entry.getKey().row());
            }
        }
        return writer.done();
    }

    @Override
    public long held() {
        long held = 0;
        for (Map<RowKey, Long> side : present) {
            for (long count : side.values()) {
                held += count;
            }
        }
        return held;
    }

    @Override
    public boolean forgets() {
        return true;
    }
}
