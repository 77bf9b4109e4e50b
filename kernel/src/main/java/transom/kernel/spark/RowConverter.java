package transom.kernel.spark;

import java.math.BigDecimal;
import java.util.ArrayList;
import org.apache.spark.sql.Row;

/** Converts Spark's rows to values of machines and back. */
final class RowConverter {
    private static final int INTEGER_DIGITS = 20;

    /** Prevents instantiation: all methods are static. */
    private RowConverter() {}

    /**
     * Converts the values of a Spark row from index `start` (inclusive) to `end` (exclusive) to the types that state
     * machines use.
     */
    static Object[] values(Row row, int start, int end) {
        Object[] values = new Object[end - start];
        for (int i = start; i < end; i++) {
            values[i - start] = value(row.get(i));
        }
        return values;
    }

    /**
     * Converts one value of a Spark row to the types that state machines use: a nested row to Object[], an Integer to
     * Long. Other values stay.
     */
    static Object value(Object cell) {
        if (cell instanceof Row nested) {
            return values(nested, 0, nested.size());
        }
        return cell instanceof Integer number ? Long.valueOf(number) : cell;
    }

    /**
     * Converts an output value for a Spark row: a decimal with more than 20 integer digits becomes null, others stay.
     * Such a decimal would overflow its column.
     */
    static Object fitToSpark(Object value) {
        boolean overflows = value instanceof BigDecimal number && number.precision() - number.scale() > INTEGER_DIGITS;
        return overflows ? null : value;
    }

    /** Iterates over output rows and releases each row after it is returned. */
    static final class DrainingIterator extends scala.collection.AbstractIterator<Row> {
        private final ArrayList<Row> rows;
        private int next;

        /** Creates an iterator that empties a list of output rows. */
        DrainingIterator(ArrayList<Row> rows) {
            this.rows = rows;
        }

        /** Whether an output row remains to be returned to Spark. */
        @Override
        public boolean hasNext() {
            return next < rows.size();
        }

        /** Returns the next output row to Spark and releases it to the garbage collector. */
        @Override
        public Row next() {
            return rows.set(next++, null);
        }
    }
}
