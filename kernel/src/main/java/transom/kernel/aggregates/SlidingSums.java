package transom.kernel.aggregates;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Arrays;
import transom.kernel.state.Codec;
import transom.kernel.state.Floats;
import transom.kernel.state.Values;
import transom.kernel.state.WideSum;

/** COUNT, SUM and AVG: exact sums to which panes are added and from which they are subtracted. */
final class SlidingSums {
    private static final int DIGITS = 38;
    private static final MathContext ALL_DIGITS = new MathContext(DIGITS, RoundingMode.HALF_EVEN);

    /** Prevents instantiation: the class only groups the sums per type of number. */
    private SlidingSums() {}

    /**
     * Creates the empty sliding aggregate for SUM and AVG over values of a numeric type such as `float`; `argument` is
     * the value's index in a row.
     */
    static SlidingAggregate of(String type, int argument) {
        switch (type) {
            case "integer":
            case "null":
                return new Whole(argument);
            case "float":
                return new Floating(argument);
            case "decimal":
                return new Decimals(argument);
            default:
                throw new IllegalArgumentException("there are no sliding sums of " + type);
        }
    }

    /** Sums of integers as {@link WideSum}s. */
    static class Whole extends SlidingCount {
        private long[] highs = new long[0];
        private long[] lows = new long[0];
        private long high;
        private long low;

        /** Creates a sliding SUM and AVG of integers. */
        Whole(int argument) {
            super(argument);
        }

        /** Enlarges the arrays that hold the count and the integer sum of each pane to `capacity` elements. */
        @Override
        public void grow(int capacity) {
            super.grow(capacity);
            highs = Arrays.copyOf(highs, capacity);
            lows = Arrays.copyOf(lows, capacity);
        }

        /**
         * Resets the count and the integer sum of the pane at array index `slot` to 0, so that another pane can use the
         * index.
         */
        @Override
        public void clear(int slot) {
            super.clear(slot);
            highs[slot] = 0;
            lows[slot] = 0;
        }

        /** Counts an integer and adds it to the sum of the pane at array index `slot`. */
        @Override
        public void add(int slot, Object value) {
            count(slot);
            addToSum(slot, (Long) value);
        }

        /** Adds a number to the integer sum of the pane at array index `slot`, without counting it as a value. */
        final void addToSum(int slot, long number) {
            highs[slot] += number >> 32;
            lows[slot] += number & WideSum.LOW_MASK;
        }

        /**
         * Adds the count and the integer sum of the pane at array index `from` to those of the pane at array index
         * `into`.
         */
        @Override
        public void merge(int into, int from) {
            super.merge(into, from);
            highs[into] += highs[from];
            lows[into] += lows[from];
        }

        /**
         * Adds the count and the integer sum of a pane that enters the sliding window to those of the window. The pane
         * is at array index `slot`.
         */
        @Override
        public void enter(int slot) {
            super.enter(slot);
            high += highs[slot];
            low += lows[slot];
        }

        /**
         * Subtracts the count and the integer sum of a pane that leaves the sliding window from those of the window.
         * The pane is at array index `slot`.
         */
        @Override
        public void leave(int slot) {
            super.leave(slot);
            high -= highs[slot];
            low -= lows[slot];
        }

        /** Returns the SUM of the integers in the current window; null if it does not fit into a long. */
        @Override
        Object sum() {
            return WideSum.fitsLong(high, low) ? (Object) WideSum.toLong(high, low) : null;
        }

        /**
         * Computes AVG: the exact sum of the integers in the current window, divided by their number `count` and
         * rounded once to a double.
         */
        @Override
        double mean(long count) {
            if (WideSum.fitsDouble(high, low)) {
                return (double) WideSum.toLong(high, low) / count;
            }
            return Floats.quotient(new BigDecimal(WideSum.toBigInteger(high, low)), count);
        }

        /**
         * Returns the window's sum: the integer sum in millionths plus `decimalSum`, rounded to a double. The first holds, in
         * millionths, the floats that are multiples of a millionth, and `decimalSum` is the sum of the others (null for
         * none).
         */
        final double millionths(BigDecimal decimalSum) {
            return Floats.sumAsDouble(high, low, decimalSum);
        }

        /**
         * Returns the mean of the floats in the current window, rounded once to a double. The integer sum holds, in
         * millionths, the floats that are multiples of a millionth, `decimalSum` is the sum of the others (null for
         * none), and `count` is the number of all.
         */
        final double meanOfMillionths(BigDecimal decimalSum, long count) {
            return Floats.mean(high, low, decimalSum, count);
        }

        /** Encodes the count and the integer sum of the pane at array index `slot` for saved state. */
        @Override
        public void write(int slot, Codec.Writer out) {
            super.write(slot, out);
            if (hasValues(slot)) {
                out.number(highs[slot] + (lows[slot] >> 32));
                out.number(lows[slot] & WideSum.LOW_MASK);
            }
        }

        /** Restores the count and the integer sum of the pane at array index `slot` from saved state. */
        @Override
        public void read(int slot, Codec.Reader in) {
            super.read(slot, in);
            if (hasValues(slot)) {
                highs[slot] = in.number();
                lows[slot] = in.number();
            }
        }
    }

    /** Sums of floats: in millionths, and as decimals for floats with more digits. */
    static final class Floating extends Whole {
        private BigDecimal[] decimals = new BigDecimal[0];
        private BigDecimal decimalSum;
        private int decimalPanes;

        /** Creates a sliding SUM and AVG of floats. */
        Floating(int argument) {
            super(argument);
        }

        /** Enlarges the arrays that hold the count and the float sum of each pane to `capacity` elements. */
        @Override
        public void grow(int capacity) {
            super.grow(capacity);
            decimals = Arrays.copyOf(decimals, capacity);
        }

        /**
         * Resets the count and the float sum of the pane at array index `slot` to 0, so that another pane can use the
         * index.
         */
        @Override
        public void clear(int slot) {
            super.clear(slot);
            decimals[slot] = null;
        }

        /**
         * Counts a float and adds it exactly to the sum of the pane at array index `slot`. It counts as the shortest
         * decimal that parses to it, added in millionths if possible.
         */
        @Override
        public void add(int slot, Object value) {
            double number = (Double) value;
            long millionths = Floats.millionths(number);
            if (millionths != Floats.NOT_MILLIONTHS) {
                addToSum(slot, millionths);
            } else {
                BigDecimal decimal = Floats.toDecimal(number);
                decimals[slot] = decimals[slot] == null ? decimal : decimals[slot].add(decimal);
            }
            count(slot);
        }

        /**
         * Adds the count and the float sum of the pane at array index `from` to those of the pane at array index
         * `into`.
         */
        @Override
        public void merge(int into, int from) {
            super.merge(into, from);
            if (decimals[from] != null) {
                decimals[into] = decimals[into] == null ? decimals[from] : decimals[into].add(decimals[from]);
            }
        }

        /**
         * Adds the count and the float sum of a pane that enters the sliding window to those of the window. The pane is
         * at array index `slot`.
         */
        @Override
        public void enter(int slot) {
            super.enter(slot);
            if (decimals[slot] != null) {
                decimalSum = decimalPanes++ == 0 ? decimals[slot] : decimalSum.add(decimals[slot]);
            }
        }

        /**
         * Subtracts the count and the float sum of a pane that leaves the sliding window from those of the window. The
         * pane is at array index `slot`.
         */
        @Override
        public void leave(int slot) {
            super.leave(slot);
            if (decimals[slot] != null) {
                decimalSum = --decimalPanes == 0 ? null : decimalSum.subtract(decimals[slot]);
            }
        }

        /** Returns the SUM of the floats in the current window, rounded once to a double; null if it is infinite. */
        @Override
        Object sum() {
            double total = millionths(decimalSum);
            return Double.isFinite(total) ? (Object) (total + 0.0) : null;
        }

        /**
         * Computes AVG: the exact sum of the floats in the current window, divided by their number `count` and rounded
         * once to a double.
         */
        @Override
        double mean(long count) {
            return meanOfMillionths(decimalSum, count);
        }

        /** Encodes the count and the float sum of the pane at array index `slot` for saved state. */
        @Override
        public void write(int slot, Codec.Writer out) {
            super.write(slot, out);
            if (hasValues(slot)) {
                out.value(decimals[slot]);
            }
        }

        /** Restores the count and the float sum of the pane at array index `slot` from saved state. */
        @Override
        public void read(int slot, Codec.Reader in) {
            super.read(slot, in);
            if (hasValues(slot)) {
                decimals[slot] = (BigDecimal) in.value();
            }
        }
    }

    /** Sums of decimals. */
    static final class Decimals extends SlidingCount {
        private BigDecimal[] sums = new BigDecimal[0];
        private BigDecimal sum;
        private int panesWithValues;

        /** Creates a sliding SUM and AVG of decimals. */
        Decimals(int argument) {
            super(argument);
        }

        /** Enlarges the arrays that hold the count and the decimal sum of each pane to `capacity` elements. */
        @Override
        public void grow(int capacity) {
            super.grow(capacity);
            sums = Arrays.copyOf(sums, capacity);
        }

        /**
         * Resets the count and the decimal sum of the pane at array index `slot` to 0, so that another pane can use the
         * index.
         */
        @Override
        public void clear(int slot) {
            super.clear(slot);
            sums[slot] = null;
        }

        /** Counts a decimal and adds it to the sum of the pane at array index `slot`. */
        @Override
        public void add(int slot, Object value) {
            count(slot);
            sums[slot] = sums[slot] == null ? (BigDecimal) value : sums[slot].add((BigDecimal) value);
        }

        /**
         * Adds the count and the decimal sum of the pane at array index `from` to those of the pane at array index
         * `into`.
         */
        @Override
        public void merge(int into, int from) {
            super.merge(into, from);
            if (sums[from] != null) {
                sums[into] = sums[into] == null ? sums[from] : sums[into].add(sums[from]);
            }
        }

        /**
         * Adds the count and the decimal sum of a pane that enters the sliding window to those of the window. The pane
         * is at array index `slot`.
         */
        @Override
        public void enter(int slot) {
            super.enter(slot);
            if (sums[slot] != null) {
                sum = panesWithValues++ == 0 ? sums[slot] : sum.add(sums[slot]);
            }
        }

        /**
         * Subtracts the count and the decimal sum of a pane that leaves the sliding window from those of the window.
         * The pane is at array index `slot`.
         */
        @Override
        public void leave(int slot) {
            super.leave(slot);
            if (sums[slot] != null) {
                sum = --panesWithValues == 0 ? null : sum.subtract(sums[slot]);
            }
        }

        /**
         * Returns the SUM of the decimals in the current window, rounded to 38 digits; null if its scale is out of
         * range.
         */
        @Override
        Object sum() {
            BigDecimal number = Values.normalized(sum.round(ALL_DIGITS));
            return Math.abs(number.scale()) <= DIGITS ? number : null;
        }

        /**
         * Computes AVG: the exact sum of the decimals in the current window, divided by their number `count` and
         * rounded once to a double.
         */
        @Override
        double mean(long count) {
            return Floats.quotient(sum, count);
        }

        /** Encodes the count and the decimal sum of the pane at array index `slot` for saved state. */
        @Override
        public void write(int slot, Codec.Writer out) {
            super.write(slot, out);
            if (hasValues(slot)) {
                out.value(sums[slot]);
            }
        }

        /** Restores the count and the decimal sum of the pane at array index `slot` from saved state. */
        @Override
        public void read(int slot, Codec.Reader in) {
            super.read(slot, in);
            if (hasValues(slot)) {
                sums[slot] = (BigDecimal) in.value();
            }
        }
    }
}
