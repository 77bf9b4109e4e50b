package transom.kernel;

import java.util.ArrayList;
import java.util.List;

/** Rows that wait for their tick to close, as bytes. */
final class Waiting {
    private static final char LETTER = 'q';

    private Waiting() {}

    /** Rows as bytes, a version first. */
    static byte[] write(List<Coming> rows) {
        Codec.Writer out = new Codec.Writer(LETTER);
        out.count(rows.size());
        long before = 0;
        for (Coming coming : rows) {
            Arrival row = coming.row();
            out.number(coming.tick() - before);
            before = coming.tick();
            out.octet(row.side());
            out.count(row.seq());
            out.flag(row.present());
            out.number(row.sign());
            out.value(row.order());
            out.row(row.key());
            out.row(row.row());
        }
        return out.done();
    }

    /** The rows that were written; none for null. */
    static ArrayList<Coming> read(byte[] bytes) {
        ArrayList<Coming> rows = new ArrayList<>();
        if (bytes == null) {
            return rows;
        }
        Codec.Reader in = new Codec.Reader(bytes, LETTER, "waiting rows");
        int count = in.count();
        long tick = 0;
        for (int at = 0; at < count; at++) {
            tick += in.number();
            int side = in.octet();
            int seq = in.count();
            boolean present = in.flag();
            int sign = (int) in.number();
            Object order = in.value();
            Object[] key = in.row();
            rows.add(new Coming(tick, new Arrival(side, seq, present, sign, order, key, in.row())));
        }
        return rows;
    }
}
