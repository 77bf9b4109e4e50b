package transom.kernel;

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

/**
 * Puts a machine that gathers into transformWithState: rows go in as they come, what is closed comes out.
 *
 * <p>A row that comes in has its tick in the column `t` and its values from `values` on; one that goes out has the
 * key, the tick and the values that the machine made. One value per key is kept: the timer, then the state of the
 * machine.
 */
final class SlideRunner extends StatefulProcessor<Row, Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int AT_ONCE = 4096;

    private final String specification;
    private final Moments moments;
    private final int tickAt;
    private final int valuesFrom;
    private final int valuesTo;
    private final boolean live;
    private transient ValueState<byte[]> state;
    private transient Machines.Gatherer machines;

    SlideRunner(String specification, Moments moments, int tickAt, int valuesFrom, int valuesTo, boolean live) {
        this.specification = specification;
        this.moments = moments;
        this.tickAt = tickAt;
        this.valuesFrom = valuesFrom;
        this.valuesTo = valuesTo;
        this.live = live;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("state", Encoders.BINARY(), TTLConfig.NONE());
        machines = Machines.gathering(specification);
    }

    @Override
    public Iterator<Row> handleInputRows(Row key, Iterator<Row> rows, TimerValues timers) {
        Head before = Head.of(live ? state.get() : null);
        Gathering machine = load(before);
        while (rows.hasNext()) {
            Row row = rows.next();
            machine.take(row.getLong(tickAt), Rows.values(row, valuesFrom, valuesTo));
        }
        return live ? finish(key, machine, before, timers, Timer.NONE) : new All(key, machine);
    }

    @Override
    public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo info) {
        Head before = Head.of(state.get());
        return finish(key, load(before), before, timers, info.getExpiryTimeInMs());
    }

    private Gathering load(Head before) {
        return before.content() == null ? machines.fresh() : machines.load(before.content());
    }

    private Iterator<Row> finish(Row key, Gathering machine, Head before, TimerValues timers, long fired) {
        ArrayList<Row> made = new ArrayList<>();
        machine.advance(moments.closed(timers.getCurrentWatermarkInMs()), out(key, made));
        long next = machine.next();
        long wanted = next == Long.MAX_VALUE ? Timer.NONE : moments.milliseconds(next);
        Timer.move(getHandle(), before.timer(), wanted, fired);
        byte[] content = machine.save();
        if (content != null) {
            state.update(new Head(wanted, Long.MAX_VALUE, content).bytes());
        } else if (before.content() != null) {
            state.clear();
        }
        return new Rows.Waiting(made);
    }

    private static Out out(Row key, ArrayList<Row> made) {
        int keys = key.size();
        return (tick, seq, present, place, values) -> {
            Object[] cells = new Object[keys + 1 + values.length];
            for (int at = 0; at < keys; at++) {
                cells[at] = key.get(at);
            }
            cells[keys] = tick;
            for (int at = 0; at < values.length; at++) {
                cells[keys + 1 + at] = Rows.fitting(values[at]);
            }
            made.add(RowFactory.create(cells));
        };
    }

    /** All that a replay makes, some windows at a time. */
    private static final class All extends scala.collection.AbstractIterator<Row> {
        private final Gathering machine;
        private final ArrayList<Row> made = new ArrayList<>();
        private final Out out;
        private int place;

        All(Row key, Gathering machine) {
            this.machine = machine;
            this.out = out(key, made);
        }

        @Override
        public boolean hasNext() {
            while (place == made.size() && machine.next() != Long.MAX_VALUE) {
                made.clear();
                place = 0;
                machine.advance(machine.next() + AT_ONCE, out);
            }
            return place < made.size();
        }

        @Override
        public Row next() {
            return made.get(place++);
        }
    }
}
