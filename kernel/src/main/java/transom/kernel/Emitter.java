package transom.kernel;

/** Receives the output rows of a machine. */
@FunctionalInterface
public interface Emitter {
    /**
     * Receives one output row of a state machine or, unless `present`, a marker that window number `seq` of the tick
     * exists; `position` is the row's number in the window or the signed count of a change.
     *
     * @param tick the tick of the row
     * @param seq the number of the window within its tick
     * @param present true for a row, false for a marker, which only says that the window exists
     * @param position the position of the row in its window, or the signed count of a change
     * @param row the values, null for a marker; the machine does not modify the array afterwards
     */
    void emit(long tick, int seq, boolean present, long position, Object[] row);
}
