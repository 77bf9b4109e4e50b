package transom.kernel;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Follows one left row: how many pairs match it, and how many copies of it there are.
 *
 * <p>Side 0 says how many copies of the row come or go at a tick, side 1 which pairs that match it do. All changes of a
 * tick act at once. What comes out is a pair (window 1) or the row (window 0), with a signed count.
 */
public final class MatchCounter implements Machine {
    private static final char LETTER = 'V';

    private final String emit;
    private final int padding;
    private long copies;
    private long matches;
    private long unmatchedOut;
    private long matchedOut;
    private Object[] row;

    /** A machine that has seen nothing. */
    public MatchCounter(String emit, int padding) {
        this.emit = emit;
        this.padding = padding;
    }

    /** The machine as it was when it was saved. */
    public static MatchCounter load(String emit, int padding, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "matches");
        MatchCounter machine = new MatchCounter(emit, padding);
        machine.copies = reader.number();
        machine.matches = reader.number();
        machine.unmatchedOut = reader.number();
        machine.matchedOut = reader.number();
        machine.row = reader.row();
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        Changes.putMarker(tick, arrivals, out);
        Map<RowKey, Long> pairs = new LinkedHashMap<>();
        for (Arrival arrival : arrivals) {
            if (!arrival.present()) {
                continue;
            }
            if (arrival.side() == 1) {
                matches += arrival.sign();
                pairs.merge(new RowKey(arrival.row()), (long) arrival.sign(), Long::sum);
                continue;
            }
            copies += arrival.sign();
            if (row == null) {
                row = arrival.row();
            }
        }
        if (copies < 0 || matches < 0) {
            String what = copies < 0 ? "row" : "pair";
            throw new IllegalStateException("a " + what + " is retracted that was never added");
        }
        if (emit.equals("left")) {
            Changes.put(tick, 1, pairs, 0, out);
        }
        long unmatched = 0;
        long matched = 0;
        switch (emit) {
            case "distinct" -> unmatched = Math.min(copies, 1);
            case "semi" -> matched = matches != 0 ? copies : 0;
            case "mark" -> {
                matched = matches != 0 ? copies : 0;
                unmatched = copies - matched;
            }
            case "numbered" -> unmatched = copies;
            default -> unmatched = matches != 0 ? 0 : copies;
        }
        if (row != null && emit.equals("numbered")) {
            number(tick, out);
        } else if (row != null) {
            put(tick, unmatched - unmatchedOut, false, out);
            put(tick, matched - matchedOut, true, out);
        }
        unmatchedOut = unmatched;
        matchedOut = matched;
        if (held() == 0) {
            row = null;
        }
    }

    /** The copies that come or go, each with its number. */
    private void number(long tick, Out out) {
        for (long copy = unmatchedOut; copy < copies; copy++) {
            out.put(tick, 0, true, 1, Values.joined(row, new Object[] {copy}));
        }
        for (long copy = copies; copy < unmatchedOut; copy++) {
            out.put(tick, 0, true, -1, Values.joined(row, new Object[] {copy}));
        }
    }

    private void put(long tick, long count, boolean matched, Out out) {
        if (count != 0) {
            Object[] made = emit.equals("mark")
                    ? Values.joined(row, new Object[] {matched})
                    : Changes.padded(row, padding);
            out.put(tick, 0, true, count, made);
        }
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(copies);
        writer.number(matches);
        writer.number(unmatchedOut);
        writer.number(matchedOut);
        writer.row(row);
        return writer.done();
    }

    @Override
    public long held() {
        return copies == 0 && matches == 0 ? 0 : 1;
    }

    @Override
    public boolean forgets() {
        return true;
    }
}
