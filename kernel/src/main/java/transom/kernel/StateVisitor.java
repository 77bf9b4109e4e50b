package transom.kernel;

/** Receives what a machine keeps in state, entry by entry, so that people can look at it. */
public interface StateVisitor {
    /** The tick of an entry that has none. */
    long NO_TICK = Long.MIN_VALUE;

    /**
     * Receives one entry of the state: what it is (`part`, such as `row`), the number of its side or argument
     * (`index`), its tick or NO_TICK, its copies, and its values.
     *
     * @param part what the entry is, such as `row`, `pane` or `side`
     * @param index the number of the side or of the argument that the entry belongs to, from 0
     * @param tick the tick of the entry, or NO_TICK
     * @param copies how often the state has the entry
     * @param values the values of the entry; null for none
     */
    void entry(String part, int index, long tick, long copies, Object[] values);
}
