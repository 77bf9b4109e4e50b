package transom.kernel;

/** Where a machine puts what it makes. */
@FunctionalInterface
public interface Out {
    /**
     * A row that comes out.
     *
     * @param tick its tick
     * @param seq its window
     * @param present whether it says more than that the window exists
     * @param place its place
     * @param row its values, null when it is not present; the machine does not touch them any more
     */
    void put(long tick, int seq, boolean present, long place, Object[] row);
}
