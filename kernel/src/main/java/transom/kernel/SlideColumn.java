package transom.kernel;

/**
 * What the panes of a group keep for one argument, a slot per pane, and what those in the window come to.
 *
 * <p>Panes leave the window in the order in which they entered it.
 */
abstract class SlideColumn {
    /** What is computed from the values of a window. */
    enum Function {
        COUNT,
        SUM,
        AVG,
        MIN,
        MAX,
        FIRST,
        LAST,
        PATH;

        /** Whether it depends on the order of rows. */
        boolean inOrder() {
            return this == FIRST || this == LAST || this == PATH;
        }
    }

    /** The place of the argument in a row; below 0 every row counts. */
    final int argument;

    SlideColumn(int argument) {
        this.argument = argument;
    }

    /** The column that a function needs; COUNT needs no more than a count. */
    static SlideColumn of(Function function, String type, int argument) {
        switch (function) {
            case COUNT:
                return new SlideTotals.Count(argument);
            case SUM:
            case AVG:
                return SlideTotals.of(type, argument);
            case FIRST:
            case LAST:
                return new SlideEnds.End(argument, function == Function.FIRST);
            case PATH:
                return new SlideEnds.Path();
            default:
                return SlideExtremes.of(type, argument, function == Function.MIN);
        }
    }

    /** Whether NULL is a value like any other. */
    boolean takesNull() {
        return false;
    }

    /** Make room for so many slots. */
    abstract void grow(int capacity);

    /** Make a slot as it was before any value. */
    abstract void clear(int slot);

    /** A value, not NULL unless it takes that, of the pane in a slot. */
    abstract void add(int slot, Object value);

    /** Add what is in one slot to another. */
    abstract void merge(int into, int from);

    /** A pane enters the window. */
    abstract void enter(int slot);

    /** The pane that has been in the window longest leaves it. */
    abstract void leave(int slot);

    /** A function of the values in the window, which is not empty. */
    abstract Object value(Function function);

    /** Write a pane. */
    abstract void write(int slot, Codec.Writer out);

    /** Read a pane into a clear slot. */
    abstract void read(int slot, Codec.Reader in);
}
