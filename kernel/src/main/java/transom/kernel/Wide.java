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

    /** Whether a double holds a sum exactly. */
    static boolean isSmall(long high, long low) {
        long carried = high + (low >> 32);
        return carried >= -(1L << 20) && carried < 1L << 20;
    }
}
