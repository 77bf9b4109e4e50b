package transom.kernel.machines;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import transom.kernel.InputRow;
import transom.kernel.state.Codec;
import transom.kernel.state.Values;

/** The current windows of one side of a {@link ProductMachine}. */
interface ProductSide {
    /**
     * Updates the current windows of this side of the join with a tick's rows, and returns whether a window arrived;
     * the rows are those of `inputs` whose side is `sideNumber` (0 left, 1 right).
     */
    boolean update(List<InputRow> inputs, int sideNumber);

    /** Whether any window of this side of the join has arrived yet. */
    boolean hasWindow();

    /** The current windows of this side of the join, ordered by their numbers, each as a list of its rows. */
    List<List<OrderedRow>> windows();

    /** The number of rows in the current windows of this side of the join. */
    long held();

    /** Encodes the current windows of this side of the join for saved state. */
    void write(Codec.Writer writer);

    /** Restores the current windows of this side of the join from saved state. */
    void read(Codec.Reader reader);

    /** A row of a window. Equal rows form a linked list in the order of arrival. */
    final class OrderedRow {
        private final Object order;
        final Object[] key;
        final Object[] row;
        private OrderedRow nextSame;
        private OrderedRow lastSame;
        private boolean removed;

        /** Creates a window row with its sort key and its join key. */
        OrderedRow(Object order, Object[] key, Object[] row) {
            this.order = order;
            this.key = key;
            this.row = row;
        }

        /** Converts an input row of the join to a row of a current window, with its sort key, join key and values. */
        static OrderedRow of(InputRow input) {
            return new OrderedRow(input.order(), input.key(), input.row());
        }

        /** Restores the rows of one current window, with their sort keys and join keys, from saved state. */
        static List<OrderedRow> read(Codec.Reader reader) {
            int size = reader.count();
            List<OrderedRow> rows = new ArrayList<>(size);
            for (int i = 0; i < size; i++) {
                rows.add(new OrderedRow(reader.value(), reader.row(), reader.row()));
            }
            return rows;
        }

        /** Appends to `writer`, for saved state, the rows of one current window with their sort keys and join keys. */
        static void write(List<OrderedRow> rows, Codec.Writer writer) {
            writer.count(rows.size());
            for (OrderedRow row : rows) {
                writer.value(row.order);
                writer.row(row.key);
                writer.row(row.row);
            }
        }

        /**
         * Whether another row has the same sort key, join key and values, so that its retraction can remove this row.
         * Numbers are compared by value, and NULL equals NULL.
         */
        @Override
        public boolean equals(Object other) {
            return other instanceof OrderedRow otherRow
                    && Values.same(order, otherRow.order)
                    && Values.sameRows(key, otherRow.key)
                    && Values.sameRows(row, otherRow.row);
        }

        /**
         * A hash code of the row's sort key, join key and values; rows that `equals` considers equal have the same one.
         */
        @Override
        public int hashCode() {
            return 31 * (31 * Values.hash(order) + Values.hashRow(key)) + Values.hashRow(row);
        }
    }

    /** A side that arrives as whole windows. */
    final class WindowSide implements ProductSide {
        private TreeMap<Integer, List<OrderedRow>> current;

        /**
         * Replaces the current windows of this side by the new windows of a tick, if there are any, and returns whether
         * there are; they are those of `inputs` whose side is `sideNumber` (0 left, 1 right).
         */
        @Override
        public boolean update(List<InputRow> inputs, int sideNumber) {
            TreeMap<Integer, List<OrderedRow>> newWindows = null;
            for (InputRow input : inputs) {
                if (input.side() != sideNumber) {
                    continue;
                }
                newWindows = newWindows == null ? new TreeMap<>() : newWindows;
                List<OrderedRow> rows = newWindows.computeIfAbsent(input.seq(), unseen -> new ArrayList<>());
                if (input.present()) {
                    rows.add(OrderedRow.of(input));
                }
            }
            current = newWindows == null ? current : newWindows;
            return newWindows != null;
        }

        /** Whether any whole window of this side of the join has arrived yet. */
        @Override
        public boolean hasWindow() {
            return current != null;
        }

        /**
         * Returns the current windows of this side: all windows of the last tick that had any, ordered by their
         * numbers.
         */
        @Override
        public List<List<OrderedRow>> windows() {
            return new ArrayList<>(current.values());
        }

        /** The number of rows in the current windows of this side of the join. */
        @Override
        public long held() {
            long held = 0;
            if (current != null) {
                for (List<OrderedRow> rows : current.values()) {
                    held += rows.size();
                }
            }
            return held;
        }

        /** Encodes the current windows of this side of the join, with their numbers, for saved state. */
        @Override
        public void write(Codec.Writer writer) {
            writer.flag(current != null);
            if (current == null) {
                return;
            }
            writer.count(current.size());
            for (Map.Entry<Integer, List<OrderedRow>> window : current.entrySet()) {
                writer.number(window.getKey());
                OrderedRow.write(window.getValue(), writer);
            }
        }

        /** Restores the current windows of this side of the join, with their numbers, from saved state. */
        @Override
        public void read(Codec.Reader reader) {
            if (!reader.flag()) {
                return;
            }
            current = new TreeMap<>();
            for (int remaining = reader.count(); remaining > 0; remaining--) {
                int seq = (int) reader.number();
                current.put(seq, OrderedRow.read(reader));
            }
        }
    }

    /** A side that arrives as changes. Retracted rows are found by hash and leave the list when it is next read. */
    final class ChangeSide implements ProductSide {
        private List<OrderedRow> rows = new ArrayList<>();
        private HashMap<OrderedRow, OrderedRow> firsts;
        private int removed;
        private boolean hasWindow;

        /**
         * Applies a tick's insertions and retractions to the current window of this side, and returns whether a window
         * marker arrived; they are those of `inputs` whose side is `sideNumber` (0 left, 1 right).
         */
        @Override
        public boolean update(List<InputRow> inputs, int sideNumber) {
            boolean hasNewWindow = false;
            for (InputRow input : inputs) {
                if (input.side() != sideNumber) {
                    continue;
                }
                if (!input.present()) {
                    hasNewWindow = true;
                    continue;
                }
                for (int copies = input.sign(); copies > 0; copies--) {
                    OrderedRow row = OrderedRow.of(input);
                    rows.add(row);
                    if (firsts != null) {
                        link(row);
                    }
                }
                for (int copies = input.sign(); copies < 0; copies++) {
                    remove(OrderedRow.of(input));
                }
            }
            if (hasNewWindow) {
                applyRemovals();
                rows.sort((left, right) -> Values.compare(left.order, right.order));
                hasWindow = true;
            }
            return hasNewWindow;
        }

        /**
         * Marks the earliest row of the current window that equals a retracted row as removed. Throws
         * IllegalStateException if there is none.
         */
        private void remove(OrderedRow retracted) {
            if (firsts == null) {
                firsts = new HashMap<>(2 * rows.size());
                for (OrderedRow row : rows) {
                    link(row);
                }
            }
            OrderedRow first = firsts.remove(retracted);
            if (first == null) {
                throw new IllegalStateException("a row is deleted that was never inserted");
            }
            first.removed = true;
            removed++;
            if (first.nextSame != null) {
                first.nextSame.lastSame = first.lastSame;
                firsts.put(first.nextSame, first.nextSame);
            }
        }

        /**
         * Appends a row to the linked list of equal rows in the current window, so that a retraction finds the earliest
         * of them.
         */
        private void link(OrderedRow row) {
            OrderedRow first = firsts.putIfAbsent(row, row);
            if (first == null) {
                row.lastSame = row;
            } else {
                first.lastSame.nextSame = row;
                first.lastSame = row;
            }
        }

        /** Deletes the rows that `remove` has marked from the current window. */
        private void applyRemovals() {
            if (removed > 0) {
                rows.removeIf(row -> row.removed);
                removed = 0;
            }
        }

        /** Whether any window marker of this side of the join has arrived yet. */
        @Override
        public boolean hasWindow() {
            return hasWindow;
        }

        /** Returns the current window of this side, to which all changes so far are applied, in a list of its own. */
        @Override
        public List<List<OrderedRow>> windows() {
            applyRemovals();
            return List.of(rows);
        }

        /** The number of rows in the current window of this side of the join. */
        @Override
        public long held() {
            return rows.size() - removed;
        }

        /**
         * Encodes the rows of the current window of this side, and whether a window marker has arrived, for saved
         * state.
         */
        @Override
        public void write(Codec.Writer writer) {
            applyRemovals();
            writer.flag(hasWindow);
            OrderedRow.write(rows, writer);
        }

        /**
         * Restores the rows of the current window of this side, and whether a window marker has arrived, from saved
         * state.
         */
        @Override
        public void read(Codec.Reader reader) {
            hasWindow = reader.flag();
            rows = OrderedRow.read(reader);
        }
    }
}
