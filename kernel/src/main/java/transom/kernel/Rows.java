package transom.kernel;

import java.math.BigDecimal;
import java.util.ArrayList;
import org.apache.spark.sql.Row;

/** Spark's rows as values of machines and back. */
final class Rows {
    private static final int WHOLE_DIGITS = 20;

    private Rows() {}

    /** The values of a nested row, from one place up to another. */
    static Object[] values(Row row, int from, int to) {
        Object[] found = new Object[to - from];
        for (int place = from; place < to; place++) {
            found[place - from] = value(row.get(place));
        }
        return found;
    }

    /** A value; a nested row is an array. */
    static Object value(Object cell) {
        if (cell instanceof Row nested) {
            return values(nested, 0, nested.size());
        }
        return cell instanceof Integer number ? Long.valueOf(number) : cell;
    }

    /** A value that a machine made; a decimal beyond what Spark's columns hold is null, as a sum of Spark's own is. */
    static Object fitting(Object value) {
        boolean beyond = value instanceof BigDecimal number && number.precision() - number.scale() > WHOLE_DIGITS;
        return beyond ? null : value;
    }

    /** Rows that wait to be handed to Spark. */
    static final class Waiting extends scala.collection.AbstractIterator<Row> {
        private final ArrayList<Row> rows;
        private int place;

        Waiting(ArrayList<Row> rows) {
            this.rows = rows;
        }

        @Override
        public boolean hasNext() {
            return place < rows.size();
        }

        @Override
        public Row next() {
            return rows.set(place++, null);
        }
    }
}
