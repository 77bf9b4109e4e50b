package transom.kernel;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** State as bytes: a version, a letter for the machine, then numbers and values, each of which keeps its type. */
public final class Codec {
    /** The version of all state; another one is not read. */
    public static final byte VERSION = 1;

    private static final int NULL = 0;
    private static final int FALSE = 1;
    private static final int TRUE = 2;
    private static final int WHOLE = 3;
    private static final int DOUBLE = 4;
    private static final int NARROW = 5;
    private static final int WIDE = 6;
    private static final int DECIMAL = 7;
    private static final int LONG_DECIMAL = 8;
    private static final int TUPLE = 9;

    private Codec() {}

    /** Writes the state of a machine. */
    public static final class Writer {
        private byte[] bytes = new byte[64];
        private int size;

        /** Begins with the version and the letter of the machine. */
        public Writer(char letter) {
            octet(VERSION);
            octet(letter);
        }

        /** Goes on without a version, for bytes that are part of something with one. */
        public Writer() {}

        /** All that was written. */
        public byte[] done() {
            return Arrays.copyOf(bytes, size);
        }

        /** One byte. */
        public void octet(int value) {
            room(1);
            bytes[size++] = (byte) value;
        }

        /** Yes or no. */
        public void flag(boolean value) {
            octet(value ? 1 : 0);
        }

        /** A whole number; small ones, below 0 too, take few bytes. */
        public void number(long value) {
            unsigned(value << 1 ^ value >> 63);
        }

        /** A number that is not below 0. */
        public void count(int value) {
            unsigned(value);
        }

        /** Eight bytes. */
        public void fixed(long value) {
            room(Long.BYTES);
            for (int shift = 56; shift >= 0; shift -= 8) {
                bytes[size++] = (byte) (value >>> shift);
            }
        }

        /** A row, or null. */
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

        /** A value, or a tuple of values and tuples. */
        public void value(Object value) {
            if (value == null) {
                octet(NULL);
            } else if (value instanceof Long whole) {
                octet(WHOLE);
                number(whole);
            } else if (value instanceof Double size) {
                octet(DOUBLE);
                fixed(Double.doubleToRawLongBits(size));
            } else if (value instanceof String text) {
                text(text);
            } else if (value instanceof Boolean truth) {
                octet(truth ? TRUE : FALSE);
            } else if (value instanceof BigDecimal decimal) {
                decimal(decimal);
            } else if (value instanceof Object[] tuple) {
                octet(TUPLE);
                row(tuple);
            } else {
                throw new IllegalArgumentException("no value of ours is a " + value.getClass().getName());
            }
        }

        private void text(String text) {
            int length = text.length();
            boolean narrow = true;
            for (int at = 0; narrow && at < length; at++) {
                narrow = text.charAt(at) < 256;
            }
            octet(narrow ? NARROW : WIDE);
            count(length);
            if (narrow) {
                block(text.getBytes(StandardCharsets.ISO_8859_1));
                return;
            }
            for (int at = 0; at < length; at++) {
                unsigned(text.charAt(at));
            }
        }

        private void decimal(BigDecimal decimal) {
            BigInteger digits = decimal.unscaledValue();
            boolean fits = digits.bitLength() < Long.SIZE;
            octet(fits ? DECIMAL : LONG_DECIMAL);
            number(decimal.scale());
            if (fits) {
                number(digits.longValue());
            } else {
                byte[] all = digits.toByteArray();
                count(all.length);
                block(all);
            }
        }

        private void unsigned(long value) {
            room(10);
            long rest = value;
            while ((rest & ~0x7FL) != 0) {
                bytes[size++] = (byte) (rest | 0x80);
                rest >>>= 7;
            }
            bytes[size++] = (byte) rest;
        }

        private void block(byte[] block) {
            room(block.length);
            System.arraycopy(block, 0, bytes, size, block.length);
            size += block.length;
        }

        private void room(int more) {
            if (size + more > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
            }
        }
    }

    /** Reads what a Writer wrote. */
    public static final class Reader {
        private final byte[] bytes;
        private int at;

        /**
         * Begins behind the version and the letter.
         *
         * @throws IllegalStateException for the state of another version or machine
         */
        public Reader(byte[] state, char letter, String machine) {
            if (state == null || state.length == 0 || state[0] != VERSION) {
                String found = state == null || state.length == 0 ? "nothing" : Integer.toString(state[0] & 0xFF);
                throw new IllegalStateException("the state of " + machine + " has version " + found + ", not " + VERSION
                        + ": start without the old state");
            }
            if (state.length == 1 || state[1] != letter) {
                throw new IllegalStateException(
                        "the state of another machine was given to " + machine + ": start without the old state");
            }
            bytes = state;
            at = 2;
        }

        /** Begins at a place of bytes that have no version of their own. */
        public Reader(byte[] bytes, int from) {
            this.bytes = bytes;
            this.at = from;
        }

        /** Whether there is more to read. */
        public boolean more() {
            return at < bytes.length;
        }

        /** One byte. */
        public int octet() {
            return bytes[at++] & 0xFF;
        }

        /** Yes or no. */
        public boolean flag() {
            return octet() != 0;
        }

        /** A whole number. */
        public long number() {
            long value = unsigned();
            return value >>> 1 ^ -(value & 1);
        }

        /** A number that is not below 0. */
        public int count() {
            return (int) unsigned();
        }

        /** Eight bytes. */
        public long fixed() {
            long value = 0;
            for (int place = 0; place < Long.BYTES; place++) {
                value = value << 8 | bytes[at++] & 0xFF;
            }
            return value;
        }

        /** A row, or null. */
        public Object[] row() {
            int width = count() - 1;
            if (width < 0) {
                return null;
            }
            Object[] row = new Object[width];
            for (int place = 0; place < width; place++) {
                row[place] = value();
            }
            return row;
        }

        /** A value, or a tuple of values and tuples. */
        public Object value() {
            int tag = octet();
            switch (tag) {
                case NULL:
                    return null;
                case FALSE:
                    return Boolean.FALSE;
                case TRUE:
                    return Boolean.TRUE;
                case WHOLE:
                    return number();
                case DOUBLE:
                    return Double.longBitsToDouble(fixed());
                case NARROW:
                    int length = count();
                    at += length;
                    return new String(bytes, at - length, length, StandardCharsets.ISO_8859_1);
                case WIDE:
                    char[] letters = new char[count()];
                    for (int place = 0; place < letters.length; place++) {
                        letters[place] = (char) unsigned();
                    }
                    return new String(letters);
                case DECIMAL:
                    int scale = (int) number();
                    return BigDecimal.valueOf(number(), scale);
                case LONG_DECIMAL:
                    int places = (int) number();
                    int size = count();
                    at += size;
                    return new BigDecimal(new BigInteger(bytes, at - size, size), places);
                case TUPLE:
                    return row();
                default:
                    throw new IllegalStateException("no value begins with the byte " + tag);
            }
        }

        private long unsigned() {
            long value = 0;
            int shift = 0;
            byte part;
            do {
                part = bytes[at++];
                value |= (long) (part & 0x7F) << shift;
                shift += 7;
            } while (part < 0);
            return value;
        }
    }
}
