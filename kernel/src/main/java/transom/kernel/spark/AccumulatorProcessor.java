package transom.kernel.spark;

import java.util.ArrayList;
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
import transom.kernel.Accumulator;
import transom.kernel.Emitter;
import transom.kernel.machines.MachineFactories;

/**
 * Runs an accumulator in transformWithState. Rows are aggregated as they arrive; the output is that of closed ticks.
 *
 * <p>An input row has its tick in the column `tick_number` and the arguments of the aggregates from `firstValue` on. An
 * output row has the key, the tick and the aggregates. The state has one value per key: the timer and the state of the
 * machine.
 */
public final class AccumulatorProcessor extends StatefulProcessor<Row, Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int TICKS_PER_STEP = 4096;

    private final String specification;
    private final TickClock clock;
    private final int tickColumn;
    private final int firstValue;
    private final int valuesEnd;
    private final boolean isStreaming;
    private transient ValueState<byte[]> state;
    private transient MachineFactories.AccumulatorFactory factory;

    /**
     * Creates the Spark processor that computes the sliding-window aggregates of a JSON specification; their arguments
     * are the columns from `firstValue` to `valuesEnd` (exclusive), and `isStreaming` is false for a replay (batch). An
     * input row has its tick at index `tickColumn`, and `clock` converts watermarks to ticks. A replay needs no state
     * and no timers.
     */
    public AccumulatorProcessor(
            String specification, TickClock clock, int tickColumn, int firstValue, int valuesEnd, boolean isStreaming) {
        this.specification = specification;
        this.clock = clock;
        this.tickColumn = tickColumn;
        this.firstValue = firstValue;
        this.valuesEnd = valuesEnd;
        this.isStreaming = isStreaming;
    }

    /**
     * Opens Spark's state of the keys and parses the specification of the aggregates. Spark calls it once per task,
     * with two modes that are not used.
     */
    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("state", Encoders.BINARY(), TTLConfig.NONE());
        factory = MachineFactories.accumulators(specification);
    }

    /**
     * Adds the new rows of one key to its sliding-window aggregates, and returns the results for all ticks that the
     * watermark has closed. The watermark is in `timers`; a replay (batch) returns those of all ticks.
     */
    @Override
    public Iterator<Row> handleInputRows(Row key, Iterator<Row> input, TimerValues timers) {
        StateHeader header = StateHeader.of(isStreaming ? state.get() : null);
        Accumulator machine = load(header);
        while (input.hasNext()) {
            Row row = input.next();
            machine.take(row.getLong(tickColumn), RowConverter.values(row, firstValue, valuesEnd));
        }
        return isStreaming
                ? processClosed(key, machine, header, timers, KeyTimer.NONE)
                : new ReplayIterator(key, machine);
    }

    /**
     * Returns the sliding-window aggregates that are due for a key whose timer has fired without new rows. They are
     * those of the ticks that the watermark in `timers` has closed since the key last ran.
     */
    @Override
    public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo info) {
        StateHeader header = StateHeader.of(state.get());
        return processClosed(key, load(header), header, timers, info.getExpiryTimeInMs());
    }

    /** Decodes the sliding-window aggregates of a key from its saved state, or creates empty ones for a new key. */
    private Accumulator load(StateHeader header) {
        return header.content() == null ? factory.create() : factory.load(header.content());
    }

    /**
     * Returns a key's aggregates of the ticks that the watermark has closed, saves its state and sets its next timer;
     * `expiredTimerMillis` is the timer that has just fired, or KeyTimer.NONE. The watermark is in `timers` and the
     * timer set before in `header`.
     */
    private Iterator<Row> processClosed(
            Row key, Accumulator machine, StateHeader header, TimerValues timers, long expiredTimerMillis) {
        ArrayList<Row> output = new ArrayList<>();
        machine.advance(clock.lastClosedTick(timers.getCurrentWatermarkInMs()), emitter(key, output));
        long next = machine.nextTick();
        long newTimerMillis = next == Long.MAX_VALUE ? KeyTimer.NONE : clock.watermarkMillis(next);
        KeyTimer.update(getHandle(), header.timer(), newTimerMillis, expiredTimerMillis);
        byte[] content = machine.save();
        if (content != null) {
            state.update(new StateHeader(newTimerMillis, Long.MAX_VALUE, content).toBytes());
        } else if (header.content() != null) {
            state.clear();
        }
        return new RowConverter.DrainingIterator(output);
    }

    /** Creates an emitter that appends aggregates to `output` as Spark rows, each with its key and tick. */
    private static Emitter emitter(Row key, ArrayList<Row> output) {
        int keys = key.size();
        return (tick, seq, present, position, values) -> {
            Object[] cells = new Object[keys + 1 + values.length];
            for (int i = 0; i < keys; i++) {
                cells[i] = key.get(i);
            }
            cells[keys] = tick;
            for (int i = 0; i < values.length; i++) {
                cells[keys + 1 + i] = RowConverter.fitToSpark(values[i]);
            }
            output.add(RowFactory.create(cells));
        };
    }

    /** The output of a replay, some ticks at a time. */
    private static final class ReplayIterator extends scala.collection.AbstractIterator<Row> {
        private final Accumulator machine;
        private final ArrayList<Row> output = new ArrayList<>();
        private final Emitter emitter;
        private int position;

        /** Creates an iterator over the aggregates of one key, whose rows the accumulator already has. */
        ReplayIterator(Row key, Accumulator machine) {
            this.machine = machine;
            this.emitter = emitter(key, output);
        }

        /**
         * Whether the replay of one key has more output rows. Computes the aggregates of the next ticks when the
         * buffered ones are used up.
         */
        @Override
        public boolean hasNext() {
            while (position == output.size() && machine.nextTick() != Long.MAX_VALUE) {
                output.clear();
                position = 0;
                machine.advance(machine.nextTick() + TICKS_PER_STEP, emitter);
            }
            return position < output.size();
        }

        /** Returns the next row of aggregates in the replay of one key. */
        @Override
        public Row next() {
            return output.get(position++);
        }
    }
}
