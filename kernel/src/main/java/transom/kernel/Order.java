package transom.kernel;

import java.util.List;

/** Numbers the rows: rows in order in, the same rows with their position out; keeps one number. */
public final class Order implements Machine {
    private static final char LETTER = 'O';

    private long count;

    /** A machine that has seen nothing. */
    public Order() {}

    /** The machine as it was when it was saved. */
    public static Order load(byte[] state) {
        Order machine = new Order();
        machine.count = new Codec.Reader(state, LETTER, "order").number();
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        for (Arrival arrival : arrivals) {
            out.put(tick, 1, true, ++count, arrival.row());
        }
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(count);
        return writer.done();
    }

    @Override
    public long held() {
        return 0;
    }
}
