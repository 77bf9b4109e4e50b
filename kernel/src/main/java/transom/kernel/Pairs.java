package transom.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Pairs stays of two sides of one key, where it is known from the start when a row goes.
 *
 * <p>The first value of a row is the tick at which it goes: it is there from its own tick up to that one, which is no
 * longer part of its stay. A pair comes out once, at the later tick of its rows if both are there then, with the
 * earlier of both ends as its first value. The pairs of a tick come in the order in which their left rows arrived,
 * those of one left row in the order in which their right rows arrived.
 */
public final class Pairs implements Machine {
    private static final char LETTER = 'J';

    private final Side left = new Side();
    private final Side right = new Side();

    /** The machine as it was when it was saved. */
    public static Pairs load(byte[] state) {
        Codec.Reader in = new Codec.Reader(state, LETTER, "pairs");
        Pairs machine = new Pairs();
        machine.left.read(in);
        machine.right.read(in);
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        left.drop(tick);
        right.drop(tick);
        List<Stay> lefts = stays(tick, arrivals, 0);
        List<Stay> rights = stays(tick, arrivals, 1);
        if (!rights.isEmpty()) {
            for (Stay one = left.first; one != null; one = one.next) {
                for (Stay other : rights) {
                    put(tick, one, other, out);
                }
            }
        }
        for (Stay one : lefts) {
            for (Stay other = right.first; other != null; other = other.next) {
                put(tick, one, other, out);
            }
            for (Stay other : rights) {
                put(tick, one, other, out);
            }
        }
        left.add(lefts);
        right.add(rights);
    }

    @Override
    public long wake() {
        return held() == 0 ? Long.MAX_VALUE : Math.max(left.latest, right.latest) - 1;
    }

    @Override
    public void forget(long closed) {
        long coming = closed == Long.MAX_VALUE ? closed : closed + 1;
        left.drop(coming);
        right.drop(coming);
    }

    @Override
    public byte[] save() {
        Codec.Writer out = new Codec.Writer(LETTER);
        left.write(out);
        right.write(out);
        return out.done();
    }

    @Override
    public boolean forgets() {
        return true;
    }

    @Override
    public long held() {
        return left.size + right.size;
    }

    private static List<Stay> stays(long tick, List<Arrival> arrivals, int side) {
        ArrayList<Stay> stays = new ArrayList<>();
        for (Arrival arrival : arrivals) {
            if (arrival.side() == side) {
                Stay stay = new Stay(arrival.row());
                if (stay.gone <= tick) {
                    throw new IllegalArgumentException(
                            "a row of tick " + tick + " goes at " + stay.gone + ": it is never there");
                }
                stays.add(stay);
            }
        }
        return stays;
    }

    private static void put(long tick, Stay left, Stay right, Out out) {
        Object[] pair = new Object[left.row.length + right.row.length - 1];
        System.arraycopy(left.row, 0, pair, 0, left.row.length);
        System.arraycopy(right.row, 1, pair, left.row.length, right.row.length - 1);
        if (right.gone < left.gone) {
            pair[0] = right.row[0];
        }
        out.put(tick, 1, true, 0, pair);
    }

    /** A row of one side, between those that arrived before and after it. */
    private static final class Stay {
        private final long gone;
        private final Object[] row;
        private Stay before;
        private Stay next;

        Stay(Object[] row) {
            this.gone = (Long) row[0];
            this.row = row;
        }
    }

    /**
     * The rows of a side in the order of their arrival.
     *
     * <p>When all stay equally long, that is the order of their ends. From the first row that goes earlier than the one
     * before it, a heap holds them by their ends as well, until the side is empty.
     */
    private static final class Side {
        private Stay first;
        private Stay last;
        private long size;
        /** No row goes later; Long.MIN_VALUE when there is none. */
        private long latest = Long.MIN_VALUE;
        private PriorityQueue<Stay> ends;

        void add(List<Stay> stays) {
            for (Stay stay : stays) {
                add(stay);
            }
        }

        private void add(Stay stay) {
            if (ends == null && last != null && stay.gone < last.gone) {
                ends = new PriorityQueue<>((one, other) -> Long.compare(one.gone, other.gone));
                for (Stay earlier = first; earlier != null; earlier = earlier.next) {
                    ends.add(earlier);
                }
            }
            if (ends != null) {
                ends.add(stay);
            }
            stay.before = last;
            if (last == null) {
                first = stay;
            } else {
                last.next = stay;
            }
            last = stay;
            latest = Math.max(latest, stay.gone);
            size++;
        }

        /** Drop the rows that are not there any more at a tick. */
        void drop(long tick) {
            if (ends == null) {
                while (first != null && first.gone <= tick) {
                    remove(first);
                }
                return;
            }
            while (!ends.isEmpty() && ends.peek().gone <= tick) {
                remove(ends.poll());
            }
            if (ends.isEmpty()) {
                ends = null;
            }
        }

        private void remove(Stay stay) {
            if (stay.before == null) {
                first = stay.next;
            } else {
                stay.before.next = stay.next;
            }
            if (stay.next == null) {
                last = stay.before;
            } else {
                stay.next.before = stay.before;
            }
            size--;
            if (size == 0) {
                latest = Long.MIN_VALUE;
            }
        }

        void write(Codec.Writer out) {
            out.number(size);
            for (Stay stay = first; stay != null; stay = stay.next) {
                out.row(stay.row);
            }
        }

        void read(Codec.Reader in) {
            for (long rest = in.number(); rest > 0; rest--) {
                add(new Stay(in.row()));
            }
        }
    }
}
