package transom.kernel;

/**
 * An input row of a machine.
 *
 * @param side 0, or 1 for the right side of a join
 * @param seq the number of the window within its tick
 * @param present true for a row, false for a marker, which only says that the window exists
 * @param sign the signed count of a change: 1 for an insertion, -1 for a retraction
 * @param order the sort key within a window: a value, or a nested Object[] of values
 * @param key the join key
 * @param row the values: Long, Double, Boolean, String, BigDecimal or null; an instant is microseconds as a Long
 */
public record InputRow(int side, int seq, boolean present, int sign, Object order, Object[] key, Object[] row) {}
