package transom.kernel.spark;

import java.io.Serializable;

/**
 * Converts ticks to watermarks in milliseconds, and watermarks to ticks.
 *
 * @param originMicros the instant at which tick 0 ends, in microseconds since 1970
 * @param tickMicros the length of a tick in microseconds
 */
public record TickClock(long originMicros, long tickMicros) implements Serializable {
    /**
     * The smallest watermark, in milliseconds since 1970, that closes `tick`. It is the instant at which the tick ends,
     * rounded up.
     */
    long watermarkMillis(long tick) {
        return -Math.floorDiv(-(originMicros + tick * tickMicros), 1000L);
    }

    /** The last tick whose end is not after a watermark, which is in milliseconds since 1970. */
    long lastClosedTick(long watermarkMillis) {
        return Math.floorDiv(watermarkMillis * 1000L - originMicros, tickMicros);
    }
}
