package transom.kernel;

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

/**
 * Puts a machine into transformWithState: keeps the rows of a key until their tick is closed, hands them on tick by
 * tick, in order, and keeps the state of the machine as bytes. The Python runner does the same.
 */
final class MachineRunner extends StatefulProcessor<Row, Row, Row> {
    private static final long serialVersionUID = 1L;

    private final String specification;
    private final Moments moments;
    private final Shape shape;
    private final boolean live;
    private transient ValueState<byte[]> state;
    private transient ValueState<byte[]> waiting;
    private transient Machines.Maker machines;

    MachineRunner(String specification, Moments moments, Shape shape, boolean live) {
        this.specification = specification;
        this.moments = moments;
        this.shape = shape;
        this.live = live;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("state", Encoders.BINARY(), TTLConfig.NONE());
        waiting = getHandle().getValueState("waiting", Encoders.BINARY(), TTLConfig.NONE());
        machines = Machines.of(specification);
    }

    @Override
    public Iterator<Row> handleInputRows(Row key, Iterator<Row> rows, TimerValues timers) {
        ArrayList<Coming> coming = live ? Waiting.read(waiting.get()) : new ArrayList<>();
        while (rows.hasNext()) {
            coming.add(shape.coming(rows.next()));
        }
        coming.sort(Coming.IN_ORDER);
        return live ? finish(key, coming, timers, Timer.NONE) : new All(key, machines.fresh(), coming);
    }

    @Override
    public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo info) {
        ArrayList<Coming> coming = Waiting.read(waiting.get());
        coming.sort(Coming.IN_ORDER);
        return finish(key, coming, timers, info.getExpiryTimeInMs());
    }

    private Iterator<Row> finish(Row key, ArrayList<Coming> coming, TimerValues timers, long fired) {
        Head head = Head.of(state.get());
        long closed = moments.closed(timers.getCurrentWatermarkInMs());
        int ready = 0;
        while (ready < coming.size() && coming.get(ready).tick() <= closed) {
            ready++;
        }
        ArrayList<Row> made = new ArrayList<>();
        byte[] after = head.content();
        long wake = head.wake();
        if (ready > 0 || wake <= closed) {
            Machine machine = after == null ? machines.fresh() : machines.load(after);
            Out out = out(key, made);
            for (int at = 0; at < ready; ) {
                at = feed(machine, coming, at, ready, out);
            }
            machine.forget(closed);
            wake = machine.wake();
            after = wake == Long.MAX_VALUE && forgets(machine) ? null : machine.save();
        }
        List<Coming> rest = coming.subList(ready, coming.size());
        long next = Math.min(wake, rest.isEmpty() ? Long.MAX_VALUE : rest.get(0).tick());
        long wanted = next == Long.MAX_VALUE ? Timer.NONE : moments.milliseconds(next);
        Timer.move(getHandle(), head.timer(), wanted, fired);
        if (rest.isEmpty()) {
            waiting.clear();
        } else {
            waiting.update(Waiting.write(rest));
        }
        if (after == null && wanted == Timer.NONE) {
            state.clear();
        } else {
            state.update(new Head(wanted, wake, after).bytes());
        }
        return new Rows.Waiting(made);
    }

    /** Whether a machine that holds nothing is as good as new. */
    private static boolean forgets(Machine machine) {
        return machine.forgets() && machine.held() == 0 || machine instanceof Change change && change.over();
    }

    /** Hand on the rows of one tick; the place of the first row of the next. */
    private static int feed(Machine machine, List<Coming> coming, int from, int to, Out out) {
        long tick = coming.get(from).tick();
        ArrayList<Arrival> rows = new ArrayList<>();
        int at = from;
        while (at < to && coming.get(at).tick() == tick) {
            rows.add(coming.get(at++).row());
        }
        machine.feed(tick, rows, out);
        return at;
    }

    /** A row that only says that a window exists comes from one bucket alone. */
    private Out out(Row key, ArrayList<Row> made) {
        boolean first = shape.buckets() == 1 || key.getInt(key.size() - 1) == 0;
        int lines = shape.lines();
        int width = shape.out();
        return (tick, seq, present, place, values) -> {
            if (!present && !first) {
                return;
            }
            Object[] cells = new Object[lines + 4 + width];
            for (int at = 0; at < lines; at++) {
                cells[at] = key.get(at);
            }
            cells[lines] = tick;
            cells[lines + 1] = seq;
            cells[lines + 2] = present;
            cells[lines + 3] = place;
            if (present) {
                System.arraycopy(values, 0, cells, lines + 4, width);
            }
            made.add(RowFactory.create(cells));
        };
    }

    /** All that a replay makes, tick by tick. */
    private final class All extends scala.collection.AbstractIterator<Row> {
        private final Machine machine;
        private final ArrayList<Coming> coming;
        private final ArrayList<Row> made = new ArrayList<>();
        private final Out out;
        private int at;
        private int place;

        All(Row key, Machine machine, ArrayList<Coming> coming) {
            this.machine = machine;
            this.coming = coming;
            this.out = out(key, made);
        }

        @Override
        public boolean hasNext() {
            while (place == made.size() && at < coming.size()) {
                made.clear();
                place = 0;
                at = feed(machine, coming, at, coming.size(), out);
            }
            return place < made.size();
        }

        @Override
        public Row next() {
            return made.get(place++);
        }
    }
}
