package transom.kernel;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The machines of many keys in one state, with an agenda: a key that is silent is not even read until its time comes.
 *
 * <p>The bytes are a version, a letter and the number of keys; then of each key its hash, the tick of its next event,
 * and how long it and its machine are; then all of these. Those of a silent key are copied as they are.
 */
final class Bucket {
    private static final byte VERSION = 1;
    private static final char LETTER = 'B';
    private static final int HEAD = 2 + Integer.BYTES;
    private static final int ENTRY = Long.BYTES + 3 * Integer.BYTES;

    /** Where the rows of a key go out. */
    interface Outs extends Function<Object[], Out> {}

    private final Machines.TimedMaker maker;
    private final byte[] bytes;
    private int size;
    private int[] hashes = new int[0];
    private long[] wakes = new long[0];
    /** Where a key lies in the bytes, and how long it and its machine are. */
    private int[] offsets = new int[0];
    private int[] keyLengths = new int[0];
    private int[] lengths = new int[0];
    /** What has changed: the key and its machine in bytes; no bytes for a key that is gone. */
    private byte[][] changed = new byte[0][];
    /** The places of keys by their hashes, from 1 on. */
    private int[] table;
    private boolean touched;

    /** The bucket as it was when it was saved, or an empty one. */
    Bucket(Machines.TimedMaker maker, byte[] state) {
        this.maker = maker;
        this.bytes = state;
        int keys = 0;
        ByteBuffer from = null;
        if (state != null) {
            from = ByteBuffer.wrap(state);
            byte version = state.length < HEAD ? 0 : from.get();
            if (version != VERSION || from.get() != LETTER) {
                throw new IllegalStateException("the state of a bucket has version " + version + ", not " + VERSION
                        + ": start without the old state");
            }
            keys = from.getInt();
        }
        room(keys);
        int at = HEAD + keys * ENTRY;
        for (; size < keys; size++) {
            hashes[size] = from.getInt();
            wakes[size] = from.getLong();
            keyLengths[size] = from.getInt();
            lengths[size] = from.getInt();
            offsets[size] = at;
            at += keyLengths[size] + lengths[size];
        }
        index();
    }

    /** The rows of each key, the keys in the order in which they come, the rows of a key in order. */
    static Map<RowKey, ArrayList<Coming>> byKey(List<Coming> rows) {
        Map<RowKey, ArrayList<Coming>> found = new LinkedHashMap<>();
        for (Coming coming : rows) {
            found.computeIfAbsent(new RowKey(coming.row().key()), key -> new ArrayList<>()).add(coming);
        }
        for (ArrayList<Coming> all : found.values()) {
            all.sort(Coming.IN_ORDER);
        }
        return found;
    }

    /** Hand rows in order to a machine, tick by tick. */
    static void feed(Timed machine, List<Coming> rows, Out out) {
        ArrayList<Object[]> together = new ArrayList<>();
        for (int at = 0; at < rows.size(); ) {
            long tick = rows.get(at).tick();
            together.clear();
            for (; at < rows.size() && rows.get(at).tick() == tick; at++) {
                if (rows.get(at).row().present()) {
                    together.add(rows.get(at).row().row());
                }
            }
            machine.take(tick, together, out);
        }
    }

    /** Rows of ticks that are closed; then all that is told up to a closed tick. */
    void run(List<Coming> rows, long closed, Outs outs) {
        boolean[] due = new boolean[size];
        for (int place = 0; place < due.length; place++) {
            due[place] = wakes[place] <= closed;
        }
        for (Map.Entry<RowKey, ArrayList<Coming>> entry : byKey(rows).entrySet()) {
            int place = find(entry.getKey());
            if (place < due.length) {
                due[place] = false;
            }
            act(place, entry.getKey().row(), entry.getValue(), closed, outs);
        }
        for (int place = 0; place < due.length; place++) {
            if (due[place]) {
                act(place, key(place), List.of(), closed, outs);
            }
        }
    }

    private void act(int place, Object[] key, List<Coming> rows, long closed, Outs outs) {
        Timed machine = load(place);
        Out out = outs.apply(key);
        feed(machine, rows, out);
        machine.advance(closed, out);
        touched = true;
        wakes[place] = machine.blank() ? Long.MAX_VALUE : machine.wake();
        if (machine.blank()) {
            changed[place] = new byte[0];
            return;
        }
        byte[] state = machine.save();
        Codec.Writer writer = new Codec.Writer();
        writer.row(key);
        byte[] name = writer.done();
        byte[] both = Arrays.copyOf(name, name.length + state.length);
        System.arraycopy(state, 0, both, name.length, state.length);
        changed[place] = both;
        keyLengths[place] = name.length;
        lengths[place] = state.length;
    }

    private Timed load(int place) {
        byte[] from = changed[place] == null ? bytes : changed[place];
        int at = keyLengths[place] + (changed[place] == null ? offsets[place] : 0);
        boolean fresh = from == null || lengths[place] == 0 || from.length == 0;
        return fresh ? maker.fresh() : maker.load(Arrays.copyOfRange(from, at, at + lengths[place]));
    }

    /** The next tick at which a key has something to do; Long.MAX_VALUE if there is none. */
    long wake() {
        long next = Long.MAX_VALUE;
        for (int place = 0; place < size; place++) {
            next = Math.min(next, wakes[place]);
        }
        return next;
    }

    /** Keys that are remembered. */
    int keys() {
        int keys = 0;
        for (int place = 0; place < size; place++) {
            keys += there(place) ? 1 : 0;
        }
        return keys;
    }

    /** Rows that are remembered. */
    long held() {
        long held = 0;
        for (int place = 0; place < size; place++) {
            held += there(place) ? load(place).held() : 0;
        }
        return held;
    }

    /** The state as bytes, those that it was made of if nothing happened; null when nothing is remembered. */
    byte[] save() {
        if (!touched) {
            return bytes;
        }
        int keys = keys();
        int length = HEAD + keys * ENTRY;
        for (int place = 0; place < size; place++) {
            length += there(place) ? keyLengths[place] + lengths[place] : 0;
        }
        if (keys == 0) {
            return null;
        }
        ByteBuffer to = ByteBuffer.allocate(length).put(VERSION).put((byte) LETTER).putInt(keys);
        for (int place = 0; place < size; place++) {
            if (there(place)) {
                to.putInt(hashes[place]).putLong(wakes[place]).putInt(keyLengths[place]).putInt(lengths[place]);
            }
        }
        for (int place = 0; place < size; place++) {
            if (changed[place] != null) {
                to.put(changed[place]);
            } else {
                to.put(bytes, offsets[place], keyLengths[place] + lengths[place]);
            }
        }
        return to.array();
    }

    private boolean there(int place) {
        return changed[place] == null || changed[place].length > 0;
    }

    private Object[] key(int place) {
        return changed[place] == null
                ? new Codec.Reader(bytes, offsets[place]).row()
                : new Codec.Reader(changed[place], 0).row();
    }

    /** The place of a key, a new one at the end if it has none. */
    private int find(RowKey key) {
        int hash = key.hashCode();
        int mask = table.length - 1;
        int at = spread(hash) & mask;
        for (; table[at] != 0; at = at + 1 & mask) {
            int place = table[at] - 1;
            if (hashes[place] == hash && there(place) && Values.sameRows(key(place), key.row())) {
                return place;
            }
        }
        if (size == hashes.length) {
            room(Math.max(8, 2 * size));
        }
        hashes[size] = hash;
        wakes[size] = Long.MAX_VALUE;
        changed[size] = new byte[0];
        size++;
        if (2 * size > table.length) {
            index();
        } else {
            table[at] = size;
        }
        return size - 1;
    }

    private void room(int capacity) {
        hashes = Arrays.copyOf(hashes, capacity);
        wakes = Arrays.copyOf(wakes, capacity);
        offsets = Arrays.copyOf(offsets, capacity);
        keyLengths = Arrays.copyOf(keyLengths, capacity);
        lengths = Arrays.copyOf(lengths, capacity);
        changed = Arrays.copyOf(changed, capacity);
    }

    private void index() {
        table = new int[Math.max(16, 4 * Integer.highestOneBit(Math.max(1, size)))];
        int mask = table.length - 1;
        for (int place = 0; place < size; place++) {
            int at = spread(hashes[place]) & mask;
            while (table[at] != 0) {
                at = at + 1 & mask;
            }
            table[at] = place + 1;
        }
    }

    private static int spread(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed ^ mixed >>> 16;
    }
}
