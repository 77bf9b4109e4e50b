package transom.kernel;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;

/**
 * Compares consecutive windows: windows in order in, what came or what went out, numbered; keeps the previous window.
 *
 * <p>Several windows of one tick are compared in their order. The window 0 says that the key is over: nothing is kept.
 */
public final class Change implements Machine {
    private static final char LETTER = 'C';

    /** What is reported: what came, what went, both with the sign as place, or a window to which something came. */
    public enum Report {
        CAME,
        WENT,
        BOTH,
        GROWN;

        static Report of(String word) {
            for (Report report : values()) {
                if (report.name().toLowerCase(Locale.ROOT).equals(word)) {
                    return report;
                }
            }
            throw new IllegalArgumentException("report is came, went, both or grown, not '" + word + "'");
        }
    }

    private final Report report;
    private List<RowKey> previous = List.of();
    private long count;
    private boolean over;

    /** A machine that has seen nothing. */
    public Change(Report report) {
        this.report = report;
    }

    /** The machine as it was when it was saved. */
    public static Change load(Report report, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "change");
        Change machine = new Change(report);
        machine.count = reader.number();
        int size = reader.count();
        ArrayList<RowKey> rows = new ArrayList<>(size);
        for (int place = 0; place < size; place++) {
            rows.add(new RowKey(reader.row()));
        }
        machine.previous = rows;
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        List<Arrival> sorted = bySeq(arrivals);
        int at = 0;
        if (report == Report.BOTH && !sorted.isEmpty()) {
            out.put(tick, 1, false, 0, null);
        }
        while (at < sorted.size()) {
            int seq = sorted.get(at).seq();
            ArrayList<RowKey> window = new ArrayList<>();
            for (; at < sorted.size() && sorted.get(at).seq() == seq; at++) {
                if (sorted.get(at).present()) {
                    window.add(new RowKey(sorted.get(at).row()));
                }
            }
            List<RowKey> before = previous;
            previous = window;
            over = seq == 0;
            if (report == Report.GROWN && over) {
                out.put(tick, 0, false, 0, null);
                continue;
            }
            if (report == Report.GROWN) {
                grow(tick, window, before, out);
                continue;
            }
            if (report != Report.CAME) {
                report(tick, before, window, -1, out);
            }
            if (report != Report.WENT) {
                report(tick, window, before, 1, out);
            }
        }
    }

    /** The rows of one bag that another does not have; each row of the other removes the first that is the same. */
    private void report(long tick, List<RowKey> left, List<RowKey> right, long sign, Out out) {
        if (left.isEmpty()) {
            return;
        }
        HashMap<RowKey, int[]> away = new HashMap<>(2 * right.size());
        for (RowKey row : right) {
            away.computeIfAbsent(row, unseen -> new int[1])[0]++;
        }
        for (RowKey row : left) {
            int[] times = away.isEmpty() ? null : away.get(row);
            if (times != null && times[0] > 0) {
                times[0]--;
            } else {
                out.put(tick, 1, true, report == Report.BOTH ? sign : ++count, row.row());
            }
        }
    }

    /** The whole window, if a row was added to it. */
    private static void grow(long tick, List<RowKey> window, List<RowKey> before, Out out) {
        HashMap<RowKey, int[]> there = new HashMap<>(2 * before.size());
        for (RowKey row : before) {
            there.computeIfAbsent(row, unseen -> new int[1])[0]++;
        }
        boolean more = false;
        for (RowKey row : window) {
            int[] times = there.get(row);
            more |= times == null || --times[0] < 0;
        }
        if (!more) {
            return;
        }
        out.put(tick, 1, false, 0, null);
        long place = 0;
        for (RowKey row : window) {
            out.put(tick, 1, true, ++place, row.row().clone());
        }
    }

    private static List<Arrival> bySeq(List<Arrival> arrivals) {
        for (int at = 1; at < arrivals.size(); at++) {
            if (arrivals.get(at - 1).seq() > arrivals.get(at).seq()) {
                ArrayList<Arrival> sorted = new ArrayList<>(arrivals);
                sorted.sort(Comparator.comparingInt(Arrival::seq));
                return sorted;
            }
        }
        return arrivals;
    }

    /** Whether the key is over. */
    boolean over() {
        return over;
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(count);
        writer.count(previous.size());
        for (RowKey row : previous) {
            writer.row(row.row());
        }
        return writer.done();
    }

    @Override
    public long held() {
        return previous.size();
    }
}
