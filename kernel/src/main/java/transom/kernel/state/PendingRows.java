package transom.kernel.state;

import java.util.ArrayList;
import java.util.List;
import transom.kernel.InputRow;

/** Encodes rows whose tick is not closed yet. */
public final class PendingRows {
    private static final char LETTER = 'q';

    /** Prevents instantiation: all methods are static. */
    private PendingRows() {}

    /**
     * Encodes the rows of a key that wait for their tick to be closed, for Spark's state store. The first byte is a
     * version.
     */
    public static byte[] encode(List<TimedRow> rows) {
        Codec.Writer out = new Codec.Writer(LETTER);
        out.count(rows.size());
        long previousTick = 0;
        for (TimedRow timed : rows) {
            InputRow row = timed.row();
            out.number(timed.tick() - previousTick);
            previousTick = timed.tick();
            out.octet(row.side());
            out.count(row.seq());
            out.flag(row.present());
            out.number(row.sign());
            out.value(row.order());
            out.row(row.key());
            out.row(row.row());
        }
        return out.toBytes();
    }

    /**
     * Decodes the rows of a key that wait for their tick to be closed. For null, which Spark returns for a new key, the
     * list is empty.
     */
    public static ArrayList<TimedRow> decode(byte[] bytes) {
        ArrayList<TimedRow> rows = new ArrayList<>();
        if (bytes == null) {
            return rows;
        }
        Codec.Reader in = new Codec.Reader(bytes, LETTER, "waiting rows");
        int count = in.count();
        long tick = 0;
        for (int i = 0; i < count; i++) {
            tick += in.number();
            int side = in.octet();
            int seq = in.count();
            boolean present = in.flag();
            int sign = (int) in.number();
            Object order = in.value();
            Object[] key = in.row();
            rows.add(new TimedRow(tick, new InputRow(side, seq, present, sign, order, key, in.row())));
        }
        return rows;
    }
}
