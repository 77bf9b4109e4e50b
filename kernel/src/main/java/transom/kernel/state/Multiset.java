package transom.kernel.state;

import java.util.Map;
import java.util.TreeMap;
import transom.kernel.StateVisitor;

/**
 * A sorted multiset that supports retraction in any order. Each member may have a label.
 *
 * <p>NULL members are only counted. A count may be negative while the changes of a tick are applied.
 */
public final class Multiset {
    private final TreeMap<Object, Entry> entries = new TreeMap<>(Values.ORDER);
    private long nullCount;
    private int negativeCount;

    /** The count and the label of a member. */
    private static final class Entry {
        private long count;
        private String label;
    }

    /** Receives the label and the count of each member. */
    public interface LabelVisitor {
        /**
         * Receives the label and the number of copies of one member of a multiset; called in ascending order of
         * members. The label is the string for GROUP_CONCAT.
         */
        void visit(String label, long count);
    }

    /**
     * Adds `count` copies of a member, or removes them if `count` is negative, and returns the change of the number of
     * distinct members; `label` is the string for GROUP_CONCAT, or null. The change is 1, 0 or -1; for NULL `count` is
     * returned.
     *
     * @return 1 if the member is new, -1 if it is removed, else 0; for NULL the count
     */
    public long add(Object member, long count, String label) {
        if (member == null) {
            nullCount += count;
            return count;
        }
        Entry entry = entries.computeIfAbsent(member, key -> new Entry());
        long countBefore = entry.count;
        entry.count += count;
        entry.label = label;
        negativeCount += (entry.count < 0 ? 1 : 0) - (countBefore < 0 ? 1 : 0);
        if (entry.count == 0) {
            entries.remove(member);
        }
        return (entry.count > 0 ? 1 : 0) - (countBefore > 0 ? 1 : 0);
    }

    /** Whether no count is negative; a negative count means that more copies of a member were removed than added. */
    public boolean isValid() {
        return nullCount >= 0 && negativeCount == 0;
    }

    /** The number of distinct members of the multiset other than NULL. */
    public long size() {
        return entries.size();
    }

    /** Whether the multiset contains NULL. */
    public boolean hasNull() {
        return nullCount != 0;
    }

    /** Returns the greatest member if `greatest`, otherwise the least; null if there is no member other than NULL. */
    public Object extreme(boolean greatest) {
        if (entries.isEmpty()) {
            return null;
        }
        return greatest ? entries.lastKey() : entries.firstKey();
    }

    /**
     * Passes the label and the number of copies of each member to a visitor, in ascending order of members. The label
     * is the string for GROUP_CONCAT.
     */
    public void forEachLabel(LabelVisitor visitor) {
        entries.forEach((member, entry) -> visitor.visit(entry.label, entry.count));
    }

    /**
     * Passes to `visitor`, for inspection, the members of the multiset with their counts, NULL last; they belong to the
     * argument at `index`.
     */
    public void visit(int index, StateVisitor visitor) {
        entries.forEach((member, entry) ->
                visitor.entry("value", index, StateVisitor.NO_TICK, entry.count, new Object[] {member}));
        if (nullCount != 0) {
            visitor.entry("value", index, StateVisitor.NO_TICK, nullCount, new Object[] {null});
        }
    }

    /** Encodes the members of the multiset with their counts and labels for saved state. */
    public void write(Codec.Writer out) {
        out.number(nullCount);
        out.count(entries.size());
        for (Map.Entry<Object, Entry> entry : entries.entrySet()) {
            out.value(entry.getKey());
            out.number(entry.getValue().count);
            out.value(entry.getValue().label);
        }
    }

    /** Restores the members of an empty multiset with their counts and labels from saved state. */
    public void read(Codec.Reader in) {
        nullCount = in.number();
        for (int remaining = in.count(); remaining > 0; remaining--) {
            Object member = in.value();
            Entry entry = new Entry();
            entry.count = in.number();
            entry.label = (String) in.value();
            entries.put(member, entry);
        }
    }
}
