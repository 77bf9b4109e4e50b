package transom.kernel.aggregates;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import transom.kernel.state.Codec;
import transom.kernel.state.Floats;
import transom.kernel.state.Values;

/** A sum with retraction in any order. The sum is exact, so the order does not matter; the result is rounded once. */
abstract class RetractableSum {
    /**
     * Adds `count` copies of the value or RDF term at index `offset` of a row to the sum, or retracts them if `count`
     * is negative.
     */
    abstract void add(Object[] row, int offset, long count);

    /** Appends the current COUNT, SUM or AVG to `row`, the group's result row. An RDF sum appends several values. */
    abstract void appendTo(List<Object> row);

    /** Whether no count is negative; a negative count means that a value was retracted that was never added. */
    abstract boolean isValid();

    /** Encodes the counts and exact sums for the group's saved state. */
    abstract void write(Codec.Writer out);

    /** Restores the counts and exact sums from the group's saved state. */
    abstract void read(Codec.Reader in);

    /** Returns the decimal `sum` + `number` * `copies`, exactly. A zero result is BigDecimal.ZERO, without a scale. */
    private static BigDecimal plus(BigDecimal sum, BigDecimal number, long copies) {
        BigDecimal total = sum.add(number.multiply(BigDecimal.valueOf(copies)));
        return total.signum() == 0 ? BigDecimal.ZERO : total;
    }

    /** COUNT, SUM and AVG of values of one type; NULLs are ignored. */
    static final class OfValues extends RetractableSum {
        private static final int DIGITS = 38;
        private static final MathContext ALL_DIGITS = new MathContext(DIGITS, RoundingMode.HALF_EVEN);

        private final String function;
        private final String type;
        private long count;
        private BigDecimal sum = BigDecimal.ZERO;

        /** Creates an empty COUNT, SUM or AVG over values of one type. */
        OfValues(String function, String type) {
            this.function = function;
            this.type = type;
        }

        /**
         * Adds `copies` of the value at index `offset` of a row to the count and the exact sum, or retracts them if
         * `copies` is negative. NULL is ignored.
         */
        @Override
        void add(Object[] row, int offset, long copies) {
            if (row[offset] == null) {
                return;
            }
            count += copies;
            if (!function.equals("count")) {
                sum = plus(sum, exact(row[offset]), copies);
            }
        }

        /**
         * Converts a number to an exact decimal for the sum; a float becomes the shortest decimal that parses to it,
         * such as 0.1.
         */
        private static BigDecimal exact(Object value) {
            if (value instanceof Long integer) {
                return BigDecimal.valueOf(integer);
            }
            if (value instanceof Double number) {
                long millionths = Floats.millionths(number);
                boolean fits = millionths != Floats.NOT_MILLIONTHS;
                return fits ? BigDecimal.valueOf(millionths, 6) : Floats.toDecimal(number);
            }
            return (BigDecimal) value;
        }

        /** Appends the current COUNT, SUM or AVG of the group to `row`, the group's result row. */
        @Override
        void appendTo(List<Object> row) {
            row.add(value());
        }

        /**
         * Returns the current COUNT, SUM or AVG of the group, rounded once; SUM and AVG are null without values or on
         * overflow. A sum of decimals is a string, as it may not fit into a decimal column.
         */
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
                    BigDecimal number = Values.normalized(sum.round(ALL_DIGITS));
                    return Math.abs(number.scale()) <= DIGITS ? number.toString() : null;
                default:
                    return sum.toBigIntegerExact().bitLength() < Long.SIZE ? (Object) sum.longValueExact() : null;
            }
        }

        /** Converts a float to a result value: infinity and NaN become null, and -0.0 becomes 0.0. */
        private static Object finite(double number) {
            return Double.isFinite(number) ? (Object) (number + 0.0) : null;
        }

        /**
         * Whether the count of values is not negative; a negative count means that a value was retracted that was never
         * added.
         */
        @Override
        boolean isValid() {
            return count >= 0;
        }

        /** Encodes the count and the exact sum of the group's values for its saved state. */
        @Override
        void write(Codec.Writer out) {
            out.number(count);
            out.value(sum);
        }

        /** Restores the count and the exact sum of the group's values from its saved state. */
        @Override
        void read(Codec.Reader in) {
            count = in.number();
            sum = (BigDecimal) in.value();
        }
    }

    /**
     * The sum of RDF numbers: each is promoted to the type of the sum, and the exact sum is rounded once.
     *
     * <p>The last three values of a term describe a number: its kind (1 integer, 2 decimal, 3 float, 4 double), its
     * exact value (scaled by 10^18 for a decimal), and its floating-point value. A term without a kind is not a number
     * and makes the sum an error. There are three sums: of exact numbers, of numbers as 32-bit floats, and of numbers
     * as 64-bit floats; the highest kind among the members selects one.
     */
    static final class OfTerms extends RetractableSum {
        private static final int DECIMAL_PLACES = 18;
        private static final BigDecimal LIMIT = BigDecimal.TEN.pow(38);

        private final boolean withCount;
        private final long[] counts = new long[5];
        private final long[] nonFiniteCounts = new long[3];
        private final BigDecimal[] sums = {BigDecimal.ZERO, BigDecimal.ZERO, BigDecimal.ZERO};

        /** Creates an empty sum of RDF numbers; `withCount` appends their count to the result, for AVG. */
        OfTerms(boolean withCount) {
            this.withCount = withCount;
        }

        /**
         * Adds `copies` of the RDF term at index `offset` of a row to the sum, or retracts them if `copies` is
         * negative. While the sum contains a term that is not a number, its result is an error.
         */
        @Override
        void add(Object[] row, int offset, long copies) {
            Object kindCell = row[offset + GroupAggregate.TERM_CELLS - 3];
            int kind = kindCell == null ? 0 : ((Long) kindCell).intValue();
            counts[kind] += copies;
            if (kind == 0) {
                return;
            }
            double floatValue;
            if (kind <= 2) {
                BigDecimal exact = (BigDecimal) row[offset + GroupAggregate.TERM_CELLS - 2];
                exact = kind == 2 ? exact.movePointLeft(DECIMAL_PLACES) : exact;
                floatValue = exact.doubleValue();
                addTo(0, exact, copies);
                addTo(1, new BigDecimal((float) floatValue), copies);
            } else {
                floatValue = (Double) row[offset + GroupAggregate.TERM_CELLS - 1];
                if (!Double.isFinite(floatValue)) {
                    nonFiniteCounts[Double.isNaN(floatValue) ? 0 : floatValue > 0 ? 1 : 2] += copies;
                    return;
                }
                if (kind == 3) {
                    addTo(1, new BigDecimal(floatValue), copies);
                }
            }
            addTo(2, new BigDecimal(floatValue), copies);
        }

        /**
         * Adds `copies` times a number to one of the three exact sums: index 0 is of integers and decimals, 1 of
         * numbers rounded to 32-bit floats, 2 of numbers rounded to 64-bit floats.
         */
        private void addTo(int index, BigDecimal number, long copies) {
            sums[index] = plus(sums[index], number, copies);
        }

        /**
         * Appends the current SUM or AVG of RDF numbers to the group's result row, as several values. They are its kind
         * (1 integer, 2 decimal, 3 float, 4 double), its exact value, its floating-point value and, for AVG, the count;
         * all NULL if the sum is an error.
         */
        @Override
        void appendTo(List<Object> row) {
            int kind = 1;
            for (int i = 2; i < counts.length; i++) {
                kind = counts[i] != 0 ? i : kind;
            }
            BigDecimal exact = kind == 2 ? sums[0].movePointRight(DECIMAL_PLACES) : sums[0];
            boolean error = counts[0] != 0 || kind <= 2 && exact.abs().compareTo(LIMIT) >= 0;
            row.add(error ? null : Long.valueOf(kind));
            row.add(error || kind > 2 ? null : exact.toBigIntegerExact().toString());
            row.add(error || kind <= 2 ? null : floatingSum(kind));
            if (withCount) {
                row.add(error ? null : counts[1] + counts[2] + counts[3] + counts[4]);
            }
        }

        /**
         * Returns the sum of RDF numbers, rounded to a 32-bit float if `kind` is 3, otherwise to a double. Infinite and
         * NaN members give infinity and NaN as in IEEE 754 addition.
         */
        private Object floatingSum(int kind) {
            if (nonFiniteCounts[0] != 0 || nonFiniteCounts[1] != 0 && nonFiniteCounts[2] != 0) {
                return Double.NaN;
            }
            if (nonFiniteCounts[1] != 0 || nonFiniteCounts[2] != 0) {
                return nonFiniteCounts[1] != 0 ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
            }
            return kind == 3 ? (double) sums[1].floatValue() : sums[2].doubleValue();
        }

        /**
         * Whether no count of RDF terms is negative; a negative count means that a term was retracted that was never
         * added.
         */
        @Override
        boolean isValid() {
            for (long count : counts) {
                if (count < 0) {
                    return false;
                }
            }
            return nonFiniteCounts[0] >= 0 && nonFiniteCounts[1] >= 0 && nonFiniteCounts[2] >= 0;
        }

        /** Encodes the number of RDF terms of each kind and the three exact sums for the group's saved state. */
        @Override
        void write(Codec.Writer out) {
            for (long count : counts) {
                out.number(count);
            }
            for (long count : nonFiniteCounts) {
                out.number(count);
            }
            for (BigDecimal sum : sums) {
                out.value(sum);
            }
        }

        /** Restores the number of RDF terms of each kind and the three exact sums from the group's saved state. */
        @Override
        void read(Codec.Reader in) {
            for (int i = 0; i < counts.length; i++) {
                counts[i] = in.number();
            }
            for (int i = 0; i < nonFiniteCounts.length; i++) {
                nonFiniteCounts[i] = in.number();
            }
            for (int i = 0; i < sums.length; i++) {
                sums[i] = (BigDecimal) in.value();
            }
        }
    }
}
