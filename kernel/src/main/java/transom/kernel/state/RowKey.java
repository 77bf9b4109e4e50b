package transom.kernel.state;

/** A row as a map key, with the equality of {@link Values#sameRows}. */
public final class RowKey {
    private final Object[] row;
    private final int hash;

    /** Wraps a row so that it can be the key of a hash map; the array must not be modified afterwards. */
    public RowKey(Object[] row) {
        this.row = row;
        this.hash = Values.hashRow(row);
    }

    /** Returns the wrapped row, as the original array. */
    public Object[] row() {
        return row;
    }

    /**
     * Whether another key wraps an equal row: numbers are compared by value, whatever their types, and NULL equals
     * NULL.
     */
    @Override
    public boolean equals(Object other) {
        return other instanceof RowKey key && key.hash == hash && Values.sameRows(row, key.row);
    }

    /** A hash code of the wrapped row; keys that `equals` considers equal have the same one. */
    @Override
    public int hashCode() {
        return hash;
    }
}
