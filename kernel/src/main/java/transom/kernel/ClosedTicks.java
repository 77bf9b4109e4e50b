package transom.kernel;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.api.java.UDF1;

/** Whether a tick was closed when the micro-batch of a row began, by the watermark in Spark's log of offsets. */
final class ClosedTicks implements UDF1<Long, Boolean> {
    private static final long serialVersionUID = 1;
    private static final String BATCH = "streaming.sql.batchId";
    private static final Pattern WATERMARK = Pattern.compile("\"batchWatermarkMs\":(-?\\d+)");

    private final String offsets;
    private final Moments moments;
    private transient volatile Closed known;

    /** The last closed tick of a micro-batch. */
    private record Closed(String batch, long tick) {}

    ClosedTicks(String offsets, Moments moments) {
        this.offsets = offsets;
        this.moments = moments;
    }

    @Override
    public Boolean call(Long tick) {
        if (tick == null) {
            return false;
        }
        TaskContext task = TaskContext.get();
        String batch = task == null ? null : task.getLocalProperty(BATCH);
        if (batch == null) {
            throw new IllegalStateException("this version of Spark does not tell " + BATCH + " to a task");
        }
        Closed closed = known;
        if (closed == null || !closed.batch().equals(batch)) {
            closed = new Closed(batch, moments.closed(watermark(Path.of(offsets, batch))));
            known = closed;
        }
        return tick <= closed.tick();
    }

    /** The watermark of a micro-batch in milliseconds: the second line of its entry has it. */
    static long watermark(Path log) {
        try {
            String about = Files.readAllLines(log, StandardCharsets.UTF_8).get(1);
            Matcher found = WATERMARK.matcher(about);
            if (!found.find()) {
                throw new IllegalStateException(log + " has no watermark");
            }
            return Long.parseLong(found.group(1));
        } catch (IOException error) {
            String words = log + " cannot be read: every Spark executor must be able to read the checkpoint";
            throw new UncheckedIOException(words, error);
        }
    }
}
