package transom.kernel.windows;

import java.util.List;
import transom.kernel.Emitter;
import transom.kernel.StateVisitor;
import transom.kernel.TimedMachine;
import transom.kernel.state.Codec;

/**
 * Emits the rows of one object with the distance travelled so far. The state is the last position.
 *
 * <p>A row without a position has the distance of the previous row. A row that the object cannot have reached within
 * the speed limit is rejected and counted. An object that has been idle for too long starts at distance 0 again.
 */
public final class DistanceMachine implements TimedMachine {
    private static final char LETTER = 'D';

    private static final long NEVER = Long.MIN_VALUE;

    private final Odometer odometer;
    /** The number of idle ticks after which an object is forgotten; negative for never. */
    private final long forgetAfterTicks;
    private long lastTick = NEVER;

    /**
     * Creates the state of one moving object, whose travelled distance is 0; `spec` says where a row has its position
     * and what the speed limit is; after `forgetAfterTicks` idle ticks the object starts again at 0 (never if that is
     * negative).
     */
    public DistanceMachine(Odometer.PositionSpec spec, long forgetAfterTicks) {
        this.odometer = new Odometer(spec);
        this.forgetAfterTicks = forgetAfterTicks;
    }

    /**
     * Restores the travelled distance and the last position of one moving object from the bytes of `save`; `spec` says
     * where a row has its position; after `forgetAfterTicks` idle ticks the object starts again at distance 0 (never if
     * that is negative).
     */
    public static DistanceMachine load(Odometer.PositionSpec spec, long forgetAfterTicks, byte[] state) {
        DistanceMachine machine = new DistanceMachine(spec, forgetAfterTicks);
        Codec.Reader in = new Codec.Reader(state, LETTER, "distance");
        machine.odometer.read(in);
        if (forgetAfterTicks >= 0) {
            machine.lastTick = in.number();
        }
        return machine;
    }

    /**
     * Emits an object's rows of one tick, each with the distance travelled so far, without rows that break the speed
     * limit. Of those it emits only their number.
     */
    @Override
    public void take(long tick, List<Object[]> rows, Emitter out) {
        advance(tick - 1, out);
        long rejected = 0;
        boolean[] accepted = new boolean[rows.size()];
        long[] distances = new long[accepted.length];
        for (int i = 0; i < accepted.length; i++) {
            Object[] row = rows.get(i);
            accepted[i] = !odometer.hasPosition(row) || odometer.advanceTo(tick, row) != Odometer.REJECTED;
            distances[i] = odometer.distance();
            rejected += accepted[i] ? 0 : 1;
            lastTick = accepted[i] ? tick : lastTick;
        }
        if (rejected > 0) {
            out.emit(tick, 0, false, rejected, null);
        }
        for (int i = 0; i < accepted.length; i++) {
            if (accepted[i]) {
                out.emit(tick, 1, true, distances[i], rows.get(i));
            }
        }
    }

    /**
     * Resets the object to distance 0, without a position, if it is idle for too long when `closedTick` is closed.
     * Emits nothing to `out`.
     */
    @Override
    public void advance(long closedTick, Emitter out) {
        if (nextWakeup() <= closedTick) {
            odometer.clear();
            lastTick = NEVER;
        }
    }

    /**
     * The tick whose closing resets an idle object to distance 0; Long.MAX_VALUE if it is never reset or has no rows.
     */
    @Override
    public long nextWakeup() {
        return forgetAfterTicks < 0 || lastTick == NEVER ? Long.MAX_VALUE : lastTick + forgetAfterTicks + 1;
    }

    /**
     * Whether the object has had no row yet or was reset for being idle, so that its state can be deleted. Always false
     * if idle objects are never reset.
     */
    @Override
    public boolean isEmpty() {
        return forgetAfterTicks >= 0 && lastTick == NEVER;
    }

    /** Always 0: the state is a distance and a position, and holds no rows. */
    @Override
    public long held() {
        return 0;
    }

    /** Passes to `visitor`, for inspection, the distance and the last position of the moving object. */
    @Override
    public void visit(StateVisitor visitor) {
        odometer.visit(visitor);
    }

    /** Encodes the distance and the last position of the moving object for the saved state of its bucket. */
    @Override
    public byte[] save() {
        Codec.Writer writer = new Codec.Writer(LETTER);
        odometer.write(writer);
        if (forgetAfterTicks >= 0) {
            writer.number(lastTick);
        }
        return writer.toBytes();
    }
}
