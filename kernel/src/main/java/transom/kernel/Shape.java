package transom.kernel;

import java.io.Serializable;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Where a row has what a machine takes: columns are found by name once, not in every row.
 *
 * @param lines 1 if the key starts with the column `line`, which every row that comes out repeats, else 0
 * @param buckets over how many keys the rows are spread
 * @param out values that come out
 * @param keys values at the front of `cells` that pairs must agree on
 * @param tick the column of the tick's number
 * @param side of the side
 * @param window of the window
 * @param present of whether it says more than that a window exists
 * @param sign of the sign
 * @param order of what puts rows in order, per side
 * @param cells of the values, per side
 * @param widths how many values, per side
 */
record Shape(
        int lines,
        int buckets,
        int out,
        int keys,
        int tick,
        int side,
        int window,
        int present,
        int sign,
        int[] order,
        int[] cells,
        int[] widths)
        implements Serializable {
    /** The shape of a frame's rows; `widths` says how many sides there are. One without columns has those of the first. */
    static Shape of(StructType schema, int lines, int buckets, int out, int keys, int[] widths) {
        int[] order = new int[widths.length];
        int[] cells = new int[widths.length];
        for (int at = 0; at < widths.length; at++) {
            int own = schema.getFieldIndex("cells" + at).isDefined() ? at : 0;
            order[at] = schema.fieldIndex("o" + own);
            cells[at] = schema.fieldIndex("cells" + own);
        }
        return new Shape(
                lines,
                buckets,
                out,
                keys,
                schema.fieldIndex("t"),
                schema.fieldIndex("side"),
                schema.fieldIndex("w"),
                schema.fieldIndex("p"),
                schema.fieldIndex("n"),
                order,
                cells,
                widths);
    }

    /** A row as a machine takes it. */
    Coming coming(Row row) {
        int from = row.getInt(side);
        Row values = row.getStruct(cells[from]);
        Object[] key = Rows.values(values, 0, keys);
        Object[] own = Rows.values(values, keys, keys + widths[from]);
        Object place = Rows.value(row.get(order[from]));
        Arrival arrival =
                new Arrival(from, row.getInt(window), row.getBoolean(present), row.getInt(sign), place, key, own);
        return new Coming(row.getLong(tick), arrival);
    }
}
