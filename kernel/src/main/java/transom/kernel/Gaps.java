package transom.kernel;

import java.util.List;

/**
 * Gives what no piece covers of one left row: its copies while no piece covers it, nothing otherwise.
 *
 * <p>Side 0 says how many copies of the row come or go at a tick, side 1 how many pieces that cover it begin or end.
 * All changes of a tick act at once. What comes out are changes of the uncovered row; the place is the signed count.
 */
public final class Gaps implements Machine {
    private static final char LETTER = 'G';

    private long copies;
    private long cover;
    private long shown;
    private Object[] row;

    /** A machine that has seen nothing. */
    public Gaps() {}

    /** The machine as it was when it was saved. */
    public static Gaps load(byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "gaps");
        Gaps machine = new Gaps();
        machine.copies = reader.number();
        machine.cover = reader.number();
        machine.shown = reader.number();
        machine.row = reader.row();
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        for (Arrival arrival : arrivals) {
            if (!arrival.present()) {
                continue;
            }
            if (arrival.side() == 1) {
                cover += arrival.sign();
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
        long wanted = cover == 0 ? copies : 0;
        if (wanted != shown) {
            out.put(tick, 1, true, wanted - shown, row);
            shown = wanted;
        }
        if (held() == 0) {
            row = null;
        }
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
}
