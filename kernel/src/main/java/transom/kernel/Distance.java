package transom.kernel;

import java.util.List;

/**
 * Rows of one object in order in, the same rows with the distance travelled so far out; keeps one place.
 *
 * <p>A row without a place has the distance of the row before it. A row that no object under the speed limit could have
 * reached from the last place is rejected, and counted.
 */
public final class Distance implements Timed {
    private static final char LETTER = 'D';

    private final Odometer odometer;

    Distance(Odometer.Place spec) {
        this.odometer = new Odometer(spec);
    }

    static Distance load(Odometer.Place spec, byte[] state) {
        Distance machine = new Distance(spec);
        machine.odometer.read(new Codec.Reader(state, LETTER, "distance"));
        return machine;
    }

    @Override
    public void take(long tick, List<Object[]> rows, Out out) {
        long rejected = 0;
        boolean[] taken = new boolean[rows.size()];
        long[] distances = new long[taken.length];
        for (int place = 0; place < taken.length; place++) {
            Object[] row = rows.get(place);
            taken[place] = !odometer.has(row) || odometer.move(tick, row) != Odometer.REJECTED;
            distances[place] = odometer.distance();
            rejected += taken[place] ? 0 : 1;
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
    public void advance(long closed, Out out) {}

    @Override
    public long wake() {
        return Long.MAX_VALUE;
    }

    @Override
    public boolean blank() {
        return false;
    }

    @Override
    public long held() {
        return 0;
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        odometer.write(writer);
        return writer.done();
    }
}
