package transom.kernel.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.machines.MachineFactories;
import transom.kernel.state.PendingRows;
import transom.kernel.state.TimedRow;
import transom.kernel.windows.WindowChangesMachine;

/**
 * Runs a machine in transformWithState. Buffers the rows of a key until their tick is closed, feeds them to the machine
 * tick by tick, in order, and stores the state of the machine as bytes. The Python runner does the same.
 */
public final class MachineProcessor extends StatefulProcessor<Row, Row, Row> {
    private static final long serialVersionUID = 1L;

    private final String specification;
    private final TickClock clock;
    private final InputLayout layout;
    private final boolean isStreaming;
    private transient ValueState<byte[]> state;
    private transient ValueState<byte[]> pending;
    private transient MachineFactories.MachineFactory factory;

    /**
     * Creates the Spark processor that runs one state machine per key, from its JSON specification; `isStreaming` is
     * false for a replay (batch), which needs no state and no timers. `clock` converts watermarks to ticks, and
     * `layout` has the column indexes of input rows.
     */
    public MachineProcessor(String specification, TickClock clock, InputLayout layout, boolean isStreaming) {
        this.specification = specification;
        this.clock = clock;
        this.layout = layout;
        this.isStreaming = isStreaming;
    }

    /**
     * Opens Spark's state of the keys (saved bytes and buffered rows) and parses the specification of their state
     * machine. Spark calls it once per task, with two modes that are not used.
     */
    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("state", Encoders.BINARY(), TTLConfig.NONE());
        pending = getHandle().getValueState("waiting", Encoders.BINARY(), TTLConfig.NONE());
        factory = MachineFactories.of(specification);
    }

    /**
     * Buffers the new rows of one key, and returns its output for all ticks that the watermark has closed. The
     * watermark is in `timers`; a replay (batch) returns the output for all ticks.
     */
    @Override
    public Iterator<Row> handleInputRows(Row key, Iterator<Row> input, TimerValues timers) {
        ArrayList<TimedRow> rows = isStreaming ? PendingRows.decode(pending.get()) : new ArrayList<>();
        while (input.hasNext()) {
            rows.add(layout.timedRow(input.next()));
        }
        rows.sort(TimedRow.TICK_ORDER);
        return isStreaming
                ? processClosed(key, rows, timers, KeyTimer.NONE)
                : new ReplayIterator(key, factory.create(), rows);
    }

    /**
     * Returns the output that is due for a key whose timer has fired without new rows. It is that of the ticks that the
     * watermark in `timers` has closed since the key last ran.
     */
    @Override
    public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo info) {
        ArrayList<TimedRow> rows = PendingRows.decode(pending.get());
        rows.sort(TimedRow.TICK_ORDER);
        return processClosed(key, rows, timers, info.getExpiryTimeInMs());
    }

    /**
     * Runs a key's state machine on the rows whose ticks are closed, saves the other rows, sets the timer and returns
     * the output; `expiredTimerMillis` is the timer that has just fired, or KeyTimer.NONE. The watermark in `timers`
     * closes ticks.
     */
    private Iterator<Row> processClosed(
            Row key, ArrayList<TimedRow> rows, TimerValues timers, long expiredTimerMillis) {
        StateHeader header = StateHeader.of(state.get());
        long closedTick = clock.lastClosedTick(timers.getCurrentWatermarkInMs());
        int closedRows = 0;
        while (closedRows < rows.size() && rows.get(closedRows).tick() <= closedTick) {
            closedRows++;
        }
        ArrayList<Row> output = new ArrayList<>();
        byte[] content = header.content();
        long nextWakeup = header.nextWakeup();
        if (closedRows > 0 || nextWakeup <= closedTick) {
            Machine machine = content == null ? factory.create() : factory.load(content);
            Emitter emitter = emitter(key, output);
            for (int i = 0; i < closedRows; ) {
                i = feed(machine, rows, i, closedRows, emitter);
            }
            machine.evict(closedTick);
            nextWakeup = machine.nextWakeup();
            content = nextWakeup == Long.MAX_VALUE && canDropState(machine) ? null : machine.save();
        }
        List<TimedRow> openRows = rows.subList(closedRows, rows.size());
        long next = Math.min(nextWakeup, openRows.isEmpty() ? Long.MAX_VALUE : openRows.get(0).tick());
        long newTimerMillis = next == Long.MAX_VALUE ? KeyTimer.NONE : clock.watermarkMillis(next);
        KeyTimer.update(getHandle(), header.timer(), newTimerMillis, expiredTimerMillis);
        if (openRows.isEmpty()) {
            pending.clear();
        } else {
            pending.update(PendingRows.encode(openRows));
        }
        if (content == null && newTimerMillis == KeyTimer.NONE) {
            state.clear();
        } else {
            state.update(new StateHeader(newTimerMillis, nextWakeup, content).toBytes());
        }
        return new RowConverter.DrainingIterator(output);
    }

    /**
     * Whether Spark's state of a key can be deleted: it holds no rows and equals that of a new key, or the key has
     * ended. The key's last window says that the key has ended.
     */
    private static boolean canDropState(Machine machine) {
        return machine.dropsEmptyState() && machine.held() == 0
                || machine instanceof WindowChangesMachine change && change.isKeyEnded();
    }

    /**
     * Feeds the rows of one tick to a state machine, and returns the index of the first row of a later tick; the rows
     * are those from index `first` on (and before `end`) that have the tick of the first; output goes to `emitter`.
     */
    private static int feed(Machine machine, List<TimedRow> rows, int first, int end, Emitter emitter) {
        long tick = rows.get(first).tick();
        ArrayList<InputRow> inputs = new ArrayList<>();
        int next = first;
        while (next < end && rows.get(next).tick() == tick) {
            inputs.add(rows.get(next++).row());
        }
        machine.feed(tick, inputs, emitter);
        return next;
    }

    /**
     * Creates an emitter that appends a state machine's output to `output` as Spark rows, which begin with the window
     * columns of `key`. If rows are divided into hash buckets, only bucket 0 emits markers, so that each window has
     * one.
     */
    private Emitter emitter(Row key, ArrayList<Row> output) {
        boolean emitsMarkers = layout.buckets() == 1 || key.getInt(key.size() - 1) == 0;
        int windowKeys = layout.windowKeys();
        int width = layout.emittedValues();
        return (tick, seq, present, position, values) -> {
            if (!present && !emitsMarkers) {
                return;
            }
            Object[] cells = new Object[windowKeys + 4 + width];
            for (int i = 0; i < windowKeys; i++) {
                cells[i] = key.get(i);
            }
            cells[windowKeys] = tick;
            cells[windowKeys + 1] = seq;
            cells[windowKeys + 2] = present;
            cells[windowKeys + 3] = position;
            if (present) {
                System.arraycopy(values, 0, cells, windowKeys + 4, width);
            }
            output.add(RowFactory.create(cells));
        };
    }

    /** The output of a replay, tick by tick. */
    private final class ReplayIterator extends scala.collection.AbstractIterator<Row> {
        private final Machine machine;
        private final ArrayList<TimedRow> rows;
        private final ArrayList<Row> output = new ArrayList<>();
        private final Emitter emitter;
        private int next;
        private int position;

        /** Creates an iterator over the output of one key, from its sorted rows. */
        ReplayIterator(Row key, Machine machine, ArrayList<TimedRow> rows) {
            this.machine = machine;
            this.rows = rows;
            this.emitter = emitter(key, output);
        }

        /**
         * Whether the replay of one key has more output rows. Feeds the next tick to the state machine when the
         * buffered rows are used up.
         */
        @Override
        public boolean hasNext() {
            while (position == output.size() && next < rows.size()) {
                output.clear();
                position = 0;
                next = feed(machine, rows, next, rows.size(), emitter);
            }
            return position < output.size();
        }

        /** Returns the next output row in the replay of one key. */
        @Override
        public Row next() {
            return output.get(position++);
        }
    }
}
