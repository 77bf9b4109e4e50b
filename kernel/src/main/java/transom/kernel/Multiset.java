package transom.kernel;

import java.util.Map;
import java.util.TreeMap;

/**
 * Members with their counts in order, from which members leave in any order; each may have a label.
 *
 * <p>The members that are null are only counted. Counts may fall below 0 while the changes of a tick are applied.
 */
final class Multiset {
    private final TreeMap<Object, Entry> entries = new TreeMap<>(Values.ORDER);
    private long missing;
    private int below;

    /** How many copies there are, and the label. */
    private static final class Entry {
        private long count;
        private String label;
    }

    /** Takes the label of a member, and how many copies there are. */
    interface Labels {
        /** The next member in order. */
        void put(String label, long count);
    }

    /** Add copies of a member, or remove them; 1 if it is new, -1 if it is gone, else 0. */
    long add(Object member, long count, String label) {
        if (member == null) {
            missing += count;
            return count;
        }
        Entry entry = entries.computeIfAbsent(member, key -> new Entry());
        long before = entry.count;
        entry.count += count;
        entry.label = label;
        below += (entry.count < 0 ? 1 : 0) - (before < 0 ? 1 : 0);
        if (entry.count == 0) {
            entries.remove(member);
        }
        return (entry.count > 0 ? 1 : 0) - (before > 0 ? 1 : 0);
    }

    /** Whether no more members were removed than added. */
    boolean valid() {
        return missing >= 0 && below == 0;
    }

    /** How many different members there are. */
    long size() {
        return entries.size();
    }

    /** Whether a member is null. */
    boolean isMissing() {
        return missing != 0;
    }

    /** The least or the greatest member, or null. */
    Object end(boolean greatest) {
        if (entries.isEmpty()) {
            return null;
        }
        return greatest ? entries.lastKey() : entries.firstKey();
    }

    /** The labels of all members, in order. */
    void labels(Labels labels) {
        entries.forEach((member, entry) -> labels.put(entry.label, entry.count));
    }

    void write(Codec.Writer out) {
        out.number(missing);
        out.count(entries.size());
        for (Map.Entry<Object, Entry> entry : entries.entrySet()) {
            out.value(entry.getKey());
            out.number(entry.getValue().count);
            out.value(entry.getValue().label);
        }
    }

    void read(Codec.Reader in) {
        missing = in.number();
        for (int rest = in.count(); rest > 0; rest--) {
            Object member = in.value();
            Entry entry = new Entry();
            entry.count = in.number();
            entry.label = (String) in.value();
            entries.put(member, entry);
        }
    }
}
