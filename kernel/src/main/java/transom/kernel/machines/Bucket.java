package transom.kernel.machines;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import transom.kernel.Emitter;
import transom.kernel.TimedMachine;
import transom.kernel.state.Codec;
import transom.kernel.state.RowKey;
import transom.kernel.state.TimedRow;
import transom.kernel.state.Values;

/**
 * The machines of many keys in one state. An idle key is not decoded until its next wakeup.
 *
 * <p>The encoding is a version, a letter and the number of keys; then for each key its hash, the tick of its next
 * wakeup, and the lengths of the encoded key and machine; then the keys and machines. The bytes of idle keys are copied
 * as is.
 */
public final class Bucket {
    private static final byte VERSION = 1;
    private static final char LETTER = 'B';
    private static final int HEAD = 2 + Integer.BYTES;
    private static final int ENTRY = Long.BYTES + 3 * Integer.BYTES;

    /** Returns the emitter for the rows of a key. */
    public interface Emitters extends Function<Object[], Emitter> {}

    private final MachineFactories.TimedMachineFactory factory;
    private final byte[] savedBytes;
    private int size;
    private int[] hashes = new int[0];
    private long[] wakeups = new long[0];
    /** The offset of a key in the bytes, and the lengths of the key and its machine. */
    private int[] offsets = new int[0];
    private int[] keyLengths = new int[0];
    private int[] machineLengths = new int[0];
    /** The new bytes of a modified key and its machine; empty for a removed key, null for an unmodified one. */
    private byte[][] changedEntries = new byte[0][];
    /** An open-addressing hash table of key indexes plus 1; 0 is a free entry. */
    private int[] table;
    private boolean modified;

    /**
     * Creates a bucket of keys, empty if `state` is null, else with the states of keys that `save` encoded. A key's
     * state is decoded when it is needed; `factory` creates the state machine of a new key and decodes a saved one.
     */
    public Bucket(MachineFactories.TimedMachineFactory factory, byte[] state) {
        this.factory = factory;
        this.savedBytes = state;
        int keyCount = 0;
        ByteBuffer buffer = null;
        if (state != null) {
            buffer = ByteBuffer.wrap(state);
            byte version = state.length < HEAD ? 0 : buffer.get();
            if (version != VERSION || buffer.get() != LETTER) {
                throw new IllegalStateException("the state of a bucket has version " + version + ", not " + VERSION
                        + ": start without the old state");
            }
            keyCount = buffer.getInt();
        }
        ensureCapacity(keyCount);
        int offset = HEAD + keyCount * ENTRY;
        for (; size < keyCount; size++) {
            hashes[size] = buffer.getInt();
            wakeups[size] = buffer.getLong();
            keyLengths[size] = buffer.getInt();
            machineLengths[size] = buffer.getInt();
            offsets[size] = offset;
            offset += keyLengths[size] + machineLengths[size];
        }
        rebuildTable();
    }

    /**
     * Groups rows by key, keys in the order of first appearance, and sorts the rows of each key by tick, side, window,
     * sign and sort key. Their state machine expects this order.
     */
    public static Map<RowKey, ArrayList<TimedRow>> byKey(List<TimedRow> rows) {
        Map<RowKey, ArrayList<TimedRow>> groups = new LinkedHashMap<>();
        for (TimedRow timed : rows) {
            groups.computeIfAbsent(new RowKey(timed.row().key()), key -> new ArrayList<>()).add(timed);
        }
        for (ArrayList<TimedRow> keyRows : groups.values()) {
            keyRows.sort(TimedRow.TICK_ORDER);
        }
        return groups;
    }

    /**
     * Feeds the sorted rows of one key to its state machine, tick by tick and without window markers; output goes to
     * `out`.
     */
    public static void feed(TimedMachine machine, List<TimedRow> rows, Emitter out) {
        ArrayList<Object[]> tickRows = new ArrayList<>();
        for (int i = 0; i < rows.size(); ) {
            long tick = rows.get(i).tick();
            tickRows.clear();
            for (; i < rows.size() && rows.get(i).tick() == tick; i++) {
                if (rows.get(i).row().present()) {
                    tickRows.add(rows.get(i).row().row());
                }
            }
            machine.take(tick, tickRows, out);
        }
    }

    /**
     * Feeds rows of closed ticks to the state machines of their keys, then runs other keys that are due at or before
     * `closedTick`. `emitters` gives the receiver of each key's output.
     */
    public void run(List<TimedRow> rows, long closedTick, Emitters emitters) {
        boolean[] due = new boolean[size];
        for (int i = 0; i < due.length; i++) {
            due[i] = wakeups[i] <= closedTick;
        }
        for (Map.Entry<RowKey, ArrayList<TimedRow>> entry : byKey(rows).entrySet()) {
            int index = findOrAdd(entry.getKey());
            if (index < due.length) {
                due[index] = false;
            }
            runKey(index, entry.getKey().row(), entry.getValue(), closedTick, emitters);
        }
        for (int i = 0; i < due.length; i++) {
            if (due[i]) {
                runKey(i, key(i), List.of(), closedTick, emitters);
            }
        }
    }

    /**
     * Runs the state machine of one key on its rows and up to `closedTick`, and stores its new state. The key is at
     * array index `index`; `emitters` gives the receiver of the output.
     */
    private void runKey(int index, Object[] key, List<TimedRow> rows, long closedTick, Emitters emitters) {
        TimedMachine machine = load(index);
        Emitter out = emitters.apply(key);
        feed(machine, rows, out);
        machine.advance(closedTick, out);
        modified = true;
        wakeups[index] = machine.isEmpty() ? Long.MAX_VALUE : machine.nextWakeup();
        if (machine.isEmpty()) {
            changedEntries[index] = new byte[0];
            return;
        }
        byte[] state = machine.save();
        Codec.Writer writer = new Codec.Writer();
        writer.row(key);
        byte[] keyBytes = writer.toBytes();
        byte[] entryBytes = Arrays.copyOf(keyBytes, keyBytes.length + state.length);
        System.arraycopy(state, 0, entryBytes, keyBytes.length, state.length);
        changedEntries[index] = entryBytes;
        keyLengths[index] = keyBytes.length;
        machineLengths[index] = state.length;
    }

    /** Decodes the state machine of the key at array index `index`, or creates a new one if the key has no state. */
    private TimedMachine load(int index) {
        byte[] source = changedEntries[index] == null ? savedBytes : changedEntries[index];
        int start = keyLengths[index] + (changedEntries[index] == null ? offsets[index] : 0);
        boolean isNew = source == null || machineLengths[index] == 0 || source.length == 0;
        if (isNew) {
            return factory.create();
        }
        return factory.load(Arrays.copyOfRange(source, start, start + machineLengths[index]));
    }

    /** The earliest tick at which any key of the bucket has work to do without new rows; Long.MAX_VALUE if none. */
    public long nextWakeup() {
        long next = Long.MAX_VALUE;
        for (int i = 0; i < size; i++) {
            next = Math.min(next, wakeups[i]);
        }
        return next;
    }

    /** The number of keys that have state in this bucket. */
    public int keys() {
        int keys = 0;
        for (int i = 0; i < size; i++) {
            keys += exists(i) ? 1 : 0;
        }
        return keys;
    }

    /** The number of rows in the state of all keys of the bucket, for comparison with the state bound of the plan. */
    public long held() {
        long held = 0;
        for (int i = 0; i < size; i++) {
            held += exists(i) ? load(i).held() : 0;
        }
        return held;
    }

    /** Passes the key and the state machine of every key that has state, for people who look at them. */
    public void forEach(BiConsumer<Object[], TimedMachine> receiver) {
        for (int i = 0; i < size; i++) {
            if (exists(i)) {
                receiver.accept(key(i), load(i));
            }
        }
    }

    /**
     * Encodes the bucket for Spark's state store; null if no key has state. If nothing has changed, these are the bytes
     * from which it was created.
     */
    public byte[] save() {
        if (!modified) {
            return savedBytes;
        }
        int keyCount = keys();
        int totalLength = HEAD + keyCount * ENTRY;
        for (int i = 0; i < size; i++) {
            totalLength += exists(i) ? keyLengths[i] + machineLengths[i] : 0;
        }
        if (keyCount == 0) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.allocate(totalLength).put(VERSION).put((byte) LETTER).putInt(keyCount);
        for (int i = 0; i < size; i++) {
            if (exists(i)) {
                buffer.putInt(hashes[i]).putLong(wakeups[i]).putInt(keyLengths[i]).putInt(machineLengths[i]);
            }
        }
        for (int i = 0; i < size; i++) {
            if (changedEntries[i] != null) {
                buffer.put(changedEntries[i]);
            } else {
                buffer.put(savedBytes, offsets[i], keyLengths[i] + machineLengths[i]);
            }
        }
        return buffer.array();
    }

    /** Whether the key at array index `index` still has state; false once its state was empty. */
    private boolean exists(int index) {
        return changedEntries[index] == null || changedEntries[index].length > 0;
    }

    /** Decodes the key values of the key at array index `index`. */
    private Object[] key(int index) {
        return changedEntries[index] == null
                ? new Codec.Reader(savedBytes, offsets[index]).row()
                : new Codec.Reader(changedEntries[index], 0).row();
    }

    /** Looks up a key in the bucket's hash table and returns its array index; a new key is appended to the arrays. */
    private int findOrAdd(RowKey key) {
        int hash = key.hashCode();
        int mask = table.length - 1;
        int entry = mix(hash) & mask;
        for (; table[entry] != 0; entry = entry + 1 & mask) {
            int index = table[entry] - 1;
            if (hashes[index] == hash && exists(index) && Values.sameRows(key(index), key.row())) {
                return index;
            }
        }
        if (size == hashes.length) {
            ensureCapacity(Math.max(8, 2 * size));
        }
        hashes[size] = hash;
        wakeups[size] = Long.MAX_VALUE;
        changedEntries[size] = new byte[0];
        size++;
        if (2 * size > table.length) {
            rebuildTable();
        } else {
            table[entry] = size;
        }
        return size - 1;
    }

    /** Enlarges the arrays that hold the hash, wakeup and state of each key to `capacity` keys. */
    private void ensureCapacity(int capacity) {
        hashes = Arrays.copyOf(hashes, capacity);
        wakeups = Arrays.copyOf(wakeups, capacity);
        offsets = Arrays.copyOf(offsets, capacity);
        keyLengths = Arrays.copyOf(keyLengths, capacity);
        machineLengths = Arrays.copyOf(machineLengths, capacity);
        changedEntries = Arrays.copyOf(changedEntries, capacity);
    }

    /** Rebuilds the hash table that maps keys to their array indexes, with at most half of its entries in use. */
    private void rebuildTable() {
        table = new int[Math.max(16, 4 * Integer.highestOneBit(Math.max(1, size)))];
        int mask = table.length - 1;
        for (int i = 0; i < size; i++) {
            int entry = mix(hashes[i]) & mask;
            while (table[entry] != 0) {
                entry = entry + 1 & mask;
            }
            table[entry] = i + 1;
        }
    }

    /** Spreads the bits of a key's hash code, so that its lowest bits can select an entry of the hash table. */
    private static int mix(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed ^ mixed >>> 16;
    }
}
