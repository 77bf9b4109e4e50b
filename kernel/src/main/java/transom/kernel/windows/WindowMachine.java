package transom.kernel.windows;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.Codec;

/**
 * Computes windows that slide by tick, row index or arrival, with a range of ticks or rows.
 *
 * <p>The input is the rows of one key in order. For each window the machine emits a marker and then the rows. A tick
 * may have several windows. The state holds only rows that a future window can contain. Windows by tick and by arrival
 * are emitted when their tick is closed, windows by row index when their last row arrives.
 */
public final class WindowMachine implements Machine {
    private static final char LETTER = 'W';

    /** What windows slide by. */
    private enum Slide {
        TICK,
        INDEX,
        ARRIVAL
    }

    /**
     * A bound of a window's range, computed from the window's tick or row count `base`: floor(base / step) * step +
     * offset.
     */
    private record Bound(long step, long offset) {
        /**
         * Computes this bound for the window at the tick or row count `base`. It is at most Long.MAX_VALUE and at least
         * Long.MIN_VALUE.
         */
        long at(long base) {
            return saturatedAdd(base - Math.floorMod(base, step), offset);
        }
    }

    /** When windows are emitted and what they contain. */
    public static final class Spec {
        private final Slide slide;
        private final long step;
        private final long first;
        private final boolean hasTickRange;
        private final Bound low;
        private final Bound high;
        private final long start;
        private final boolean[] tickTags;
        private final boolean isAlwaysEmpty;

        /**
         * Parses and checks the JSON specification of windows; throws IllegalArgumentException if the range is not of
         * ticks or row numbers.
         */
        private Spec(JsonNode entries) {
            slide = Slide.valueOf(entries.path("slide").asText().toUpperCase(Locale.ROOT));
            step = entries.path("step").asLong();
            first = entries.path("first").asLong();
            String range = entries.path("range").asText();
            hasTickRange = range.equals("tick");
            if (!hasTickRange && !range.equals("index")) {
                throw new IllegalArgumentException("a window has a range of tick or index, not '" + range + "'");
            }
            low = bound(entries.path("low"));
            high = bound(entries.path("high"));
            start = entries.path("start").asLong();
            JsonNode tags = entries.path("tags");
            tickTags = new boolean[tags.size()];
            for (int i = 0; i < tickTags.length; i++) {
                tickTags[i] = tags.get(i).asText().equals("tick");
            }
            isAlwaysEmpty = low.offset > high.offset && low.step == high.step;
        }

        /** Parses the JSON entry `window` of a specification: what windows slide by, and their range. */
        public static Spec of(JsonNode entries) {
            return new Spec(entries);
        }

        /** Parses a bound of a window's range from a JSON list of two numbers, its step and its offset. */
        private static Bound bound(JsonNode stepAndOffset) {
            return new Bound(stepAndOffset.path(0).asLong(), stepAndOffset.path(1).asLong());
        }

        /**
         * The first window's tick, which is at or after the start of the query, or its row count if windows do not
         * slide by tick.
         */
        private long firstWindow() {
            long steps = Math.max(0, -Math.floorDiv(first - start, step));
            return slide == Slide.TICK ? first + steps * step : first;
        }
    }

    private final Spec spec;
    private long[] ticks = new long[8];
    private Object[][] rows = new Object[8][];
    private int firstSlot;
    private int size;
    private long count;
    private long nextBoundary;
    private boolean hasPendingWindow;
    private long pendingTick;
    private long emittedTick;
    private int seq;

    /** Creates the windows of one key that has no rows yet. */
    public WindowMachine(Spec spec) {
        this.spec = spec;
        this.nextBoundary = spec.firstWindow();
    }

    /** Restores the rows of one key and its next window from the bytes of `save`; `spec` describes the windows. */
    public static WindowMachine load(Spec spec, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "window");
        WindowMachine machine = new WindowMachine(spec);
        machine.count = reader.number();
        machine.nextBoundary = reader.number();
        machine.hasPendingWindow = reader.flag();
        machine.pendingTick = machine.hasPendingWindow ? reader.number() : 0;
        int size = reader.count();
        long tick = 0;
        for (int i = 0; i < size; i++) {
            tick += reader.number();
            machine.addRow(tick, reader.row());
        }
        return machine;
    }

    /**
     * Adds the key's rows of one tick, and emits to `out` the windows of earlier ticks and the windows by row number
     * that the rows complete.
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        seq = 0;
        for (InputRow input : inputs) {
            addInput(tick, input.row(), out);
        }
    }

    /**
     * Emits to `out` the key's windows that are due up to and including `closedTick`, and drops rows that no later
     * window contains. These are windows by tick and by arrival.
     */
    public void advance(long closedTick, Emitter out) {
        seq = 0;
        emitUntil(closedTick, out);
    }

    /**
     * Adds a row of a tick that is not closed, and emits to `out` the windows that are complete by then. They are the
     * windows of earlier ticks and, if windows slide by row number, the window that the row completes.
     */
    private void addInput(long tick, Object[] row, Emitter out) {
        emitUntil(tick - 1, out);
        count++;
        addRow(tick, row);
        if (spec.slide == Slide.ARRIVAL) {
            hasPendingWindow = true;
            pendingTick = tick;
        }
        dropRows(tick);
        if (spec.slide == Slide.INDEX && count == nextBoundary) {
            emitWindow(tick, out);
            nextBoundary = saturatedAdd(nextBoundary, spec.step);
            dropRows(tick);
        }
    }

    /**
     * Emits to `out` the key's windows that are due up to and including `closedTick`, and drops rows that no later
     * window contains. These are windows by tick and by arrival.
     */
    private void emitUntil(long closedTick, Emitter out) {
        if (hasPendingWindow && pendingTick <= closedTick) {
            hasPendingWindow = false;
            emitWindow(pendingTick, out);
            dropRows(pendingTick + 1);
        }
        while (spec.slide == Slide.TICK && nextBoundary <= closedTick) {
            long tick = nextBoundary;
            emitWindow(tick, out);
            nextBoundary = saturatedAdd(nextBoundary, spec.step);
            dropRows(tick + 1);
        }
    }

    /**
     * Emits to `out` the key's window at a tick: a marker, then its rows. Windows of the same tick are numbered from 1.
     */
    private void emitWindow(long tick, Emitter out) {
        seq = tick == emittedTick ? seq + 1 : 1;
        emittedTick = tick;
        out.emit(tick, seq, false, 0, null);
        long base = spec.hasTickRange ? tick : count;
        long high = spec.high.at(base);
        long position = 0;
        for (int i = firstAtLeast(spec.low.at(base)); i < size && coordinate(i) <= high; i++) {
            out.emit(tick, seq, true, ++position, withTags(i));
        }
    }

    /**
     * Finds the first row in the state whose tick or row number is at least `bound`, and returns its offset. Offset 0
     * is the oldest row; the search is binary.
     */
    private int firstAtLeast(long bound) {
        int low = 0;
        int high = size;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (coordinate(middle) < bound) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Returns the number in the stream, from 1, of the row at `offset`, where 0 is the oldest row in the state. */
    private long index(int offset) {
        return count - size + 1 + offset;
    }

    /**
     * Returns the tick or the row number, whichever bounds the windows, of the row at `offset`. Offset 0 is the oldest
     * row in the state, and row numbers are those in the stream.
     */
    private long coordinate(int offset) {
        return spec.hasTickRange ? ticks[firstSlot + offset] : index(offset);
    }

    /**
     * Returns the row at `offset`, with its tick and number in the stream appended as the specification asks. Offset 0
     * is the oldest row in the state.
     */
    private Object[] withTags(int offset) {
        Object[] row = rows[firstSlot + offset];
        int tags = spec.tickTags.length;
        if (tags == 0) {
            return row;
        }
        Object[] tagged = Arrays.copyOf(row, row.length + tags, Object[].class);
        for (int i = 0; i < tags; i++) {
            tagged[row.length + i] = spec.tickTags[i] ? ticks[firstSlot + offset] : index(offset);
        }
        return tagged;
    }

    /** Appends a row and its tick to the rows in the state, whose arrays are compacted or enlarged if they are full. */
    private void addRow(long tick, Object[] row) {
        if (firstSlot + size == rows.length) {
            boolean mustGrow = 2 * size > rows.length;
            long[] newTicks = mustGrow ? new long[2 * rows.length] : ticks;
            Object[][] newRows = mustGrow ? new Object[2 * rows.length][] : rows;
            System.arraycopy(ticks, firstSlot, newTicks, 0, size);
            System.arraycopy(rows, firstSlot, newRows, 0, size);
            if (!mustGrow) {
                Arrays.fill(rows, size, rows.length, null);
            }
            ticks = newTicks;
            rows = newRows;
            firstSlot = 0;
        }
        ticks[firstSlot + size] = tick;
        rows[firstSlot + size] = row;
        size++;
    }

    /**
     * Drops the rows that no window at or after `currentTick` contains. They are below the lower bound of the next
     * window.
     */
    private void dropRows(long currentTick) {
        long bound = spec.low.at(nextBase(currentTick));
        while (size > 0 && (spec.isAlwaysEmpty || coordinate(0) < bound)) {
            rows[firstSlot++] = null;
            size--;
        }
    }

    /**
     * Returns the least base, a tick or a row count by the range's coordinate, of any window at or after `currentTick`.
     * Its lower bound is computed from it; `currentTick` is the least tick of a future row.
     */
    private long nextBase(long currentTick) {
        if (spec.slide == Slide.TICK && spec.hasTickRange || spec.slide == Slide.INDEX && !spec.hasTickRange) {
            return nextBoundary;
        }
        return spec.hasTickRange ? currentTick : count;
    }

    /** Adds two longs; the result is Long.MAX_VALUE or Long.MIN_VALUE if it overflows. */
    private static long saturatedAdd(long left, long right) {
        long sum = left + right;
        if (((left ^ sum) & (right ^ sum)) < 0) {
            return right < 0 ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
        return sum;
    }

    /** Passes to `visitor`, for inspection, the rows of the key with their ticks. */
    @Override
    public void visit(StateVisitor visitor) {
        for (int i = 0; i < size; i++) {
            visitor.entry("row", 0, ticks[firstSlot + i], 1, rows[firstSlot + i]);
        }
    }

    /** Encodes the rows of the key and its next window for Spark's state store. */
    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        writer.number(count);
        writer.number(nextBoundary);
        writer.flag(hasPendingWindow);
        if (hasPendingWindow) {
            writer.number(pendingTick);
        }
        writer.count(size);
        long previousTick = 0;
        for (int i = 0; i < size; i++) {
            writer.number(ticks[firstSlot + i] - previousTick);
            previousTick = ticks[firstSlot + i];
            writer.row(rows[firstSlot + i]);
        }
        return writer.toBytes();
    }

    /** The number of rows of the key in the state. */
    @Override
    public long held() {
        return size;
    }
}
