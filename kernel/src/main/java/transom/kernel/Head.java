package transom.kernel;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What a runner keeps of a key: a version, its timer, when its machine wants to forget, and the state of the machine.
 *
 * @param timer the millisecond of its timer, or Timer.NONE
 * @param wake the tick at which all that the machine holds can be forgotten, or Long.MAX_VALUE
 * @param content the state of the machine, null for a new one
 */
record Head(long timer, long wake, byte[] content) {
    /** The version of these bytes; another one is not read. */
    static final byte VERSION = 1;

    private static final int SIZE = 1 + 2 * Long.BYTES;

    /** What was kept; for null, that of a new key. */
    static Head of(byte[] bytes) {
        if (bytes == null) {
            return new Head(Timer.NONE, Long.MAX_VALUE, null);
        }
        ByteBuffer from = ByteBuffer.wrap(bytes);
        byte version = from.get();
        if (version != VERSION) {
            throw new IllegalStateException("the state of a machine has version " + version + ", not " + VERSION
                    + ": start without the old state");
        }
        byte[] content = bytes.length == SIZE ? null : Arrays.copyOfRange(bytes, SIZE, bytes.length);
        return new Head(from.getLong(), from.getLong(), content);
    }

    /** As bytes. */
    byte[] bytes() {
        int size = content == null ? 0 : content.length;
        ByteBuffer to = ByteBuffer.allocate(SIZE + size).put(VERSION).putLong(timer).putLong(wake);
        return size == 0 ? to.array() : to.put(content).array();
    }
}
