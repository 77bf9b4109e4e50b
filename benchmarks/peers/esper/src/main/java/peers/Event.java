package peers;

/** One event. */
public final class Event {
    private final long k;
    private final long v;

    Event(long k, long v) {
        this.k = k;
        this.v = v;
    }

    public long getK() {
        return k;
    }

    public long getV() {
        return v;
    }
}
