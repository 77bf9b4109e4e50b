package transom.kernel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Pairs the current windows of two sides, of which a tick may hold several; keeps the current windows of both.
 *
 * <p>A side of windows says that a window exists, or what it holds. A side of stays says that there is a window, or
 * that a row comes or goes. All windows of the last tick of a side are current; nothing comes before both sides have
 * begun. Two relations of stays are told at every tick at which one of them has a window, and one that has not begun
 * is empty: their pairs, the left rows with and without partners, or both as they are.
 */
public final class Product implements Machine {
    private static final char LETTER = 'P';

    /**
     * What a machine is told.
     *
     * @param leftStays whether the left side is one of stays
     * @param rightStays whether the right side is
     * @param how windows, pairs, partners or both
     * @param width how many values a row of the right has
     */
    public record Plan(boolean leftStays, boolean rightStays, String how, int width) {
        /** What is told must make sense. */
        public Plan {
            if (!List.of("windows", "pairs", "partners", "both").contains(how)) {
                throw new IllegalArgumentException("how is windows, pairs, partners or both, not '" + how + "'");
            }
            if (!how.equals("windows") && !(leftStays && rightStays)) {
                throw new IllegalArgumentException("relations come as stays");
            }
        }
    }

    private final Plan plan;
    private final Side left;
    private final Side right;

    /** A machine that has seen nothing. */
    public Product(Plan plan) {
        this.plan = plan;
        left = side(plan.leftStays());
        right = side(plan.rightStays());
    }

    /** The machine as it was when it was saved. */
    public static Product load(Plan plan, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "product");
        Product machine = new Product(plan);
        for (Side side : List.of(machine.left, machine.right)) {
            if (reader.flag() != side instanceof Stays) {
                throw new IllegalStateException(
                        "the state of another product was given to product: start without the old state");
            }
            side.read(reader);
        }
        return machine;
    }

    private static Side side(boolean stays) {
        return stays ? new Stays() : new Windows();
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        boolean fresh = left.renew(arrivals, 0) | right.renew(arrivals, 1);
        if (!plan.how().equals("windows")) {
            if (fresh) {
                relations(tick, left.windows().get(0), right.windows().get(0), out);
            }
            return;
        }
        if (!fresh || !left.begun() || !right.begun()) {
            return;
        }
        List<List<Held>> ours = left.windows();
        List<Map<RowKey, List<Object[]>>> theirs = new ArrayList<>();
        for (List<Held> window : right.windows()) {
            theirs.add(byKey(window));
        }
        int seq = 0;
        long place = 0;
        for (List<Held> mine : ours) {
            for (Map<RowKey, List<Object[]>> yours : theirs) {
                out.put(tick, ++seq, false, ++place, null);
                if (yours.isEmpty()) {
                    continue;
                }
                for (Held held : mine) {
                    for (Object[] match : yours.getOrDefault(new RowKey(held.key), List.of())) {
                        out.put(tick, seq, true, ++place, Values.joined(held.row, match));
                    }
                }
            }
        }
    }

    /** What two relations hold now. */
    private void relations(long tick, List<Held> ours, List<Held> theirs, Out out) {
        long place = 0;
        out.put(tick, 1, false, ++place, null);
        if (plan.how().equals("both")) {
            for (Held held : ours) {
                out.put(tick, 0, true, ++place, held.row.clone());
            }
            for (Held held : theirs) {
                out.put(tick, 1, true, ++place, held.row.clone());
            }
            return;
        }
        Map<RowKey, List<Object[]>> matches = byKey(theirs);
        boolean partners = plan.how().equals("partners");
        Object[] nothing = new Object[plan.width()];
        long number = 0;
        for (Held held : ours) {
            number++;
            if (partners) {
                out.put(tick, 0, true, number, Values.joined(held.row, nothing));
            }
            for (Object[] match : matches.getOrDefault(new RowKey(held.key), List.of())) {
                out.put(tick, 1, true, partners ? number : ++place, Values.joined(held.row, match));
            }
        }
    }

    private static Map<RowKey, List<Object[]>> byKey(List<Held> rows) {
        Map<RowKey, List<Object[]>> found = new HashMap<>();
        for (Held held : rows) {
            found.computeIfAbsent(new RowKey(held.key), unseen -> new ArrayList<>()).add(held.row);
        }
        return found;
    }

    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        for (Side side : List.of(left, right)) {
            writer.flag(side instanceof Stays);
            side.write(writer);
        }
        return writer.done();
    }

    @Override
    public long held() {
        return left.held() + right.held();
    }

    /** A row of a window; of those that are the same, each knows the one that came after it. */
    private static final class Held {
        private final Object order;
        private final Object[] key;
        private final Object[] row;
        private Held later;
        private Held last;
        private boolean gone;

        Held(Object order, Object[] key, Object[] row) {
            this.order = order;
            this.key = key;
            this.row = row;
        }

        static Held of(Arrival arrival) {
            return new Held(arrival.order(), arrival.key(), arrival.row());
        }

        static List<Held> read(Codec.Reader reader) {
            int size = reader.count();
            List<Held> rows = new ArrayList<>(size);
            for (int place = 0; place < size; place++) {
                rows.add(new Held(reader.value(), reader.row(), reader.row()));
            }
            return rows;
        }

        static void write(List<Held> rows, Codec.Writer writer) {
            writer.count(rows.size());
            for (Held held : rows) {
                writer.value(held.order);
                writer.row(held.key);
                writer.row(held.row);
            }
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Held held
                    && Values.same(order, held.order)
                    && Values.sameRows(key, held.key)
                    && Values.sameRows(row, held.row);
        }

        @Override
        public int hashCode() {
            return 31 * (31 * Values.hash(order) + Values.hashRow(key)) + Values.hashRow(row);
        }
    }

    /** What a side keeps. */
    private interface Side {
        /** Take in what the side says about a tick; whether it has new windows. */
        boolean renew(List<Arrival> arrivals, int place);

        /** Whether there was a window. */
        boolean begun();

        /** The current windows, in order. */
        List<List<Held>> windows();

        long held();

        void write(Codec.Writer writer);

        void read(Codec.Reader reader);
    }

    /** A side of windows. */
    private static final class Windows implements Side {
        private TreeMap<Integer, List<Held>> current;

        @Override
        public boolean renew(List<Arrival> arrivals, int place) {
            TreeMap<Integer, List<Held>> found = null;
            for (Arrival arrival : arrivals) {
                if (arrival.side() != place) {
                    continue;
                }
                found = found == null ? new TreeMap<>() : found;
                List<Held> rows = found.computeIfAbsent(arrival.seq(), unseen -> new ArrayList<>());
                if (arrival.present()) {
                    rows.add(Held.of(arrival));
                }
            }
            current = found == null ? current : found;
            return found != null;
        }

        @Override
        public boolean begun() {
            return current != null;
        }

        @Override
        public List<List<Held>> windows() {
            return new ArrayList<>(current.values());
        }

        @Override
        public long held() {
            long held = 0;
            if (current != null) {
                for (List<Held> rows : current.values()) {
                    held += rows.size();
                }
            }
            return held;
        }

        @Override
        public void write(Codec.Writer writer) {
            writer.flag(current != null);
            if (current == null) {
                return;
            }
            writer.count(current.size());
            for (Map.Entry<Integer, List<Held>> window : current.entrySet()) {
                writer.number(window.getKey());
                Held.write(window.getValue(), writer);
            }
        }

        @Override
        public void read(Codec.Reader reader) {
            if (!reader.flag()) {
                return;
            }
            current = new TreeMap<>();
            for (int rest = reader.count(); rest > 0; rest--) {
                int seq = (int) reader.number();
                current.put(seq, Held.read(reader));
            }
        }
    }

    /** A side of stays: rows that go are found by hash and leave the list when it is read next. */
    private static final class Stays implements Side {
        private List<Held> rows = new ArrayList<>();
        private HashMap<Held, Held> firsts;
        private int gone;
        private boolean begun;

        @Override
        public boolean renew(List<Arrival> arrivals, int place) {
            boolean fresh = false;
            for (Arrival arrival : arrivals) {
                if (arrival.side() != place) {
                    continue;
                }
                if (!arrival.present()) {
                    fresh = true;
                } else if (arrival.sign() > 0) {
                    Held held = Held.of(arrival);
                    rows.add(held);
                    if (firsts != null) {
                        chain(held);
                    }
                } else {
                    remove(Held.of(arrival));
                }
            }
            if (fresh) {
                settle();
                rows.sort((one, other) -> Values.compare(one.order, other.order));
                begun = true;
            }
            return fresh;
        }

        /** Of rows that are the same the first goes first. */
        private void remove(Held wanted) {
            if (firsts == null) {
                firsts = new HashMap<>(2 * rows.size());
                for (Held held : rows) {
                    chain(held);
                }
            }
            Held first = firsts.remove(wanted);
            if (first == null) {
                throw new IllegalStateException("a row goes that never came");
            }
            first.gone = true;
            gone++;
            if (first.later != null) {
                first.later.last = first.last;
                firsts.put(first.later, first.later);
            }
        }

        private void chain(Held held) {
            Held first = firsts.putIfAbsent(held, held);
            if (first == null) {
                held.last = held;
            } else {
                first.last.later = held;
                first.last = held;
            }
        }

        private void settle() {
            if (gone > 0) {
                rows.removeIf(held -> held.gone);
                gone = 0;
            }
        }

        @Override
        public boolean begun() {
            return begun;
        }

        @Override
        public List<List<Held>> windows() {
            settle();
            return List.of(rows);
        }

        @Override
        public long held() {
            return rows.size() - gone;
        }

        @Override
        public void write(Codec.Writer writer) {
            settle();
            writer.flag(begun);
            Held.write(rows, writer);
        }

        @Override
        public void read(Codec.Reader reader) {
            begun = reader.flag();
            rows = Held.read(reader);
        }
    }
}
