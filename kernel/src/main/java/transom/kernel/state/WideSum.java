package transom.kernel.state;

import java.math.BigInteger;

/** Sums of longs, kept as separate sums of the upper and the lower 32 bits so that they cannot overflow. */
public final class WideSum {
    /** A mask for the lower 32 bits. */
    public static final long LOW_MASK = 0xFFFFFFFFL;

    /** Prevents instantiation: all methods are static. */
    private WideSum() {}

    /** Whether the sum `high` * 2^32 + `low` fits into a long. It is kept in two parts against overflow. */
    public static boolean fitsLong(long high, long low) {
        long carriedHigh = high + (low >> 32);
        return carriedHigh == (int) carriedHigh;
    }

    /** Combines the two parts of a sum into the long `high` * 2^32 + `low`, which must fit. */
    public static long toLong(long high, long low) {
        return (high << 32) + low;
    }

    /** Combines the two parts of a sum into `high` * 2^32 + `low`, of any size. */
    public static BigInteger toBigInteger(long high, long low) {
        if (fitsLong(high, low)) {
            return BigInteger.valueOf(toLong(high, low));
        }
        return BigInteger.valueOf(high).shiftLeft(32).add(BigInteger.valueOf(low));
    }

    /** Whether the sum `high` * 2^32 + `low` is between -2^52 and 2^52, so that a double represents it exactly. */
    public static boolean fitsDouble(long high, long low) {
        long carriedHigh = high + (low >> 32);
        return carriedHigh >= -(1L << 20) && carriedHigh < 1L << 20;
    }
}
