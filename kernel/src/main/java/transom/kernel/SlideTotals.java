package transom.kernel;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Arrays;

/** Counts and exact sums, which slide by adding and subtracting. */
final class SlideTotals {
    private static final int DIGITS = 38;
    private static final MathContext ALL_DIGITS = new MathContext(DIGITS, RoundingMode.HALF_EVEN);

    private SlideTotals() {}

    /** The sums of a type of numbers. */
    static SlideColumn of(String type, int argument) {
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

    /** How many values there are. */
    static class Count extends SlideColumn {
        private long[] counts = new long[0];
        private long count;

        Count(int argument) {
            super(argument);
        }

        @Override
        void grow(int capacity) {
            counts = Arrays.copyOf(counts, capacity);
        }

        @Override
        void clear(int slot) {
            counts[slot] = 0;
        }

        @Override
        void add(int slot, Object value) {
            count(slot);
        }

        /** One value more in a pane. */
        final void count(int slot) {
            counts[slot]++;
        }

        @Override
        void merge(int into, int from) {
            counts[into] += counts[from];
        }

        @Override
        void enter(int slot) {
            count += counts[slot];
        }

        @Override
        void leave(int slot) {
            count -= counts[slot];
        }

        /** A count, a sum, or a mean that is rounded once; the sum and the mean of no value are NULL. */
        @Override
        Object value(Function function) {
            if (function == Function.COUNT) {
                return count;
            }
            if (count == 0) {
                return null;
            }
            if (function == Function.SUM) {
                return sum();
            }
            double mean = mean(count);
            return Double.isFinite(mean) ? mean + 0.0 : null;
        }

        /** The sum of the values in the window, null where its type cannot hold it. */
        Object sum() {
            throw new IllegalStateException("a count has no sum");
        }

        /** The exact sum of the values in the window divided by their number, rounded once. */
        double mean(long count) {
            throw new IllegalStateException("a count has no sum");
        }

        @Override
        void write(int slot, Codec.Writer out) {
            out.number(counts[slot]);
        }

        @Override
        void read(int slot, Codec.Reader in) {
            counts[slot] = in.number();
        }

        /** Whether a pane holds a value. */
        final boolean any(int slot) {
            return counts[slot] != 0;
        }
    }

    /** Sums of whole numbers, in two longs. */
    static class Whole extends Count {
        private long[] highs = new long[0];
        private long[] lows = new long[0];
        private long high;
        private long low;

        Whole(int argument) {
            super(argument);
        }

        @Override
        void grow(int capacity) {
            super.grow(capacity);
            highs = Arrays.copyOf(highs, capacity);
            lows = Arrays.copyOf(lows, capacity);
        }

        @Override
        void clear(int slot) {
            super.clear(slot);
            highs[slot] = 0;
            lows[slot] = 0;
        }

        @Override
        void add(int slot, Object value) {
            count(slot);
            put(slot, (Long) value);
        }

        /** Add to the sum of a pane alone. */
        final void put(int slot, long number) {
            highs[slot] += number >> 32;
            lows[slot] += number & Wide.LOW;
        }

        @Override
        void merge(int into, int from) {
            super.merge(into, from);
            highs[into] += highs[from];
            lows[into] += lows[from];
        }

        @Override
        void enter(int slot) {
            super.enter(slot);
            high += highs[slot];
            low += lows[slot];
        }

        @Override
        void leave(int slot) {
            super.leave(slot);
            high -= highs[slot];
            low -= lows[slot];
        }

        @Override
        Object sum() {
            return Wide.fits(high, low) ? (Object) Wide.whole(high, low) : null;
        }

        @Override
        double mean(long count) {
            if (Wide.isSmall(high, low)) {
                return (double) Wide.whole(high, low) / count;
            }
            return Floats.quotient(new BigDecimal(Wide.exact(high, low)), count);
        }

        /** The sum of the values in the window as millionths, and of others, as a double. */
        final double millionths(BigDecimal others) {
            return Floats.total(high, low, others);
        }

        /** The mean of the values in the window, which are millionths and others. */
        final double meanOfMillionths(BigDecimal others, long count) {
            return Floats.mean(high, low, others, count);
        }

        @Override
        void write(int slot, Codec.Writer out) {
            super.write(slot, out);
            if (any(slot)) {
                out.number(highs[slot] + (lows[slot] >> 32));
                out.number(lows[slot] & Wide.LOW);
            }
        }

        @Override
        void read(int slot, Codec.Reader in) {
            super.read(slot, in);
            if (any(slot)) {
                highs[slot] = in.number();
                lows[slot] = in.number();
            }
        }
    }

    /** Sums of floats: whole numbers of millionths, and decimals for floats with more digits. */
    static final class Floating extends Whole {
        private BigDecimal[] others = new BigDecimal[0];
        private BigDecimal other;
        private int panes;

        Floating(int argument) {
            super(argument);
        }

        @Override
        void grow(int capacity) {
            super.grow(capacity);
            others = Arrays.copyOf(others, capacity);
        }

        @Override
        void clear(int slot) {
            super.clear(slot);
            others[slot] = null;
        }

        @Override
        void add(int slot, Object value) {
            double number = (Double) value;
            long millionths = Floats.millionths(number);
            if (millionths != Floats.NONE) {
                put(slot, millionths);
            } else {
                BigDecimal printed = Floats.printed(number);
                others[slot] = others[slot] == null ? printed : others[slot].add(printed);
            }
            count(slot);
        }

        @Override
        void merge(int into, int from) {
            super.merge(into, from);
            if (others[from] != null) {
                others[into] = others[into] == null ? others[from] : others[into].add(others[from]);
            }
        }

        @Override
        void enter(int slot) {
            super.enter(slot);
            if (others[slot] != null) {
                other = panes++ == 0 ? others[slot] : other.add(others[slot]);
            }
        }

        @Override
        void leave(int slot) {
            super.leave(slot);
            if (others[slot] != null) {
                other = --panes == 0 ? null : other.subtract(others[slot]);
            }
        }

        @Override
        Object sum() {
            double total = millionths(other);
            return Double.isFinite(total) ? (Object) (total + 0.0) : null;
        }

        @Override
        double mean(long count) {
            return meanOfMillionths(other, count);
        }

        @Override
        void write(int slot, Codec.Writer out) {
            super.write(slot, out);
            if (any(slot)) {
                out.value(others[slot]);
            }
        }

        @Override
        void read(int slot, Codec.Reader in) {
            super.read(slot, in);
            if (any(slot)) {
                others[slot] = (BigDecimal) in.value();
            }
        }
    }

    /** Sums of decimals. */
    static final class Decimals extends Count {
        private BigDecimal[] sums = new BigDecimal[0];
        private BigDecimal sum;
        private int panes;

        Decimals(int argument) {
            super(argument);
        }

        @Override
        void grow(int capacity) {
            super.grow(capacity);
            sums = Arrays.copyOf(sums, capacity);
        }

        @Override
        void clear(int slot) {
            super.clear(slot);
            sums[slot] = null;
        }

        @Override
        void add(int slot, Object value) {
            count(slot);
            sums[slot] = sums[slot] == null ? (BigDecimal) value : sums[slot].add((BigDecimal) value);
        }

        @Override
        void merge(int into, int from) {
            super.merge(into, from);
            if (sums[from] != null) {
                sums[into] = sums[into] == null ? sums[from] : sums[into].add(sums[from]);
            }
        }

        @Override
        void enter(int slot) {
            super.enter(slot);
            if (sums[slot] != null) {
                sum = panes++ == 0 ? sums[slot] : sum.add(sums[slot]);
            }
        }

        @Override
        void leave(int slot) {
            super.leave(slot);
            if (sums[slot] != null) {
                sum = --panes == 0 ? null : sum.subtract(sums[slot]);
            }
        }

        /** Rounded to 38 digits; null where its last place is too far before the point. */
        @Override
        Object sum() {
            BigDecimal number = Values.oneForm(sum.round(ALL_DIGITS));
            return Math.abs(number.scale()) <= DIGITS ? number : null;
        }

        @Override
        double mean(long count) {
            return Floats.quotient(sum, count);
        }

        @Override
        void write(int slot, Codec.Writer out) {
            super.write(slot, out);
            if (any(slot)) {
                out.value(sums[slot]);
            }
        }

        @Override
        void read(int slot, Codec.Reader in) {
            super.read(slot, in);
            if (any(slot)) {
                sums[slot] = (BigDecimal) in.value();
            }
        }
    }
}
