package transom.kernel;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Floats as the decimal numbers that they print as: the fewest digits that give the float again, the nearest of these.
 *
 * <p>Nearly every float of practice is a whole number of millionths with at most 15 digits. No two decimals of 15
 * digits are the same float, so such a number, if it gives the float again, is what the float prints as.
 */
final class Floats {
    /** What {@link #millionths} gives for a float that has more digits; no number of millionths is that small. */
    static final long NONE = Long.MIN_VALUE;

    /** How the message begins when a float is beyond what exact sums take. */
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

    private Floats() {}

    /** How many millionths a float prints as; {@link #NONE} for a float with more digits. */
    static long millionths(double number) {
        double fine = Math.rint(number * 1e6);
        if (Math.abs(fine) < FIFTEEN_DIGITS && fine / 1e6 == number) {
            return (long) fine;
        }
        double coarse = Math.rint(number * 1e3);
        if (Math.abs(coarse) < FIFTEEN_DIGITS && coarse / 1e3 == number) {
            return (long) coarse * 1000;
        }
        return NONE;
    }

    /**
     * The decimal number that a float prints as, for a float that is no whole number of millionths.
     *
     * @throws ArithmeticException for a float beyond what exact sums take
     */
    static BigDecimal printed(double number) {
        double size = Math.abs(number);
        if (!(size >= LEAST && size < LIMIT)) {
            throw new ArithmeticException(RANGE_ERROR + ": exact sums do not take " + number
                    + ", only 0 and sizes from " + LEAST + " to " + LIMIT + "; use approximate_sums");
        }
        return shortest(number);
    }

    /**
     * The fewest digits that give a float again, the nearest of these.
     *
     * <p>If 15 digits give it again, they are those that it prints as, but for zeros at their end. If the nearest of 16
     * digits do not, others may: below a power of two, floats lie closer than above it. With 17 the nearest always do.
     */
    static BigDecimal shortest(double number) {
        BigDecimal exact = new BigDecimal(number);
        BigDecimal few = exact.round(FIFTEEN);
        if (few.doubleValue() == number) {
            return few;
        }
        few = exact.round(SIXTEEN);
        if (few.doubleValue() == number) {
            return few;
        }
        BigDecimal below = exact.round(SIXTEEN_DOWN);
        BigDecimal above = exact.round(SIXTEEN_UP);
        boolean isBelow = below.doubleValue() == number;
        boolean isAbove = above.doubleValue() == number;
        if (isBelow && isAbove) {
            return exact.subtract(below).compareTo(above.subtract(exact)) <= 0 ? below : above;
        }
        if (isBelow || isAbove) {
            return isBelow ? below : above;
        }
        return exact.round(SEVENTEEN);
    }

    /** A sum of millionths, in its upper and its lower 32 bits, and of others (null for none), rounded once. */
    static double total(long high, long low, BigDecimal others) {
        if (others == null && Wide.isSmall(high, low)) {
            return (double) Wide.whole(high, low) / 1e6;
        }
        return sum(high, low, others).doubleValue();
    }

    /** The same sum divided by a count, rounded once: for few digits, doubles hold both numbers exactly. */
    static double mean(long high, long low, BigDecimal others, long count) {
        if (others == null && count < FEW_ROWS && Wide.isSmall(high, low)) {
            return (double) Wide.whole(high, low) / (count * 1e6);
        }
        return quotient(sum(high, low, others), count);
    }

    /**
     * A sum divided by a count, rounded once.
     *
     * <p>A quotient that has more digits is cut and gets one digit more, so that it stays on its side of a number
     * half-way between two doubles. A sum has at most 38 places after the point and 80 digits before it, so no quotient
     * comes closer to such a number than the last digit that is kept.
     */
    static double quotient(BigDecimal sum, long count) {
        BigDecimal divisor = BigDecimal.valueOf(count);
        BigDecimal cut = sum.divide(divisor, QUOTIENT);
        if (cut.multiply(divisor).compareTo(sum) == 0) {
            return cut.doubleValue();
        }
        BigInteger more = cut.unscaledValue().multiply(BigInteger.TEN).add(BigInteger.valueOf(sum.signum()));
        return new BigDecimal(more, cut.scale() + 1).doubleValue();
    }

    private static BigDecimal sum(long high, long low, BigDecimal others) {
        BigDecimal millionths = new BigDecimal(Wide.exact(high, low), 6);
        return others == null ? millionths : millionths.add(others);
    }
}
