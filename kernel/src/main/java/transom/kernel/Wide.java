package transom.kernel;

import java.math.BigInteger;

/** Sums of whole numbers in two longs, their upper and their lower 32 bits: no number of rows makes them overflow. */
final class Wide {
    /** The lower 32 bits. */
    static final long LOW = 0xFFFFFFFFL;

    private Wide() {}

    /** Whether 64 bits hold a sum. */
    static boolean fits(long high, long low) {
        long carried = high + (low >> 32);
        return carried == (int) carried;
    }

    /** A sum that 64 bits hold. */
    static long whole(long high, long low) {
        return (high << 32) + low;
    }

    /** Any sum. */
    static BigInteger exact(long high, long low) {
        if (fits(high, low)) {
            return BigInteger.valueOf(whole(high, low));
        }
        return BigInteger.valueOf(high).shiftLeft(32).add(BigInteger.valueOf(low));
    }

    /** The nearest double. */
    static double nearest(long high, long low) {
        return fits(high, low) ? (double) whole(high, low) : exact(high, low).doubleValue();
    }
}
