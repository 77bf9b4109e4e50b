package transom.kernel;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Follows one row: whether pieces cover it, and whether it is there at all.
 *
 * <p>Side 0 says how many copies of the row come or go at a tick, side 1 which pieces that cover it begin or end. All
 * changes of a tick act at once. What comes out is a piece (window 1) or the row (window 0), with a signed count.
 */
public final class Cover implements Machine {
    private static final char LETTER = 'V';

    private final String tell;
    private final int padding;
    private long copies;
    private long cover;
    private long shown;
    private Object[] row;

    /** A machine that has seen nothing. */
    public Cover(String tell, int padding) {
        this.tell = tell;
        this.padding = padding;
    }

    /** The machine as it was when it was saved. */
    public static Cover load(String tell, int padding, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "cover");
        Cover machine = new Cover(tell, padding);
        machine.copies = reader.number();
        machine.cover = reader.number();
        machine.shown = reader.number();
        machine.row = reader.row();
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        Map<RowKey, Long> pieces = new LinkedHashMap<>();
        for (Arrival arrival : arrivals) {
            if (!arrival.present()) {
                continue;
            }
            if (arrival.side() == 1) {
                cover += arrival.sign();
                pieces.merge(new RowKey(arrival.row()), (long) arrival.sign(), Long::sum);
                continue;
            }
            copies += arrival.sign();
            if (row == null) {
                row = arrival.row();
            }
        }
        if (copies < 0) {
            throw new IllegalStateException("a row goes that never came");
        }
        if (cover < 0) {
            throw new IllegalStateException("a piece ends that never began");
        }
        if (tell.equals("outer")) {
            Changes.put(tick, 1, pieces, 0, out);
        }
        long wanted = wanted();
        if (wanted != shown && row != null) {
            out.put(tick, 0, true, wanted - shown, Changes.padded(row, padding));
        }
        shown = wanted;
        if (held() == 0) {
            row = null;
        }
    }

    private long wanted() {
        if (tell.equals("once")) {
            return Math.min(copies, 1);
        }
        return (cover != 0) == tell.equals("matched") ? copies : 0;
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(copies);
        writer.number(cover);
        writer.number(shown);
        writer.row(row);
        return writer.done();
    }

    @Override
    public long held() {
        return copies == 0 && cover == 0 ? 0 : 1;
    }

    @Override
    public boolean forgets() {
        return true;
    }
}
