package transom.kernel.spark;

import java.io.Serializable;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;
import transom.kernel.InputRow;
import transom.kernel.state.TimedRow;

/**
 * The columns of the input rows of a machine, resolved by name once and not per row.
 *
 * @param windowKeys 1 if the key starts with the column `window_key`, which every output row repeats, else 0
 * @param buckets the number of hash buckets into which rows are divided
 * @param emittedValues the number of values of an output row
 * @param joinKeys the number of join keys at the front of a row's values
 * @param tick the index of the column `tick_number`
 * @param side the index of the column `side`
 * @param window the index of the column `window`
 * @param present the index of the column `is_row`, which is true for a row and false for a window marker
 * @param sign the index of the column `count`
 * @param order the index of the column of the sort key, per side
 * @param cells the index of the column of the values, per side
 * @param widths the number of values, per side
 */
public record InputLayout(
        int windowKeys,
        int buckets,
        int emittedValues,
        int joinKeys,
        int tick,
        int side,
        int window,
        int present,
        int sign,
        int[] order,
        int[] cells,
        int[] widths)
        implements Serializable {
    /**
     * Looks up the input columns of a state machine by name in a frame's schema, and keeps with them the numbers of
     * window keys (0 or 1), hash buckets, output values, join keys, and values per side (`widths`). A side without
     * columns uses those of the side before it. It is called once per query.
     */
    public static InputLayout of(
            StructType schema, int windowKeys, int buckets, int emittedValues, int joinKeys, int[] widths) {
        int[] order = new int[widths.length];
        int[] cells = new int[widths.length];
        for (int i = 0; i < widths.length; i++) {
            boolean hasColumns = schema.getFieldIndex("cells" + i).isDefined();
            order[i] = hasColumns ? schema.fieldIndex("order" + i) : order[i - 1];
            cells[i] = hasColumns ? schema.fieldIndex("cells" + i) : cells[i - 1];
        }
        return new InputLayout(
                windowKeys,
                buckets,
                emittedValues,
                joinKeys,
                schema.fieldIndex("tick_number"),
                schema.fieldIndex("side"),
                schema.fieldIndex("window"),
                schema.fieldIndex("is_row"),
                schema.fieldIndex("count"),
                order,
                cells,
                widths);
    }

    /**
     * Converts a Spark row to an input row of a state machine, with its tick. An input row has side, window, sign, sort
     * key, join key and values.
     */
    TimedRow timedRow(Row row) {
        int sideIndex = row.getInt(side);
        Row cellValues = row.getStruct(cells[sideIndex]);
        Object[] key = RowConverter.values(cellValues, 0, joinKeys);
        Object[] values = RowConverter.values(cellValues, joinKeys, joinKeys + widths[sideIndex]);
        Object sortKey = RowConverter.value(row.get(order[sideIndex]));
        InputRow input = new InputRow(
                sideIndex, row.getInt(window), row.getBoolean(present), row.getInt(sign), sortKey, key, values);
        return new TimedRow(row.getLong(tick), input);
    }
}
