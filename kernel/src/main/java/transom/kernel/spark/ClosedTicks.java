package transom.kernel.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF1;

/** Whether a tick was closed when the micro-batch of a row began, by the watermark in Spark's offset log. */
public final class ClosedTicks implements UDF1<Long, Boolean> {
    private static final long serialVersionUID = 1;
    private static final String BATCH = "streaming.sql.batchId";
    private static final Pattern WATERMARK = Pattern.compile("\"batchWatermarkMs\":(-?\\d+)");

    private final String offsetLog;
    private final TickClock clock;
    private transient volatile Closed cachedTick;

    /** The last tick that was closed when a micro-batch began. Each task caches that of one micro-batch. */
    private record Closed(String batchId, long tick) {}

    /**
     * Creates the function that recognizes late rows by the watermarks in Spark's offset log. `offsetLog` is the log's
     * folder, and `clock` converts watermarks to ticks.
     */
    public ClosedTicks(String offsetLog, TickClock clock) {
        this.offsetLog = offsetLog;
        this.clock = clock;
    }

    /**
     * Whether a row is late: the watermark had closed its tick before the current micro-batch began. False for NULL.
     */
    @Override
    public Boolean call(Long tick) {
        if (tick == null) {
            return false;
        }
        TaskContext task = TaskContext.get();
        String batchId = task == null ? null : task.getLocalProperty(BATCH);
        if (batchId == null) {
            throw new IllegalStateException("this version of Spark does not pass " + BATCH + " to a task");
        }
        Closed lastClosed = cachedTick;
        if (lastClosed == null || !lastClosed.batchId().equals(batchId)) {
            lastClosed = new Closed(batchId, clock.lastClosedTick(watermark(Path.of(offsetLog, batchId))));
            cachedTick = lastClosed;
        }
        return tick <= lastClosed.tick();
    }

    /**
     * Reads the watermark of a micro-batch, in milliseconds since 1970, from its file `logEntry` in Spark's offset log.
     */
    static long watermark(Path logEntry) {
        try {
            String metadata = Files.readAllLines(logEntry, StandardCharsets.UTF_8).get(1);
            Matcher matcher = WATERMARK.matcher(metadata);
            if (!matcher.find()) {
                throw new IllegalStateException(logEntry + " has no watermark");
            }
            return Long.parseLong(matcher.group(1));
        } catch (IOException error) {
            String message = logEntry + " cannot be read: every Spark executor must be able to read the checkpoint";
            throw new UncheckedIOException(message, error);
        }
    }
}
