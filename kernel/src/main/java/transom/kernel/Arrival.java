package transom.kernel;

/**
 * A row on its way into a machine.
 *
 * @param side 0, or 1 for the right side of two
 * @param seq the window of its tick
 * @param present false for a row that only says that its window exists
 * @param sign 1, or -1 for a row that goes
 * @param order what puts rows of one window in order: a value, or an Object[] of values and Object[]
 * @param key what pairs must agree on
 * @param row the values: Long, Double, Boolean, String, BigDecimal or null; an instant is microseconds as a Long
 */
public record Arrival(int side, int seq, boolean present, int sign, Object order, Object[] key, Object[] row) {}
