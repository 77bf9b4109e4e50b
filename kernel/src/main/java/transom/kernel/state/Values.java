package transom.kernel.state;

import java.math.BigDecimal;
import java.util.Comparator;
import transom.kernel.InputRow;

/**
 * Comparison, equality and hashing of values and rows, with the same results as the Python model.
 *
 * <p>The order is NULL, booleans, numbers by value, strings by code point, and tuples. Numbers of different types are
 * equal if their values are; 1 and TRUE are not equal. A row or tuple is an Object[].
 */
public final class Values {
    /** Orders values and tuples. */
    public static final Comparator<Object> ORDER = Values::compare;

    /** Orders the rows of a tick for a machine: by side, window, sign (retractions first) and sort key. */
    public static final Comparator<InputRow> INPUT_ORDER = Values::compareInputs;

    private static final double LONGS_END = 0x1p63;

    /** Prevents instantiation: all methods are static. */
    private Values() {}

    /**
     * Compares two values in the sort order NULL, booleans, numbers by value, strings, tuples. The result is negative,
     * zero or positive.
     */
    public static int compare(Object left, Object right) {
        if (left == right) {
            return 0;
        }
        if (left instanceof Long leftLong && right instanceof Long rightLong) {
            return Long.compare(leftLong, rightLong);
        }
        int leftRank = rank(left);
        int rightRank = rank(right);
        if (leftRank != rightRank) {
            return Integer.compare(leftRank, rightRank);
        }
        switch (leftRank) {
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

    /**
     * Compares two rows in sort order, by the first value that differs. A row that is a prefix of the other one comes
     * first.
     */
    public static int compareRows(Object[] left, Object[] right) {
        int commonLength = Math.min(left.length, right.length);
        for (int i = 0; i < commonLength; i++) {
            int order = compare(left[i], right[i]);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(left.length, right.length);
    }

    /**
     * Whether two values or tuples are equal as members of a bag: numbers by value, whatever their types, and NULL
     * equals NULL.
     */
    public static boolean same(Object left, Object right) {
        if (left == right) {
            return true;
        }
        if (left == null || right == null) {
            return false;
        }
        if (left instanceof Long leftLong && right instanceof Long rightLong) {
            return leftLong.longValue() == rightLong.longValue();
        }
        if (left instanceof String || left instanceof Boolean) {
            return left.equals(right);
        }
        if (left instanceof Object[] leftRow) {
            return right instanceof Object[] rightRow && sameRows(leftRow, rightRow);
        }
        return rank(right) == 2 && compareNumbers(left, right) == 0;
    }

    /** Whether two rows are equal as members of a bag: numbers by value, whatever their types, and NULL equals NULL. */
    public static boolean sameRows(Object[] left, Object[] right) {
        if (left.length != right.length) {
            return false;
        }
        for (int i = 0; i < left.length; i++) {
            if (!same(left[i], right[i])) {
                return false;
            }
        }
        return true;
    }

    /** Returns a hash code of a value; values that `same` considers equal, such as 1 and 1.0, have the same one. */
    public static int hash(Object value) {
        if (value == null) {
            return 0;
        }
        if (value instanceof Object[] row) {
            return hashRow(row);
        }
        if (value instanceof Long || value instanceof Double || value instanceof BigDecimal) {
            return hashNumber(((Number) value).doubleValue());
        }
        return value.hashCode();
    }

    /** Returns a hash code of a row; rows that `sameRows` considers equal have the same one. */
    public static int hashRow(Object[] row) {
        int hash = 1;
        for (Object value : row) {
            hash = 31 * hash + hash(value);
        }
        return hash;
    }

    /**
     * Returns a decimal without trailing zeros, so that equal decimals have one form: 1.50 becomes 1.5, and 100 becomes
     * 1E+2.
     */
    public static BigDecimal normalized(BigDecimal number) {
        return number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
    }

    /** Returns a new row with the values of `left`, then those of `right`. */
    public static Object[] concatRows(Object[] left, Object[] right) {
        Object[] pair = new Object[left.length + right.length];
        System.arraycopy(left, 0, pair, 0, left.length);
        System.arraycopy(right, 0, pair, left.length, right.length);
        return pair;
    }

    /**
     * Compares two input rows of one tick in the order in which they are processed: by side, window, sign and sort key.
     * Retractions come first.
     */
    private static int compareInputs(InputRow left, InputRow right) {
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

    /**
     * Returns the position of a value's type in the sort order: 0 NULL, 1 boolean, 2 number, 3 string, 4 tuple. Throws
     * IllegalArgumentException for other types.
     */
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
        throw new IllegalArgumentException("the kernel has no values of " + value.getClass().getName());
    }

    /**
     * Compares two numbers (Long, Double or BigDecimal, also mixed) by their exact values. The result is negative, zero
     * or positive.
     */
    private static int compareNumbers(Object left, Object right) {
        if (left instanceof Double leftDouble && right instanceof Double rightDouble) {
            return compareDoubles(leftDouble, rightDouble);
        }
        if (left instanceof Long leftLong) {
            if (right instanceof Long rightLong) {
                return Long.compare(leftLong, rightLong);
            }
            if (right instanceof Double rightDouble) {
                return compareMixed(leftLong, rightDouble);
            }
        }
        if (left instanceof Double leftDouble) {
            if (right instanceof Long rightLong) {
                return -compareMixed(rightLong, leftDouble);
            }
            if (!Double.isFinite(leftDouble)) {
                return leftDouble == Double.NEGATIVE_INFINITY ? -1 : 1;
            }
        }
        if (right instanceof Double rightDouble && !Double.isFinite(rightDouble)) {
            return rightDouble == Double.NEGATIVE_INFINITY ? 1 : -1;
        }
        return exact(left).compareTo(exact(right));
    }

    /**
     * Compares two doubles by value, so that 0.0 equals -0.0. The result is negative, zero or positive. NaN, which the
     * model does not have, comes last.
     */
    private static int compareDoubles(double left, double right) {
        if (left < right) {
            return -1;
        }
        if (left > right) {
            return 1;
        }
        return left == right ? 0 : Double.compare(left, right);
    }

    /**
     * Compares a long and a double by value, without rounding the long to a double. The result is negative, zero or
     * positive.
     */
    private static int compareMixed(long left, double right) {
        if (right >= LONGS_END || Double.isNaN(right)) {
            return -1;
        }
        if (right < -LONGS_END) {
            return 1;
        }
        long integerPart = (long) right;
        return left != integerPart ? Long.compare(left, integerPart) : compareDoubles(integerPart, right);
    }

    /** Converts a finite Long, Double or BigDecimal to a BigDecimal of exactly the same value. */
    private static BigDecimal exact(Object number) {
        if (number instanceof BigDecimal decimal) {
            return decimal;
        }
        return number instanceof Long integer ? BigDecimal.valueOf(integer) : new BigDecimal((Double) number);
    }

    /**
     * Compares two strings by Unicode code point; a surrogate pair is one character and sorts above the basic plane.
     */
    private static int compareStrings(String left, String right) {
        int commonLength = Math.min(left.length(), right.length());
        for (int i = 0; i < commonLength; i++) {
            char leftChar = left.charAt(i);
            char rightChar = right.charAt(i);
            if (leftChar == rightChar) {
                continue;
            }
            if (!Character.isSurrogate(leftChar) && !Character.isSurrogate(rightChar)) {
                return leftChar - rightChar;
            }
            boolean isLowSurrogate = Character.isLowSurrogate(leftChar) || Character.isLowSurrogate(rightChar);
            int start = isLowSurrogate && i > 0 && Character.isHighSurrogate(left.charAt(i - 1)) ? i - 1 : i;
            return Integer.compare(left.codePointAt(start), right.codePointAt(start));
        }
        return Integer.compare(left.length(), right.length());
    }

    /** Returns a hash code of a number, converted to a double: equal numbers of all types round to the same double. */
    private static int hashNumber(double number) {
        long bits = number == (long) number ? (long) number : Double.doubleToLongBits(number);
        bits *= 0x9E3779B97F4A7C15L;
        return (int) (bits ^ bits >>> 32);
    }
}
