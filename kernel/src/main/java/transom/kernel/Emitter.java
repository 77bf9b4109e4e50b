package transom.kernel;

/** Receives the output rows of a machine. */
@FunctionalInterface
public interface Emitter {
    /**
     * Receives one output row of a machine (`present`), or a marker (not `present`, `row` null) that window `seq` of a
     * tick exists; `position` is the row's number in the window, the signed count of a change, or another number that
     * the machine defines.
     *
     * @param tick the tick of the row
     * @param seq the number of the window within its tick
     * @param present true for a row, false for a marker, which only says that the window exists
     * @param position the position of the row in its window, or the signed count of a change
     * @param row the values, null for a marker; the machine does not modify the array afterwards
     */
    void emit(long tick, int seq, boolean present, long position, Object[] row);
}
