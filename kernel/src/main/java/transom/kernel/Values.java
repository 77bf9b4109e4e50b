package transom.kernel;

import java.math.BigDecimal;
import java.util.Comparator;

/**
 * Values and rows compared, as the Python model has it.
 *
 * <p>In order come NULL, booleans, numbers by size, strings by code point, and tuples of such. Numbers are the same
 * when their size is, whatever their type; 1 and TRUE are not the same. A row is an Object[], a tuple in an order
 * value too.
 */
public final class Values {
    /** The order of values and tuples. */
    public static final Comparator<Object> ORDER = Values::compare;

    /** The rows of a tick as a machine wants them: by side and window, goings first, then in their own order. */
    public static final Comparator<Arrival> IN_ORDER = Values::compareArrivals;

    private static final double LONGS_END = 0x1p63;

    private Values() {}

    /** The order of two values or tuples: below, at or above 0. */
    public static int compare(Object left, Object right) {
        if (left == right) {
            return 0;
        }
        if (left instanceof Long one && right instanceof Long other) {
            return Long.compare(one, other);
        }
        int rank = rank(left);
        int otherRank = rank(right);
        if (rank != otherRank) {
            return Integer.compare(rank, otherRank);
        }
        switch (rank) {
            case 0:
                return 0;
            case 1:
                return Boolean.compare((Boolean) left, (Boolean) right);
            case 2:
                return compareNumbers(left, right);
            case 3:
                return compareStrings((String) left, (String) right);
            default:
                return compareRows((Object[]) left, (Object[]) right);
        }
    }

    /** The order of two rows: by their first difference, a row before its continuations. */
    public static int compareRows(Object[] left, Object[] right) {
        int common = Math.min(left.length, right.length);
        for (int place = 0; place < common; place++) {
            int order = compare(left[place], right[place]);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(left.length, right.length);
    }

    /** Whether two values or tuples are the same value of a bag. */
    public static boolean same(Object left, Object right) {
        if (left == right) {
            return true;
        }
        if (left == null || right == null) {
            return false;
        }
        if (left instanceof Long one && right instanceof Long other) {
            return one.longValue() == other.longValue();
        }
        if (left instanceof String || left instanceof Boolean) {
            return left.equals(right);
        }
        if (left instanceof Object[] one) {
            return right instanceof Object[] other && sameRows(one, other);
        }
        return rank(right) == 2 && compareNumbers(left, right) == 0;
    }

    /** Whether two rows are the same row of a bag. */
    public static boolean sameRows(Object[] left, Object[] right) {
        if (left.length != right.length) {
            return false;
        }
        for (int place = 0; place < left.length; place++) {
            if (!same(left[place], right[place])) {
                return false;
            }
        }
        return true;
    }

    /** A number that the same values have in common. */
    public static int hash(Object value) {
        if (value == null) {
            return 0;
        }
        if (value instanceof Object[] row) {
            return hashRow(row);
        }
        if (value instanceof Long || value instanceof Double || value instanceof BigDecimal) {
            return hashSize(((Number) value).doubleValue());
        }
        return value.hashCode();
    }

    /** A number that the same rows have in common. */
    public static int hashRow(Object[] row) {
        int hash = 1;
        for (Object value : row) {
            hash = 31 * hash + hash(value);
        }
        return hash;
    }

    /** The same decimal without needless zeros at its end; 1.50 is 1.5, and 100 is 1E+2. */
    public static BigDecimal oneForm(BigDecimal number) {
        return number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
    }

    /** Two rows as one. */
    public static Object[] joined(Object[] left, Object[] right) {
        Object[] pair = new Object[left.length + right.length];
        System.arraycopy(left, 0, pair, 0, left.length);
        System.arraycopy(right, 0, pair, left.length, right.length);
        return pair;
    }

    private static int compareArrivals(Arrival left, Arrival right) {
        if (left.side() != right.side()) {
            return Integer.compare(left.side(), right.side());
        }
        if (left.seq() != right.seq()) {
            return Integer.compare(left.seq(), right.seq());
        }
        if (left.sign() != right.sign()) {
            return Integer.compare(left.sign(), right.sign());
        }
        return compare(left.order(), right.order());
    }

    private static int rank(Object value) {
        if (value == null) {
            return 0;
        }
        if (value instanceof Boolean) {
            return 1;
        }
        if (value instanceof Long || value instanceof Double || value instanceof BigDecimal) {
            return 2;
        }
        if (value instanceof String) {
            return 3;
        }
        if (value instanceof Object[]) {
            return 4;
        }
        throw new IllegalArgumentException("no value of ours is a " + value.getClass().getName());
    }

    private static int compareNumbers(Object left, Object right) {
        if (left instanceof Double one && right instanceof Double other) {
            return compareDoubles(one, other);
        }
        if (left instanceof Long one) {
            if (right instanceof Long other) {
                return Long.compare(one, other);
            }
            if (right instanceof Double other) {
                return compareMixed(one, other);
            }
        }
        if (left instanceof Double one) {
            if (right instanceof Long other) {
                return -compareMixed(other, one);
            }
            if (!Double.isFinite(one)) {
                return one == Double.NEGATIVE_INFINITY ? -1 : 1;
            }
        }
        if (right instanceof Double other && !Double.isFinite(other)) {
            return other == Double.NEGATIVE_INFINITY ? 1 : -1;
        }
        return exact(left).compareTo(exact(right));
    }

    /** By size, 0.0 like -0.0; NaN, which the model does not have, comes last. */
    private static int compareDoubles(double left, double right) {
        if (left < right) {
            return -1;
        }
        if (left > right) {
            return 1;
        }
        return left == right ? 0 : Double.compare(left, right);
    }

    /** By size, with no digit of the whole number lost. */
    private static int compareMixed(long left, double right) {
        if (right >= LONGS_END || Double.isNaN(right)) {
            return -1;
        }
        if (right < -LONGS_END) {
            return 1;
        }
        long whole = (long) right;
        return left != whole ? Long.compare(left, whole) : compareDoubles(whole, right);
    }

    private static BigDecimal exact(Object number) {
        if (number instanceof BigDecimal decimal) {
            return decimal;
        }
        return number instanceof Long whole ? BigDecimal.valueOf(whole) : new BigDecimal((Double) number);
    }

    /** By code point: a pair of surrogates is one character, above all that need no pair. */
    private static int compareStrings(String left, String right) {
        int common = Math.min(left.length(), right.length());
        for (int at = 0; at < common; at++) {
            char one = left.charAt(at);
            char other = right.charAt(at);
            if (one == other) {
                continue;
            }
            if (!Character.isSurrogate(one) && !Character.isSurrogate(other)) {
                return one - other;
            }
            boolean low = Character.isLowSurrogate(one) || Character.isLowSurrogate(other);
            int from = low && at > 0 && Character.isHighSurrogate(left.charAt(at - 1)) ? at - 1 : at;
            return Integer.compare(left.codePointAt(from), right.codePointAt(from));
        }
        return Integer.compare(left.length(), right.length());
    }

    /** Equal sizes have the same nearest double, so they have the same hash. */
    private static int hashSize(double size) {
        long bits = size == (long) size ? (long) size : Double.doubleToLongBits(size);
        bits *= 0x9E3779B97F4A7C15L;
        return (int) (bits ^ bits >>> 32);
    }
}
