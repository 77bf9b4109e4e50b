package transom.kernel;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;

/** A sum of which members leave in any order: exact, so that no order changes it, and rounded once. */
abstract class GroupTotal {
    /** Add copies of a value, or remove them; the value begins at a place of its row. */
    abstract void add(Object[] row, int at, long count);

    /** Put the values of the aggregate at the end of a row. */
    abstract void put(List<Object> row);

    /** Whether no more values were removed than added. */
    abstract boolean valid();

    abstract void write(Codec.Writer out);

    abstract void read(Codec.Reader in);

    /** A sum with copies of a number more. */
    private static BigDecimal plus(BigDecimal sum, BigDecimal number, long copies) {
        BigDecimal found = sum.add(number.multiply(BigDecimal.valueOf(copies)));
        return found.signum() == 0 ? BigDecimal.ZERO : found;
    }

    /** The number of values of one type, and their sum; NULLs do not count. */
    static final class OfValues extends GroupTotal {
        private static final int DIGITS = 38;
        private static final MathContext ALL_DIGITS = new MathContext(DIGITS, RoundingMode.HALF_EVEN);

        private final String function;
        private final String type;
        private long count;
        private BigDecimal sum = BigDecimal.ZERO;

        OfValues(String function, String type) {
            this.function = function;
            this.type = type;
        }

        @Override
        void add(Object[] row, int at, long copies) {
            if (row[at] == null) {
                return;
            }
            count += copies;
            if (!function.equals("count")) {
                sum = plus(sum, exact(row[at]), copies);
            }
        }

        private static BigDecimal exact(Object value) {
            if (value instanceof Long whole) {
                return BigDecimal.valueOf(whole);
            }
            if (value instanceof Double number) {
                long millionths = Floats.millionths(number);
                return millionths == Floats.NONE ? Floats.printed(number) : BigDecimal.valueOf(millionths, 6);
            }
            return (BigDecimal) value;
        }

        @Override
        void put(List<Object> row) {
            row.add(value());
        }

        /** The aggregate; a sum of decimals is text, as its digits may not fit into a column of decimals. */
        private Object value() {
            if (function.equals("count")) {
                return count;
            }
            if (count == 0) {
                return null;
            }
            if (function.equals("avg")) {
                return finite(Floats.quotient(sum, count));
            }
            switch (type) {
                case "float":
                    return finite(sum.doubleValue());
                case "decimal":
                    BigDecimal number = Values.oneForm(sum.round(ALL_DIGITS));
                    return Math.abs(number.scale()) <= DIGITS ? number.toString() : null;
                default:
                    return sum.toBigIntegerExact().bitLength() < Long.SIZE ? (Object) sum.longValueExact() : null;
            }
        }

        private static Object finite(double number) {
            return Double.isFinite(number) ? (Object) (number + 0.0) : null;
        }

        @Override
        boolean valid() {
            return count >= 0;
        }

        @Override
        void write(Codec.Writer out) {
            out.number(count);
            out.value(sum);
        }

        @Override
        void read(Codec.Reader in) {
            count = in.number();
            sum = (BigDecimal) in.value();
        }
    }

    /**
     * The sum of numbers of RDF: each becomes the kind of the sum, and the exact sum is rounded once.
     *
     * <p>A number is its kind (1 integer, 2 decimal, 3 float, 4 double), its exact value, whole for an integer and
     * times 10^18 for a decimal, and its floating value; they are the last three values of a term. A member without a
     * kind is an error. There is one sum for each kind that a result can have: of exact numbers, of numbers as floats
     * of 32 bits, and of numbers as floats of 64 bits.
     */
    static final class OfTerms extends GroupTotal {
        private static final int PLACES = 18;
        private static final BigDecimal REACH = BigDecimal.TEN.pow(38);

        private final boolean withCount;
        private final long[] counts = new long[5];
        private final long[] endless = new long[3];
        private final BigDecimal[] sums = {BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ZERO};

        OfTerms(boolean withCount) {
            this.withCount = withCount;
        }

        @Override
        void add(Object[] row, int at, long copies) {
            Object kind = row[at + GroupAggregate.TERM_CELLS - 3];
            int place = kind == null ? 0 : ((Long) kind).intValue();
            counts[place] += copies;
            if (place == 0) {
                return;
            }
            double floating;
            if (place <= 2) {
                BigDecimal exact = (BigDecimal) row[at + GroupAggregate.TERM_CELLS - 2];
                exact = place == 2 ? exact.movePointLeft(PLACES) : exact;
                floating = exact.doubleValue();
                sum(0, exact, copies);
                sum(1, new BigDecimal((float) floating), copies);
            } else {
                floating = (Double) row[at + GroupAggregate.TERM_CELLS - 1];
                if (!Double.isFinite(floating)) {
                    endless[Double.isNaN(floating) ? 0 : floating > 0 ? 1 : 2] += copies;
                    return;
                }
                if (place == 3) {
                    sum(1, new BigDecimal(floating), copies);
                }
            }
            sum(2, new BigDecimal(floating), copies);
        }

        private void sum(int place, BigDecimal number, long copies) {
            sums[place] = plus(sums[place], number, copies);
        }

        @Override
        void put(List<Object> row) {
            int kind = 1;
            for (int place = 2; place < counts.length; place++) {
                kind = counts[place] != 0 ? place : kind;
            }
            BigDecimal exact = kind == 2 ? sums[0].movePointRight(PLACES) : sums[0];
            boolean error = counts[0] != 0 || kind <= 2 && exact.abs().compareTo(REACH) >= 0;
            row.add(error ? null : Long.valueOf(kind));
            row.add(error || kind > 2 ? null : exact.toBigIntegerExact().toString());
            row.add(error || kind <= 2 ? null : floating(kind));
            if (withCount) {
                row.add(error ? null : counts[1] + counts[2] + counts[3] + counts[4]);
            }
        }

        private Object floating(int kind) {
            if (endless[0] != 0 || endless[1] != 0 && endless[2] != 0) {
                return Double.NaN;
            }
            if (endless[1] != 0 || endless[2] != 0) {
                return endless[1] != 0 ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
            }
            return kind == 3 ? (double) sums[1].floatValue() : sums[2].doubleValue();
        }

        @Override
        boolean valid() {
            for (long count : counts) {
                if (count < 0) {
                    return false;
                }
            }
            return endless[0] >= 0 && endless[1] >= 0 && endless[2] >= 0;
        }

        @Override
        void write(Codec.Writer out) {
            for (long count : counts) {
                out.number(count);
            }
            for (long count : endless) {
                out.number(count);
            }
            for (BigDecimal sum : sums) {
                out.value(sum);
            }
        }

        @Override
        void read(Codec.Reader in) {
            for (int place = 0; place < counts.length; place++) {
                counts[place] = in.number();
            }
            for (int place = 0; place < endless.length; place++) {
                endless[place] = in.number();
            }
            for (int place = 0; place < sums.length; place++) {
                sums[place] = (BigDecimal) in.value();
            }
        }
    }
}
