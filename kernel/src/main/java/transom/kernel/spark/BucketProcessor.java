package transom.kernel.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
import transom.kernel.TimedMachine;
import transom.kernel.machines.Bucket;
import transom.kernel.machines.MachineFactories;
import transom.kernel.state.PendingRows;
import transom.kernel.state.RowKey;
import transom.kernel.state.TimedRow;

/**
 * Runs the machines of many keys in transformWithState. Spark's key is a bucket, which has one state and one timer.
 *
 * <p>Rows are buffered until their tick is closed. An output row has the tick, the window, whether it is a row or a
 * marker, the position, the key, and the values that the machine emitted.
 */
public final class BucketProcessor extends StatefulProcessor<Row, Row, Row> {
    private static final long serialVersionUID = 1L;

    private final String specification;
    private final TickClock clock;
    private final InputLayout layout;
    private final boolean isStreaming;
    private transient ValueState<byte[]> state;
    private transient ValueState<byte[]> pending;
    private transient ValueState<byte[]> timer;
    private transient MachineFactories.TimedMachineFactory factory;

    /**
     * Creates the Spark processor that runs the state machines of buckets of keys, from their JSON specification;
     * `isStreaming` is false for a replay (batch), which needs no state and no timers. `clock` converts watermarks to
     * ticks, and `layout` has the column indexes of input rows.
     */
    public BucketProcessor(String specification, TickClock clock, InputLayout layout, boolean isStreaming) {
        this.specification = specification;
        this.clock = clock;
        this.layout = layout;
        this.isStreaming = isStreaming;
    }

    /**
     * Opens Spark's state of the buckets and parses the specification of their state machines. The state is state
     * machines, buffered rows and a timer. Spark calls it once per task, with two modes that are not used.
     */
    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("state", Encoders.BINARY(), TTLConfig.NONE());
        pending = getHandle().getValueState("waiting", Encoders.BINARY(), TTLConfig.NONE());
        timer = getHandle().getValueState("timer", Encoders.BINARY(), TTLConfig.NONE());
        factory = MachineFactories.timed(specification);
    }

    /**
     * Buffers the new rows of one bucket of keys, and returns the output for all ticks that the watermark has closed.
     * The watermark is in `timers`; a replay (batch) returns the output for all ticks.
     */
    @Override
    public Iterator<Row> handleInputRows(Row key, Iterator<Row> input, TimerValues timers) {
        ArrayList<TimedRow> rows = isStreaming ? PendingRows.decode(pending.get()) : new ArrayList<>();
        while (input.hasNext()) {
            rows.add(layout.timedRow(input.next()));
        }
        return isStreaming ? processClosed(rows, timers, KeyTimer.NONE) : new ReplayIterator(Bucket.byKey(rows));
    }

    /**
     * Returns the output that is due for a bucket of keys whose timer has fired without new rows. It is that of the
     * ticks that the watermark in `timers` has closed since the bucket last ran.
     */
    @Override
    public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo info) {
        return processClosed(PendingRows.decode(pending.get()), timers, info.getExpiryTimeInMs());
    }

    /**
     * Runs the bucket's state machines on the rows whose ticks are closed, saves the other rows, sets the timer and
     * returns the output; `expiredTimerMillis` is the timer that has just fired, or KeyTimer.NONE. The watermark in
     * `timers` closes ticks.
     */
    private Iterator<Row> processClosed(ArrayList<TimedRow> rows, TimerValues timers, long expiredTimerMillis) {
        long closedTick = clock.lastClosedTick(timers.getCurrentWatermarkInMs());
        StateHeader header = StateHeader.of(timer.get());
        ArrayList<TimedRow> closedRows = new ArrayList<>();
        ArrayList<TimedRow> openRows = new ArrayList<>();
        long next = Long.MAX_VALUE;
        for (TimedRow row : rows) {
            if (row.tick() <= closedTick) {
                closedRows.add(row);
            } else {
                openRows.add(row);
                next = Math.min(next, row.tick());
            }
        }
        ArrayList<Row> output = new ArrayList<>();
        long nextWakeup = header.nextWakeup();
        if (!closedRows.isEmpty() || nextWakeup <= closedTick) {
            Bucket bucket = new Bucket(factory, state.get());
            bucket.run(closedRows, closedTick, keyValues -> emitter(keyValues, output));
            nextWakeup = bucket.nextWakeup();
            byte[] content = bucket.save();
            if (content == null) {
                state.clear();
            } else {
                state.update(content);
            }
        }
        next = Math.min(next, nextWakeup);
        long newTimerMillis = next == Long.MAX_VALUE ? KeyTimer.NONE : clock.watermarkMillis(next);
        KeyTimer.update(getHandle(), header.timer(), newTimerMillis, expiredTimerMillis);
        savePending(openRows, !rows.isEmpty());
        if (newTimerMillis == KeyTimer.NONE) {
            timer.clear();
        } else {
            timer.update(new StateHeader(newTimerMillis, nextWakeup, null).toBytes());
        }
        return new RowConverter.DrainingIterator(output);
    }

    /**
     * Saves the rows whose tick is not closed yet, or deletes the saved rows if there are none. If `hadRows` is false,
     * none are saved, and nothing needs to be deleted.
     */
    private void savePending(List<TimedRow> openRows, boolean hadRows) {
        if (!openRows.isEmpty()) {
            pending.update(PendingRows.encode(openRows));
        } else if (hadRows) {
            pending.clear();
        }
    }

    /** Creates an emitter that appends the output of one key to `output` as Spark rows. */
    private Emitter emitter(Object[] key, ArrayList<Row> output) {
        int width = 4 + layout.emittedValues();
        return (tick, seq, present, position, values) -> {
            Object[] cells = new Object[width];
            cells[0] = tick;
            cells[1] = seq;
            cells[2] = present;
            cells[3] = position;
            System.arraycopy(key, 0, cells, 4, key.length);
            for (int i = 0; present && i < values.length; i++) {
                cells[4 + key.length + i] = RowConverter.fitToSpark(values[i]);
            }
            output.add(RowFactory.create(cells));
        };
    }

    /** The output of a replay, key by key. */
    private final class ReplayIterator extends scala.collection.AbstractIterator<Row> {
        private final java.util.Iterator<Map.Entry<RowKey, ArrayList<TimedRow>>> keys;
        private final ArrayList<Row> output = new ArrayList<>();
        private int position;

        /** Creates an iterator over the output of all keys of a bucket, from their sorted rows. */
        ReplayIterator(Map<RowKey, ArrayList<TimedRow>> rows) {
            this.keys = rows.entrySet().iterator();
        }

        /**
         * Whether the replay of one bucket of keys has more output rows. Runs the state machine of the next key when
         * the buffered rows are used up.
         */
        @Override
        public boolean hasNext() {
            while (position == output.size() && keys.hasNext()) {
                output.clear();
                position = 0;
                Map.Entry<RowKey, ArrayList<TimedRow>> entry = keys.next();
                TimedMachine machine = factory.create();
                Emitter emitter = emitter(entry.getKey().row(), output);
                Bucket.feed(machine, entry.getValue(), emitter);
                if (factory.until() != Long.MAX_VALUE) {
                    machine.advance(factory.until(), emitter);
                }
                keys.remove();
            }
            return position < output.size();
        }

        /** Returns the next output row in the replay of one bucket of keys. */
        @Override
        public Row next() {
            return output.get(position++);
        }
    }
}
