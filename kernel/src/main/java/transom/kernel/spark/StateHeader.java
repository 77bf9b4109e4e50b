package transom.kernel.spark;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The stored state of a key: a version, its timer, the next wakeup of its machine, and the state of the machine.
 *
 * @param timer the timer in milliseconds, or KeyTimer.NONE
 * @param nextWakeup the tick at which the machine can evict all rows, or Long.MAX_VALUE
 * @param content the state of the machine; null for a new machine
 */
public record StateHeader(long timer, long nextWakeup, byte[] content) {
    /** The version of the encoding. State of any other version is refused. */
    static final byte VERSION = 1;

    private static final int SIZE = 1 + 2 * Long.BYTES;

    /**
     * Decodes what Spark stores for a key: its timer, its next wakeup and its state. For a new key, whose `bytes` are
     * null, there is no timer and no state.
     */
    public static StateHeader of(byte[] bytes) {
        if (bytes == null) {
            return new StateHeader(KeyTimer.NONE, Long.MAX_VALUE, null);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        byte version = buffer.get();
        if (version != VERSION) {
            throw new IllegalStateException("the state of a machine has version " + version + ", not " + VERSION
                    + ": start without the old state");
        }
        byte[] content = bytes.length == SIZE ? null : Arrays.copyOfRange(bytes, SIZE, bytes.length);
        return new StateHeader(buffer.getLong(), buffer.getLong(), content);
    }

    /** Encodes the key's timer, its next wakeup and its state for Spark's state store. The first byte is a version. */
    byte[] toBytes() {
        int contentSize = content == null ? 0 : content.length;
        ByteBuffer buffer = ByteBuffer.allocate(SIZE + contentSize).put(VERSION).putLong(timer).putLong(nextWakeup);
        return contentSize == 0 ? buffer.array() : buffer.put(content).array();
    }
}
