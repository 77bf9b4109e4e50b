package transom.kernel;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/**
 * Offsets are ticks; what lies between two offsets never changes.
 *
 * <p>After a restart Spark knows the watermark of a source only from rows that come again. A clock with an end has none
 * to come, and one with long periods none for long: it would hold up all other sources. So every start is part of the
 * offset, and each micro-batch ends with a heartbeat: the tick after the end, or the last tick that is over. Offsets
 * read as those of the Python clock do.
 *
 * <p>Trigger.AvailableNow pins the last tick when the query starts. Without that interface Spark falls back to a single
 * micro-batch, and the ticks that its watermark closes would wait for the next run.
 */
final class ClockStream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ClockSetting setting;
    private final long started;
    private long latest;
    private Long target;

    ClockStream(ClockSetting setting) {
        this.setting = setting;
        this.started = now();
        this.latest = setting.first() - 1;
    }

    /** What Spark's reports call it. */
    @Override
    public String toString() {
        return "transom_clock";
    }

    @Override
    public Offset initialOffset() {
        return new Shown(setting.first() - 1, null);
    }

    @Override
    public void prepareForTriggerAvailableNow() {
        target = last();
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        return latestOffset();
    }

    @Override
    public Offset latestOffset() {
        latest = Math.max(target == null ? last() : target, latest);
        return new Shown(latest, started);
    }

    /** The tick after the end, or the last tick that is over by the wall clock. */
    private long last() {
        if (setting.until() != null) {
            return setting.until() + 1;
        }
        return setting.completed(now()) - (setting.behind() == null ? 0 : setting.behind());
    }

    @Override
    public Offset deserializeOffset(String json) {
        try {
            JsonNode node = JSON.readTree(json);
            JsonNode start = node.get("started");
            Shown offset = new Shown(node.get("tick").asLong(), start == null ? null : start.asLong());
            latest = Math.max(latest, offset.tick);
            return offset;
        } catch (JsonProcessingException broken) {
            throw new IllegalArgumentException("the offset of the clock is not JSON: " + json, broken);
        }
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        Shown from = (Shown) start;
        Shown to = (Shown) end;
        boolean again = !Objects.equals(from.started, to.started);
        boolean some = from.tick < to.tick || again;
        return some ? new InputPartition[] {new Span(setting, from.tick, to.tick)} : new InputPartition[0];
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new Readers();
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public void stop() {}

    private static long now() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** How far the clock has been shown. */
    private static final class Shown extends Offset {
        private final long tick;
        private final Long started;

        Shown(long tick, Long started) {
            this.tick = tick;
            this.started = started;
        }

        @Override
        public String json() {
            return started == null
                    ? "{\"tick\": " + tick + "}"
                    : "{\"tick\": " + tick + ", \"started\": " + started + "}";
        }
    }

    /** Ticks after `start`, up to and including `end`. */
    private record Span(ClockSetting setting, long start, long end) implements InputPartition {}

    private static final class Readers implements PartitionReaderFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new Reader((Span) partition);
        }
    }

    /** The ticks of a span, and the heartbeat after them. */
    private static final class Reader implements PartitionReader<InternalRow> {
        private final Span span;
        private final long last;
        private final long heartbeat;
        private final boolean beats;
        private long tick;
        private boolean begun;
        private boolean over;

        Reader(Span span) {
            this.span = span;
            Long until = span.setting.until();
            this.last = until == null ? span.end : Math.min(span.end, until);
            this.heartbeat = until == null ? span.end : until + 1;
            this.beats = until == null ? span.setting.first() <= span.end : until < span.end;
        }

        @Override
        public boolean next() {
            if (over) {
                return false;
            }
            if (span.setting.behind() == null) {
                tick = span.setting.from(begun ? tick + 1 : span.start + 1);
                begun = true;
                if (tick <= last) {
                    return true;
                }
            }
            over = true;
            tick = heartbeat;
            return beats;
        }

        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {tick, over});
        }

        @Override
        public void close() {}
    }
}
