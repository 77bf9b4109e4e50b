package transom.kernel;

/** A row as a key of a map: the same rows are the same key. */
public final class RowKey {
    private final Object[] row;
    private final int hash;

    /** The key of a row, which must not change any more. */
    public RowKey(Object[] row) {
        this.row = row;
        this.hash = Values.hashRow(row);
    }

    /** The row itself. */
    public Object[] row() {
        return row;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RowKey key && key.hash == hash && Values.sameRows(row, key.row);
    }

    @Override
    public int hashCode() {
        return hash;
    }
}
