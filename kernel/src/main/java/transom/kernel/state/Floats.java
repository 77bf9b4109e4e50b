package transom.kernel.state;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Converts floats to their shortest decimal representation and sums them exactly.
 *
 * <p>Nearly all floats in practice are multiples of a millionth with at most 15 digits. Distinct decimals of 15 digits
 * are distinct floats, so such a decimal, if it parses to the float, is its shortest representation.
 */
public final class Floats {
    /** Returned by {@link #millionths} for a float with more digits. It is not a valid number of millionths. */
    public static final long NOT_MILLIONTHS = Long.MIN_VALUE;

    /** The prefix of the error message for a float outside of the range of exact sums. */
    static final String RANGE_ERROR = "TRANSOM_FLOAT_SUM_RANGE";

    private static final double LEAST = 1e-21;
    private static final double LIMIT = 1e25;
    private static final double FIFTEEN_DIGITS = 1e15;
    private static final MathContext FIFTEEN = new MathContext(15, RoundingMode.HALF_EVEN);
    private static final MathContext SIXTEEN = new MathContext(16, RoundingMode.HALF_EVEN);
    private static final MathContext SIXTEEN_DOWN = new MathContext(16, RoundingMode.FLOOR);
    private static final MathContext SIXTEEN_UP = new MathContext(16, RoundingMode.CEILING);
    private static final MathContext SEVENTEEN = new MathContext(17, RoundingMode.HALF_EVEN);
    private static final MathContext QUOTIENT = new MathContext(200, RoundingMode.DOWN);
    private static final long FEW_ROWS = 1L << 33;

    /** Prevents instantiation: all methods are static. */
    private Floats() {}

    /**
     * Converts a float to a whole number of millionths, for exact sums, or to NOT_MILLIONTHS if that is not possible.
     * It is not if the float's shortest decimal has more than 6 decimal places or is too large.
     */
    public static long millionths(double number) {
        double micros = Math.rint(number * 1e6);
        if (Math.abs(micros) < FIFTEEN_DIGITS && micros / 1e6 == number) {
            return (long) micros;
        }
        double millis = Math.rint(number * 1e3);
        if (Math.abs(millis) < FIFTEEN_DIGITS && millis / 1e3 == number) {
            return (long) millis * 1000;
        }
        return NOT_MILLIONTHS;
    }

    /**
     * Converts a float to the shortest decimal that parses to it, for exact sums. It is for floats that `millionths`
     * does not represent.
     *
     * @throws ArithmeticException for a float outside of the range of exact sums
     */
    public static BigDecimal toDecimal(double number) {
        double magnitude = Math.abs(number);
        if (!(magnitude >= LEAST && magnitude < LIMIT)) {
            throw new ArithmeticException(RANGE_ERROR + ": exact sums do not take " + number
                    + ", only 0 and sizes from " + LEAST + " to " + LIMIT + "; use approximate_sums");
        }
        return shortestDecimal(number);
    }

    /**
     * Returns the shortest decimal that parses to a float, such as 0.1; of several, the one nearest to the float.
     *
     * <p>If 15 digits parse to the float, they are the shortest decimal up to trailing zeros. If the nearest decimal of
     * 16 digits does not, its neighbour may: below a power of two, floats are denser than above it. The nearest decimal
     * of 17 digits always does.
     */
    public static BigDecimal shortestDecimal(double number) {
        BigDecimal exact = new BigDecimal(number);
        BigDecimal rounded = exact.round(FIFTEEN);
        if (rounded.doubleValue() == number) {
            return rounded;
        }
        rounded = exact.round(SIXTEEN);
        if (rounded.doubleValue() == number) {
            return rounded;
        }
        BigDecimal below = exact.round(SIXTEEN_DOWN);
        BigDecimal above = exact.round(SIXTEEN_UP);
        boolean belowParses = below.doubleValue() == number;
        boolean aboveParses = above.doubleValue() == number;
        if (belowParses && aboveParses) {
            return exact.subtract(below).compareTo(above.subtract(exact)) <= 0 ? below : above;
        }
        if (belowParses || aboveParses) {
            return belowParses ? below : above;
        }
        return exact.round(SEVENTEEN);
    }

    /** Rounds an exact sum once to a double: `high` * 2^32 + `low` millionths plus `decimals` (null for none). */
    public static double sumAsDouble(long high, long low, BigDecimal decimals) {
        if (decimals == null && WideSum.fitsDouble(high, low)) {
            return (double) WideSum.toLong(high, low) / 1e6;
        }
        return exactSum(high, low, decimals).doubleValue();
    }

    /**
     * Rounds an exact mean once to a double: `high` * 2^32 + `low` millionths plus `decimals` (null for none), divided
     * by `count`.
     */
    public static double mean(long high, long low, BigDecimal decimals, long count) {
        if (decimals == null && count < FEW_ROWS && WideSum.fitsDouble(high, low)) {
            return (double) WideSum.toLong(high, low) / (count * 1e6);
        }
        return quotient(exactSum(high, low, decimals), count);
    }

    /**
     * Computes the quotient `sum` / `count`, rounded once from its exact value to a double.
     *
     * <p>An inexact quotient is truncated and extended by one digit, so that it stays on its side of the midpoint
     * between two doubles. A sum has at most 38 digits after the point and 80 before it, so no quotient is closer to a
     * midpoint than the last digit kept.
     */
    public static double quotient(BigDecimal sum, long count) {
        BigDecimal divisor = BigDecimal.valueOf(count);
        BigDecimal truncated = sum.divide(divisor, QUOTIENT);
        if (truncated.multiply(divisor).compareTo(sum) == 0) {
            return truncated.doubleValue();
        }
        BigInteger extended = truncated.unscaledValue().multiply(BigInteger.TEN).add(BigInteger.valueOf(sum.signum()));
        return new BigDecimal(extended, truncated.scale() + 1).doubleValue();
    }

    /** Computes the exact decimal `high` * 2^32 + `low` millionths plus `decimals` (null for none). */
    private static BigDecimal exactSum(long high, long low, BigDecimal decimals) {
        BigDecimal millionths = new BigDecimal(WideSum.toBigInteger(high, low), 6);
        return decimals == null ? millionths : millionths.add(decimals);
    }
}
