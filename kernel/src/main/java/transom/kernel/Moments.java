package transom.kernel;

import java.io.Serializable;

/**
 * Ticks as milliseconds of the watermark and back.
 *
 * @param zero the instant at which tick 0 ends, in microseconds since 1970
 * @param length microseconds of a tick
 */
record Moments(long zero, long length) implements Serializable {
    /** The least whole millisecond at which the watermark has reached a tick. */
    long milliseconds(long tick) {
        return -Math.floorDiv(-(zero + tick * length), 1000L);
    }

    /** The last tick that a watermark in milliseconds has reached. */
    long closed(long watermark) {
        return Math.floorDiv(watermark * 1000L - zero, length);
    }
}
