package transom.kernel.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
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
 * The micro-batches of the clock. An offset is a tick; the rows between two offsets never change.
 *
 * <p>The offset `tick` is the last heartbeat. With a commit log, the offset `closed` is the last tick that the watermark
 * of the micro-batch closes, and ticks up to `closed` have been emitted. Otherwise, ticks up to `tick` have been
 * emitted. The watermark of a micro-batch is in the commit log before Spark asks for the offset. So each tick arrives in
 * the micro-batch that closes it: not late, and not early.
 *
 * <p>After a restart, Spark restores the watermark of a source only from new rows. A clock with an end has no new rows,
 * and one with long periods has none for a long time: it would hold back the watermark of all sources. Therefore the
 * offset contains the start time of the query, and each micro-batch ends with a heartbeat: the tick after the end, or
 * the last completed tick. The JSON of offsets is that of the Python clock.
 *
 * <p>Trigger.AvailableNow fixes the last tick when the query starts. Without that interface, Spark falls back to a
 * single micro-batch, and the ticks that its watermark closes would not be emitted before the next run.
 */
final class ClockStream implements MicroBatchStream, SupportsTriggerAvailableNow {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ClockSetting setting;
    private final long startedMicros;
    private final CommittedWatermark watermark;
    private long latestTick;
    private long emittedTick;
    private Long availableNowTick;

    /** Creates a stream of ticks that starts now. */
    ClockStream(ClockSetting setting) {
        this.setting = setting;
        this.startedMicros = nowMicros();
        TickClock clock = new TickClock(setting.epochMicros() + setting.tickMicros(), setting.tickMicros());
        this.watermark =
                setting.commitLog() == null ? null : new CommittedWatermark(Path.of(setting.commitLog()), clock);
        this.latestTick = setting.firstTick() - 1;
        this.emittedTick = setting.firstTick() - 1;
    }

    /** The name of the clock in Spark's progress reports. */
    @Override
    public String toString() {
        return "transom_clock";
    }

    /** The offset at which a new query starts to read the clock: before its first tick. */
    @Override
    public Offset initialOffset() {
        return new ClockOffset(setting.firstTick() - 1, null, null);
    }

    /** Fixes the last tick of a Trigger.AvailableNow run, so that all its micro-batches stop there. */
    @Override
    public void prepareForTriggerAvailableNow() {
        availableNowTick = endTick();
    }

    /** The offset up to which the next micro-batch of the clock reads; ignores `limit`. */
    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        return latestOffset(start instanceof ClockOffset offset && offset.startedMicros != null);
    }

    /** The offset of the last tick that the clock can produce now; it never decreases. */
    @Override
    public Offset latestOffset() {
        return latestOffset(false);
    }

    /** The latest offset of the clock; `hasCommitted` says whether the query has committed a micro-batch. */
    private Offset latestOffset(boolean hasCommitted) {
        latestTick = Math.max(availableNowTick == null ? endTick() : availableNowTick, latestTick);
        if (watermark == null) {
            return new ClockOffset(latestTick, null, startedMicros);
        }
        Long closed = watermark.closedTick(hasCommitted);
        emittedTick = closed == null ? emittedTick : Math.max(closed, emittedTick);
        return new ClockOffset(latestTick, emittedTick, startedMicros);
    }

    /**
     * The last tick that a micro-batch can read now, by the clock's end or by wall-clock time. It is the tick after the
     * clock's end, or, for a clock without end, the last tick that has passed, less the heartbeat lag.
     */
    private long endTick() {
        if (setting.lastTick() != null) {
            return setting.lastTick() + 1;
        }
        return setting.lastCompletedTick(nowMicros()) - (setting.heartbeatLag() == null ? 0 : setting.heartbeatLag());
    }

    /** Parses the JSON of a clock offset from Spark's offset log; throws IllegalArgumentException if it is not JSON. */
    @Override
    public Offset deserializeOffset(String json) {
        try {
            JsonNode node = JSON.readTree(json);
            ClockOffset offset =
                    new ClockOffset(node.get("tick").asLong(), number(node.get("closed")), number(node.get("started")));
            latestTick = Math.max(latestTick, offset.tick);
            emittedTick = Math.max(emittedTick, offset.emitted());
            return offset;
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("the offset of the clock is not JSON: " + json, error);
        }
    }

    /** Converts an optional JSON number to a Long; null if the entry is missing. */
    private static Long number(JsonNode node) {
        return node == null ? null : Long.valueOf(node.asLong());
    }

    /**
     * Plans one micro-batch of the clock: a single partition with the ticks after `start` up to `end`. There is none if
     * both are equal and the query has not been restarted.
     */
    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        ClockOffset from = (ClockOffset) start;
        ClockOffset to = (ClockOffset) end;
        boolean restarted = !Objects.equals(from.startedMicros, to.startedMicros);
        boolean hasRows = restarted || from.tick < to.tick || from.emitted() < to.emitted();
        return hasRows
                ? new InputPartition[] {new TickRange(setting, from.emitted(), to.emitted(), to.tick)}
                : new InputPartition[0];
    }

    /** Creates the factory of the readers that produce the clock's ticks in Spark's tasks. */
    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new TickReaderFactory();
    }

    /** Does nothing after a micro-batch: the clock computes its ticks and stores none. */
    @Override
    public void commit(Offset end) {}

    /** Does nothing: the clock holds no resources. */
    @Override
    public void stop() {}

    /** The wall-clock time in microseconds since 1970. */
    private static long nowMicros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** The last heartbeat, the last closed tick, and the start time of the query in microseconds. */
    private static final class ClockOffset extends Offset {
        private final long tick;
        private final Long closedTick;
        private final Long startedMicros;

        /**
         * Creates an offset after a tick. `closedTick` is null without a commit log; `startedMicros` is the start time
         * of the query, or null before the first micro-batch.
         */
        ClockOffset(long tick, Long closedTick, Long startedMicros) {
            this.tick = tick;
            this.closedTick = closedTick;
            this.startedMicros = startedMicros;
        }

        /** The last tick up to which the clock has emitted its ticks. */
        long emitted() {
            return closedTick == null ? tick : closedTick;
        }

        /**
         * Encodes the clock offset as JSON for Spark's offset log. It has the last heartbeat, the last closed tick if
         * the clock reads a commit log and, after the first micro-batch, the start time of the query.
         */
        @Override
        public String json() {
            return "{\"tick\": " + tick + entry("closed", closedTick) + entry("started", startedMicros) + "}";
        }

        /** Encodes an entry of a JSON object that follows another one; empty if its value is null. */
        private static String entry(String name, Long value) {
            return value == null ? "" : ", \"" + name + "\": " + value;
        }
    }

    /**
     * One micro-batch of the clock, as its only partition: the ticks after `startTick`, up to and including `endTick`,
     * and the heartbeat at `heartbeatTick`. `setting` describes the clock.
     */
    private record TickRange(ClockSetting setting, long startTick, long endTick, long heartbeatTick)
            implements InputPartition {}

    /** Creates the readers of the ticks of micro-batches; Spark sends it to its tasks. */
    private static final class TickReaderFactory implements PartitionReaderFactory {
        private static final long serialVersionUID = 1L;

        /** Creates a reader of the ticks of one micro-batch. */
        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new TickReader((TickRange) partition);
        }
    }

    /** Reads the ticks of a range and the heartbeat after them. */
    private static final class TickReader implements PartitionReader<InternalRow> {
        private final TickRange range;
        private final long lastTick;
        private final long heartbeat;
        private final boolean hasHeartbeat;
        private long tick;
        private boolean hasStarted;
        private boolean isHeartbeat;

        /** Creates a reader of the ticks of a range, with the heartbeat that follows them. */
        TickReader(TickRange range) {
            this.range = range;
            Long lastClockTick = range.setting.lastTick();
            this.lastTick = lastClockTick == null ? range.endTick : Math.min(range.endTick, lastClockTick);
            this.heartbeat = lastClockTick == null ? range.heartbeatTick : lastClockTick + 1;
            this.hasHeartbeat = lastClockTick == null
                    ? range.setting.firstTick() <= range.heartbeatTick
                    : lastClockTick < range.heartbeatTick;
        }

        /**
         * Advances to the next tick of the micro-batch, then to the heartbeat that ends it; returns false when no row
         * is left.
         */
        @Override
        public boolean next() {
            if (isHeartbeat) {
                return false;
            }
            if (range.setting.heartbeatLag() == null) {
                tick = range.setting.nextTick(hasStarted ? tick + 1 : range.startTick + 1);
                hasStarted = true;
                if (tick <= lastTick) {
                    return true;
                }
            }
            isHeartbeat = true;
            tick = heartbeat;
            return hasHeartbeat;
        }

        /** The current row of the clock: the tick and whether it is a heartbeat. */
        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {tick, isHeartbeat});
        }

        /** Does nothing: the reader of ticks holds no resources. */
        @Override
        public void close() {}
    }
}
