package transom.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Cuts windows: any slide and range on tick or index, several windows per tick.
 *
 * <p>Rows of one key in order in, windows out: each with a row that says it exists, then its rows. Keeps only rows
 * that a coming window can still hold. Windows by tick and by arrival come out when their tick is closed, windows by
 * row when the row comes.
 */
public final class Window implements Machine {
    private static final char LETTER = 'W';

    /** On what windows slide. */
    private enum Slide {
        TICK,
        INDEX,
        ARRIVAL
    }

    /** One end of a range: at base b it is floor(b / step) * step + offset. */
    private record Bound(long step, long offset) {
        long at(long base) {
            return plus(base - Math.floorMod(base, step), offset);
        }
    }

    /** When windows come and what they hold. */
    public static final class Cut {
        private final Slide slide;
        private final long step;
        private final long first;
        private final boolean byTick;
        private final Bound low;
        private final Bound high;
        private final long start;
        private final boolean[] tickTags;
        private final boolean empty;

        private Cut(JsonNode entries) {
            slide = Slide.valueOf(entries.path("slide").asText().toUpperCase(Locale.ROOT));
            step = entries.path("step").asLong();
            first = entries.path("first").asLong();
            String range = entries.path("range").asText();
            byTick = range.equals("tick");
            if (!byTick && !range.equals("index")) {
                throw new IllegalArgumentException("a window has a range of tick or index, not '" + range + "'");
            }
            low = bound(entries.path("low"));
            high = bound(entries.path("high"));
            start = entries.path("start").asLong();
            JsonNode tags = entries.path("tags");
            tickTags = new boolean[tags.size()];
            for (int place = 0; place < tickTags.length; place++) {
                tickTags[place] = tags.get(place).asText().equals("tick");
            }
            empty = low.offset > high.offset && low.step == high.step;
        }

        /** The cut that the entry `window` of a specification describes. */
        public static Cut of(JsonNode entries) {
            return new Cut(entries);
        }

        private static Bound bound(JsonNode ends) {
            return new Bound(ends.path(0).asLong(), ends.path(1).asLong());
        }

        /** Where the first window comes: by tick, at the first boundary that is not before the start. */
        private long begin() {
            long beyond = Math.max(0, -Math.floorDiv(first - start, step));
            return slide == Slide.TICK ? first + beyond * step : first;
        }
    }

    private final Cut cut;
    private long[] ticks = new long[8];
    private Object[][] rows = new Object[8][];
    private int from;
    private int size;
    private long count;
    private long next;
    private boolean pending;
    private long pendingTick;
    private long toldTick;
    private int seq;

    /** A machine that has seen nothing. */
    public Window(Cut cut) {
        this.cut = cut;
        this.next = cut.begin();
    }

    /** The machine as it was when it was saved. */
    public static Window load(Cut cut, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "window");
        Window machine = new Window(cut);
        machine.count = reader.number();
        machine.next = reader.number();
        machine.pending = reader.flag();
        machine.pendingTick = machine.pending ? reader.number() : 0;
        int size = reader.count();
        long tick = 0;
        for (int place = 0; place < size; place++) {
            tick += reader.number();
            machine.keep(tick, reader.row());
        }
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        seq = 0;
        for (Arrival arrival : arrivals) {
            take(tick, arrival.row(), out);
        }
    }

    /** The windows of all ticks up to one that is closed now: what windows by tick and by arrival wait for. */
    public void advance(long closed, Out out) {
        seq = 0;
        close(closed, out);
    }

    /** A row of a tick that is not closed; for windows by row, the window that it completes. */
    private void take(long tick, Object[] row, Out out) {
        close(tick - 1, out);
        count++;
        keep(tick, row);
        if (cut.slide == Slide.ARRIVAL) {
            pending = true;
            pendingTick = tick;
        }
        drop(tick);
        if (cut.slide == Slide.INDEX && count == next) {
            tell(tick, out);
            next = plus(next, cut.step);
            drop(tick);
        }
    }

    private void close(long closed, Out out) {
        if (pending && pendingTick <= closed) {
            pending = false;
            tell(pendingTick, out);
            drop(pendingTick + 1);
        }
        while (cut.slide == Slide.TICK && next <= closed) {
            long tick = next;
            tell(tick, out);
            next = plus(next, cut.step);
            drop(tick + 1);
        }
    }

    /** Put out a window; the windows of one tick are numbered from 1. */
    private void tell(long tick, Out out) {
        seq = tick == toldTick ? seq + 1 : 1;
        toldTick = tick;
        out.put(tick, seq, false, 0, null);
        long base = cut.byTick ? tick : count;
        long high = cut.high.at(base);
        long place = 0;
        for (int at = lowest(cut.low.at(base)); at < size && where(at) <= high; at++) {
            out.put(tick, seq, true, ++place, tuple(at));
        }
    }

    /** The first row that is kept and not below a bound. */
    private int lowest(long bound) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (where(middle) < bound) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The rows that are kept are the last ones, so their indexes need not be. */
    private long index(int at) {
        return count - size + 1 + at;
    }

    private long where(int at) {
        return cut.byTick ? ticks[from + at] : index(at);
    }

    private Object[] tuple(int at) {
        Object[] row = rows[from + at];
        int tags = cut.tickTags.length;
        if (tags == 0) {
            return row;
        }
        Object[] tuple = Arrays.copyOf(row, row.length + tags, Object[].class);
        for (int place = 0; place < tags; place++) {
            tuple[row.length + place] = cut.tickTags[place] ? ticks[from + at] : index(at);
        }
        return tuple;
    }

    private void keep(long tick, Object[] row) {
        if (from + size == rows.length) {
            boolean half = 2 * size > rows.length;
            long[] wider = half ? new long[2 * rows.length] : ticks;
            Object[][] longer = half ? new Object[2 * rows.length][] : rows;
            System.arraycopy(ticks, from, wider, 0, size);
            System.arraycopy(rows, from, longer, 0, size);
            if (!half) {
                Arrays.fill(rows, size, rows.length, null);
            }
            ticks = wider;
            rows = longer;
            from = 0;
        }
        ticks[from + size] = tick;
        rows[from + size] = row;
        size++;
    }

    /** Drop the rows below the lower bound of the next window that can come; bounds never go back. */
    private void drop(long now) {
        long bound = cut.low.at(nextBase(now));
        while (size > 0 && (cut.empty || where(0) < bound)) {
            rows[from++] = null;
            size--;
        }
    }

    /** The least base of a coming window. */
    private long nextBase(long now) {
        if (cut.slide == Slide.TICK && cut.byTick || cut.slide == Slide.INDEX && !cut.byTick) {
            return next;
        }
        return cut.byTick ? now : count;
    }

    private static long plus(long left, long right) {
        long sum = left + right;
        if (((left ^ sum) & (right ^ sum)) < 0) {
            return right < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
        return sum;
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(count);
        writer.number(next);
        writer.flag(pending);
        if (pending) {
            writer.number(pendingTick);
        }
        writer.count(size);
        long before = 0;
        for (int at = 0; at < size; at++) {
            writer.number(ticks[from + at] - before);
            before = ticks[from + at];
            writer.row(rows[from + at]);
        }
        return writer.done();
    }

    @Override
    public long held() {
        return size;
    }
}
