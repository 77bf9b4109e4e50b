package transom.kernel;

/** Slots in the order in which they came. */
final class Line {
    private int[] slots = new int[4];
    private int first;
    private int size;

    int size() {
        return size;
    }

    void add(int slot) {
        if (size == slots.length) {
            int[] longer = new int[2 * size];
            for (int place = 0; place < size; place++) {
                longer[place] = get(place);
            }
            slots = longer;
            first = 0;
        }
        slots[first + size++ & slots.length - 1] = slot;
    }

    /** Take the first one away. */
    int remove() {
        int slot = slots[first];
        first = first + 1 & slots.length - 1;
        size--;
        return slot;
    }

    int get(int place) {
        return slots[first + place & slots.length - 1];
    }

    int last() {
        return get(size - 1);
    }
}
