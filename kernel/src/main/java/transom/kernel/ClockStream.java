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

/**
 * Offsets are ticks; what lies between two offsets never changes.
 *
 * <p>A clock with an end has shown everything in its first micro-batch. After a restart Spark knows the watermark of
 * a source only from rows that come again, and without any it would hold all others up for ever: so every start is
 * part of the offset, and shows the mark after the end once more. Offsets read as those of the Python clock do.
 */
final class ClockStream implements MicroBatchStream {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ClockSetting setting;
    private final long started;
    private long latest;

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
    public Offset latestOffset() {
        if (setting.until() != null) {
            latest = Math.max(setting.until() + 1, latest);
            return new Shown(latest, started);
        }
        long behind = setting.behind() == null ? 0 : setting.behind();
        latest = Math.max(setting.completed(now()) - behind, latest);
        return new Shown(latest, null);
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
        boolean again = setting.until() != null && !Objects.equals(from.started, to.started);
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

    /** The ticks of a span, and the mark after the end of a clock that has one. */
    private static final class Reader implements PartitionReader<InternalRow> {
        private final Span span;
        private final long last;
        private final boolean mark;
        private long tick;
        private boolean begun;
        private boolean over;

        Reader(Span span) {
            this.span = span;
            Long until = span.setting.until();
            this.last = until == null ? span.end : Math.min(span.end, until);
            this.mark = until != null && until < span.end;
        }

        @Override
        public boolean next() {
            if (over) {
                return false;
            }
            if (span.setting.behind() != null) {
                tick = span.end;
                over = true;
                return true;
            }
            tick = span.setting.from(begun ? tick + 1 : span.start + 1);
            begun = true;
            if (tick <= last) {
                return true;
            }
            over = true;
            if (mark) {
                tick = span.setting.until() + 1;
            }
            return mark;
        }

        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {tick});
        }

        @Override
        public void close() {}
    }
}
