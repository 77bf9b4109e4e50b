package transom.kernel.state;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Encodes state as bytes: a version, a letter for the machine, then numbers and typed values. */
public final class Codec {
    /** The version of the encoding. State of any other version is refused. */
    public static final byte VERSION = 1;

    private static final int NULL = 0;
    private static final int FALSE = 1;
    private static final int TRUE = 2;
    private static final int LONG = 3;
    private static final int DOUBLE = 4;
    private static final int LATIN1_TEXT = 5;
    private static final int UTF16_TEXT = 6;
    private static final int DECIMAL = 7;
    private static final int LONG_DECIMAL = 8;
    private static final int TUPLE = 9;

    /** Prevents instantiation: the class only groups writer and reader. */
    private Codec() {}

    /** Writes the state of a machine. */
    public static final class Writer {
        private byte[] bytes = new byte[64];
        private int size;

        /** Starts to encode saved state, with a version and the letter that identifies the kind of state machine. */
        public Writer(char letter) {
            octet(VERSION);
            octet(letter);
        }

        /** Starts to encode bytes without version and letter, which are embedded in other saved state. */
        public Writer() {}

        /** Returns a copy of the bytes written so far. */
        public byte[] toBytes() {
            return Arrays.copyOf(bytes, size);
        }

        /** Appends the lowest eight bits of a number as one byte. */
        public void octet(int value) {
            ensureCapacity(1);
            bytes[size++] = (byte) value;
        }

        /** Appends a boolean as one byte: 1 for true, 0 for false. */
        public void flag(boolean value) {
            octet(value ? 1 : 0);
        }

        /** Appends a signed number as a zigzag varint: numbers near 0, also negative ones, take few bytes. */
        public void number(long value) {
            unsigned(value << 1 ^ value >> 63);
        }

        /** Appends a number that is not negative, such as a length, as an unsigned varint. */
        public void count(int value) {
            unsigned(value);
        }

        /** Appends a long as eight bytes, big-endian. */
        public void fixed(long value) {
            ensureCapacity(Long.BYTES);
            for (int shift = 56; shift >= 0; shift -= 8) {
                bytes[size++] = (byte) (value >>> shift);
            }
        }

        /** Appends a row: its number of values, then each value with its type. A null row is encoded as well. */
        public void row(Object[] row) {
            if (row == null) {
                count(0);
                return;
            }
            count(row.length + 1);
            for (Object value : row) {
                value(value);
            }
        }

        /**
         * Appends one value with a byte for its type; throws IllegalArgumentException for a type that rows do not have.
         * Rows have null, Long, Double, String, Boolean, BigDecimal, and Object[] for a nested tuple.
         */
        public void value(Object value) {
            if (value == null) {
                octet(NULL);
            } else if (value instanceof Long integer) {
                octet(LONG);
                number(integer);
            } else if (value instanceof Double number) {
                octet(DOUBLE);
                fixed(Double.doubleToRawLongBits(number));
            } else if (value instanceof String text) {
                text(text);
            } else if (value instanceof Boolean bool) {
                octet(bool ? TRUE : FALSE);
            } else if (value instanceof BigDecimal decimal) {
                decimal(decimal);
            } else if (value instanceof Object[] tuple) {
                octet(TUPLE);
                row(tuple);
            } else {
                throw new IllegalArgumentException("the kernel has no values of " + value.getClass().getName());
            }
        }

        /**
         * Appends a string and its type: one byte per character if all are below 256, otherwise a varint per UTF-16
         * unit.
         */
        private void text(String text) {
            int length = text.length();
            boolean isLatin1 = true;
            for (int i = 0; isLatin1 && i < length; i++) {
                isLatin1 = text.charAt(i) < 256;
            }
            octet(isLatin1 ? LATIN1_TEXT : UTF16_TEXT);
            count(length);
            if (isLatin1) {
                rawBytes(text.getBytes(StandardCharsets.ISO_8859_1));
                return;
            }
            for (int i = 0; i < length; i++) {
                unsigned(text.charAt(i));
            }
        }

        /** Appends a decimal and its type: its scale, then its unscaled value, as a varint if it fits into a long. */
        private void decimal(BigDecimal decimal) {
            BigInteger digits = decimal.unscaledValue();
            boolean fitsLong = digits.bitLength() < Long.SIZE;
            octet(fitsLong ? DECIMAL : LONG_DECIMAL);
            number(decimal.scale());
            if (fitsLong) {
                number(digits.longValue());
            } else {
                byte[] digitBytes = digits.toByteArray();
                count(digitBytes.length);
                rawBytes(digitBytes);
            }
        }

        /** Appends a long as an unsigned varint: seven bits per byte, the lowest ones first. */
        private void unsigned(long value) {
            ensureCapacity(10);
            long remaining = value;
            while ((remaining & ~0x7FL) != 0) {
                bytes[size++] = (byte) (remaining | 0x80);
                remaining >>>= 7;
            }
            bytes[size++] = (byte) remaining;
        }

        /** Appends bytes as they are, without their length. */
        private void rawBytes(byte[] added) {
            ensureCapacity(added.length);
            System.arraycopy(added, 0, bytes, size, added.length);
            size += added.length;
        }

        /** Enlarges the buffer, if necessary, so that `added` more bytes fit. */
        private void ensureCapacity(int added) {
            if (size + added > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(size + added, 2 * bytes.length));
            }
        }
    }

    /** Reads the output of a Writer. */
    public static final class Reader {
        private final byte[] bytes;
        private int offset;

        /**
         * Starts to read saved state; throws IllegalStateException, which names `machineName`, if version or `letter`
         * differ.
         *
         * @throws IllegalStateException for the state of another version or machine
         */
        public Reader(byte[] state, char letter, String machineName) {
            if (state == null || state.length == 0 || state[0] != VERSION) {
                String version = state == null || state.length == 0 ? "nothing" : Integer.toString(state[0] & 0xFF);
                throw new IllegalStateException("the state of " + machineName + " has version " + version + ", not "
                        + VERSION + ": start without the old state");
            }
            if (state.length == 1 || state[1] != letter) {
                throw new IllegalStateException(
                        "the state of another machine was given to " + machineName + ": start without the old state");
            }
            bytes = state;
            offset = 2;
        }

        /** Starts to read encoded bytes that have no version, from index `offset` on. */
        public Reader(byte[] bytes, int offset) {
            this.bytes = bytes;
            this.offset = offset;
        }

        /** Whether any bytes have not been read yet. */
        public boolean hasMore() {
            return offset < bytes.length;
        }

        /** Reads one byte as a number from 0 to 255. */
        public int octet() {
            return bytes[offset++] & 0xFF;
        }

        /** Reads a boolean that takes one byte. */
        public boolean flag() {
            return octet() != 0;
        }

        /** Reads a signed number, which is a zigzag varint. */
        public long number() {
            long value = unsigned();
            return value >>> 1 ^ -(value & 1);
        }

        /** Reads a number that is not negative, such as a length, from an unsigned varint. */
        public int count() {
            return (int) unsigned();
        }

        /** Reads a long from eight bytes, big-endian. */
        public long fixed() {
            long value = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                value = value << 8 | bytes[offset++] & 0xFF;
            }
            return value;
        }

        /** Reads a row of values with their types; null if a null row was written. */
        public Object[] row() {
            int width = count() - 1;
            if (width < 0) {
                return null;
            }
            Object[] row = new Object[width];
            for (int i = 0; i < width; i++) {
                row[i] = value();
            }
            return row;
        }

        /**
         * Reads one value with its type: null, Boolean, Long, Double, String, BigDecimal, or Object[] for a nested
         * tuple.
         */
        public Object value() {
            int tag = octet();
            switch (tag) {
                case NULL:
                    return null;
                case FALSE:
                    return Boolean.FALSE;
                case TRUE:
                    return Boolean.TRUE;
                case LONG:
                    return number();
                case DOUBLE:
                    return Double.longBitsToDouble(fixed());
                case LATIN1_TEXT:
                    int length = count();
                    offset += length;
                    return new String(bytes, offset - length, length, StandardCharsets.ISO_8859_1);
                case UTF16_TEXT:
                    char[] characters = new char[count()];
                    for (int i = 0; i < characters.length; i++) {
                        characters[i] = (char) unsigned();
                    }
                    return new String(characters);
                case DECIMAL:
                    int scale = (int) number();
                    return BigDecimal.valueOf(number(), scale);
                case LONG_DECIMAL:
                    int longScale = (int) number();
                    int digitBytes = count();
                    offset += digitBytes;
                    return new BigDecimal(new BigInteger(bytes, offset - digitBytes, digitBytes), longScale);
                case TUPLE:
                    return row();
                default:
                    throw new IllegalStateException("no value begins with the byte " + tag);
            }
        }

        /** Reads a long from an unsigned varint: seven bits per byte, the lowest ones first. */
        private long unsigned() {
            long value = 0;
            int shift = 0;
            byte next;
            do {
                next = bytes[offset++];
                value |= (long) (next & 0x7F) << shift;
                shift += 7;
            } while (next < 0);
            return value;
        }
    }
}
