package transom.kernel;

import java.util.List;

/**
 * Rows of one object in order in, the same rows with the distance travelled so far out; keeps one place.
 *
 * <p>A row without a place has the distance of the row before it. A row that no object under the speed limit could have
 * reached from the last place is rejected, and counted. An object of which no row was taken for too long is new again.
 */
public final class Distance implements Timed {
    private static final char LETTER = 'D';

    private static final long NEVER = Long.MIN_VALUE;

    private final Odometer odometer;
    /** Ticks, or below 0 if no object is forgotten. */
    private final long forgetAfter;
    private long last = NEVER;

    Distance(Odometer.Place spec, long forgetAfter) {
        this.odometer = new Odometer(spec);
        this.forgetAfter = forgetAfter;
    }

    static Distance load(Odometer.Place spec, long forgetAfter, byte[] state) {
        Distance machine = new Distance(spec, forgetAfter);
        Codec.Reader in = new Codec.Reader(state, LETTER, "distance");
        machine.odometer.read(in);
        if (forgetAfter >= 0) {
            machine.last = in.number();
        }
        return machine;
    }

    @Override
    public void take(long tick, List<Object[]> rows, Out out) {
        advance(tick - 1, out);
        long rejected = 0;
        boolean[] taken = new boolean[rows.size()];
        long[] distances = new long[taken.length];
        for (int place = 0; place < taken.length; place++) {
            Object[] row = rows.get(place);
            taken[place] = !odometer.has(row) || odometer.move(tick, row) != Odometer.REJECTED;
            distances[place] = odometer.distance();
            rejected += taken[place] ? 0 : 1;
            last = taken[place] ? tick : last;
        }
        if (rejected > 0) {
            out.put(tick, 0, false, rejected, null);
        }
        for (int place = 0; place < taken.length; place++) {
            if (taken[place]) {
                out.put(tick, 1, true, distances[place], rows.get(place));
            }
        }
    }

    @Override
    public void advance(long closed, Out out) {
        if (wake() <= closed) {
            odometer.clear();
            last = NEVER;
        }
    }

    @Override
    public long wake() {
        return forgetAfter < 0 || last == NEVER ? Long.MAX_VALUE : last + forgetAfter + 1;
    }

    @Override
    public boolean blank() {
        return forgetAfter >= 0 && last == NEVER;
    }

    @Override
    public long held() {
        return 0;
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        odometer.write(writer);
        if (forgetAfter >= 0) {
            writer.number(last);
        }
        return writer.done();
    }
}
