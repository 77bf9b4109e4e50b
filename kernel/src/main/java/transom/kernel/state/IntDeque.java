package transom.kernel.state;

/** A growing queue of ints in a circular array. */
public final class IntDeque {
    private int[] items = new int[4];
    private int first;
    private int size;

    /** The number of items in the queue. */
    public int size() {
        return size;
    }

    /** Appends an item to the end of the queue. */
    public void add(int item) {
        if (size == items.length) {
            int[] longer = new int[2 * size];
            for (int i = 0; i < size; i++) {
                longer[i] = get(i);
            }
            items = longer;
            first = 0;
        }
        items[first + size++ & items.length - 1] = item;
    }

    /** Removes and returns the first item of a queue that is not empty. */
    public int removeFirst() {
        int item = items[first];
        first = first + 1 & items.length - 1;
        size--;
        return item;
    }

    /** The item of the queue at `index`, counted from 0 for the first item. */
    public int get(int index) {
        return items[first + index & items.length - 1];
    }

    /** The last item of a queue that is not empty; the item stays in the queue. */
    public int last() {
        return get(size - 1);
    }
}
