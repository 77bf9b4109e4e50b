package transom.kernel;

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

/**
 * Puts machines of many keys into transformWithState: Spark's key is a bucket, which has one state and one timer.
 *
 * <p>Rows wait until their tick is closed. A row that goes out has the tick, the window, whether it is present, its
 * place, the key, and the values that the machine made.
 */
final class BucketRunner extends StatefulProcessor<Row, Row, Row> {
    private static final long serialVersionUID = 1L;

    private final String specification;
    private final Moments moments;
    private final Shape shape;
    private final boolean live;
    private transient ValueState<byte[]> state;
    private transient ValueState<byte[]> waiting;
    private transient ValueState<byte[]> timer;
    private transient Machines.TimedMaker machines;

    BucketRunner(String specification, Moments moments, Shape shape, boolean live) {
        this.specification = specification;
        this.moments = moments;
        this.shape = shape;
        this.live = live;
    }

    @Override
    public void init(OutputMode outputMode, TimeMode timeMode) {
        state = getHandle().getValueState("state", Encoders.BINARY(), TTLConfig.NONE());
        waiting = getHandle().getValueState("waiting", Encoders.BINARY(), TTLConfig.NONE());
        timer = getHandle().getValueState("timer", Encoders.BINARY(), TTLConfig.NONE());
        machines = Machines.timed(specification);
    }

    @Override
    public Iterator<Row> handleInputRows(Row key, Iterator<Row> rows, TimerValues timers) {
        ArrayList<Coming> coming = live ? Waiting.read(waiting.get()) : new ArrayList<>();
        while (rows.hasNext()) {
            coming.add(shape.coming(rows.next()));
        }
        return live ? finish(coming, timers, Timer.NONE) : new All(Bucket.byKey(coming));
    }

    @Override
    public Iterator<Row> handleExpiredTimer(Row key, TimerValues timers, ExpiredTimerInfo info) {
        return finish(Waiting.read(waiting.get()), timers, info.getExpiryTimeInMs());
    }

    private Iterator<Row> finish(ArrayList<Coming> coming, TimerValues timers, long fired) {
        long closed = moments.closed(timers.getCurrentWatermarkInMs());
        Head head = Head.of(timer.get());
        ArrayList<Coming> ready = new ArrayList<>();
        ArrayList<Coming> rest = new ArrayList<>();
        long next = Long.MAX_VALUE;
        for (Coming row : coming) {
            if (row.tick() <= closed) {
                ready.add(row);
            } else {
                rest.add(row);
                next = Math.min(next, row.tick());
            }
        }
        ArrayList<Row> made = new ArrayList<>();
        long wake = head.wake();
        if (!ready.isEmpty() || wake <= closed) {
            Bucket bucket = new Bucket(machines, state.get());
            bucket.run(ready, closed, of -> out(of, made));
            wake = bucket.wake();
            byte[] after = bucket.save();
            if (after == null) {
                state.clear();
            } else {
                state.update(after);
            }
        }
        next = Math.min(next, wake);
        long wanted = next == Long.MAX_VALUE ? Timer.NONE : moments.milliseconds(next);
        Timer.move(getHandle(), head.timer(), wanted, fired);
        keep(rest, !coming.isEmpty());
        if (wanted == Timer.NONE) {
            timer.clear();
        } else {
            timer.update(new Head(wanted, wake, null).bytes());
        }
        return new Rows.Waiting(made);
    }

    private void keep(List<Coming> rest, boolean any) {
        if (!rest.isEmpty()) {
            waiting.update(Waiting.write(rest));
        } else if (any) {
            waiting.clear();
        }
    }

    private Out out(Object[] key, ArrayList<Row> made) {
        int width = 4 + shape.out();
        return (tick, seq, present, place, values) -> {
            Object[] cells = new Object[width];
            cells[0] = tick;
            cells[1] = seq;
            cells[2] = present;
            cells[3] = place;
            System.arraycopy(key, 0, cells, 4, key.length);
            for (int at = 0; present && at < values.length; at++) {
                cells[4 + key.length + at] = Rows.fitting(values[at]);
            }
            made.add(RowFactory.create(cells));
        };
    }

    /** All that a replay makes, key by key. */
    private final class All extends scala.collection.AbstractIterator<Row> {
        private final java.util.Iterator<Map.Entry<RowKey, ArrayList<Coming>>> keys;
        private final ArrayList<Row> made = new ArrayList<>();
        private int place;

        All(Map<RowKey, ArrayList<Coming>> rows) {
            this.keys = rows.entrySet().iterator();
        }

        @Override
        public boolean hasNext() {
            while (place == made.size() && keys.hasNext()) {
                made.clear();
                place = 0;
                Map.Entry<RowKey, ArrayList<Coming>> entry = keys.next();
                Timed machine = machines.fresh();
                Out out = out(entry.getKey().row(), made);
                Bucket.feed(machine, entry.getValue(), out);
                if (machines.until() != Long.MAX_VALUE) {
                    machine.advance(machines.until(), out);
                }
                keys.remove();
            }
            return place < made.size();
        }

        @Override
        public Row next() {
            return made.get(place++);
        }
    }
}
