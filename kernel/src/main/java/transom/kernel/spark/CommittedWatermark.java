package transom.kernel.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The watermark of the next micro-batch, read from the commit log of a query. The Python clock has the same. */
final class CommittedWatermark {
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    private static final Pattern WATERMARK = Pattern.compile("\"nextBatchWatermarkMs\":(-?\\d+)");

    private final Path commitLog;
    private final TickClock clock;
    private long lastCommit = -1;
    private Long closedTick;

    /** Creates a reader of the commit log in a folder, which need not exist yet. */
    CommittedWatermark(Path commitLog, TickClock clock) {
        this.commitLog = commitLog;
        this.clock = clock;
    }

    /**
     * The last tick that the next micro-batch closes; null before the first commit; throws IllegalStateException if
     * there is no commit although the query `hasCommitted` a micro-batch.
     */
    Long closedTick(boolean hasCommitted) {
        try {
            long last = lastCommit < 0 && Files.isDirectory(commitLog) ? newestCommit() : lastCommit;
            while (Files.exists(commitLog.resolve(Long.toString(last + 1)))) {
                last++;
            }
            if (last > lastCommit) {
                closedTick = clock.lastClosedTick(watermark(commitLog.resolve(Long.toString(last))));
                lastCommit = last;
            }
            if (hasCommitted && last < 0) {
                throw new IllegalStateException(
                        commitLog + " cannot be read: the driver of Spark must be able to read the checkpoint");
            }
            return closedTick;
        } catch (IOException error) {
            throw new UncheckedIOException(commitLog + " cannot be read", error);
        }
    }

    /** The number of the newest file in the commit log; -1 if there is none. */
    private long newestCommit() throws IOException {
        try (Stream<Path> files = Files.list(commitLog)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> NUMBER.matcher(name).matches())
                    .mapToLong(Long::parseLong)
                    .max()
                    .orElse(-1);
        }
    }

    /** Reads the next micro-batch's watermark, in milliseconds since 1970, from a file of the commit log. */
    private static long watermark(Path commit) throws IOException {
        Matcher matcher = WATERMARK.matcher(Files.readString(commit, StandardCharsets.UTF_8));
        if (!matcher.find()) {
            throw new IllegalStateException(commit + " has no watermark");
        }
        return Long.parseLong(matcher.group(1));
    }
}
