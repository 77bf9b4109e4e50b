package transom.kernel.windows;

import com.fasterxml.jackson.databind.JsonNode;
import transom.kernel.StateVisitor;
import transom.kernel.state.Codec;

/**
 * Measures the steps between the positions of one object. The state is the last accepted position, its tick, and the
 * sum of all steps.
 */
public final class Odometer {
    /** Returned by {@link #advanceTo} for a position beyond the speed limit. */
    static final long REJECTED = -1;

    /**
     * Describes which values of a row are its position, how distances are measured, and the speed limit; the
     * coordinates are at `xColumn` and `yColumn` (negative on a line); they are longitude and latitude if `geodesic`,
     * else on a plane with a unit of `micrometresPerUnit`; the limit is `limitMicrometres` per `limitTicks`; 0 for
     * none.
     *
     * @param xColumn the index of the first coordinate in a row
     * @param yColumn the index of the second coordinate, or negative on a line
     * @param geodesic whether the coordinates are longitude and latitude
     * @param micrometresPerUnit the micrometres per unit of the plane
     * @param limitMicrometres the micrometres that an object can travel in `limitTicks` ticks, or 0 for no limit
     * @param limitTicks the ticks of the speed limit
     */
    public record PositionSpec(
            int xColumn,
            int yColumn,
            boolean geodesic,
            long micrometresPerUnit,
            long limitMicrometres,
            long limitTicks) {
        /**
         * Parses the JSON specification of positions and the speed limit. Throws IllegalArgumentException if positions
         * are on the ellipsoid and have one coordinate only.
         */
        public static PositionSpec of(JsonNode entries) {
            JsonNode limit = entries.path("limit");
            int yColumn = entries.path("y").asInt(-1);
            boolean geodesic = entries.path("geodesic").asBoolean();
            if (geodesic && yColumn < 0) {
                throw new IllegalArgumentException("a position on the ellipsoid has a longitude and a latitude");
            }
            return new PositionSpec(
                    entries.path("x").asInt(),
                    yColumn,
                    geodesic,
                    entries.path("unit").asLong(),
                    limit.path(0).asLong(),
                    limit.path(1).asLong());
        }
    }

    private final PositionSpec spec;
    private long distance;
    private long lastTick;
    private boolean started;
    private double x;
    private double y;

    /** Creates an odometer at distance 0, without a position. */
    Odometer(PositionSpec spec) {
        this.spec = spec;
    }

    /** The distance that the object has travelled so far, in micrometres: the sum of all steps that were accepted. */
    long distance() {
        return distance;
    }

    /**
     * Whether the coordinates in a row are a valid position. They are numbers, not NULL, and finite, and on the
     * ellipsoid a longitude and a latitude.
     */
    boolean hasPosition(Object[] row) {
        return isNumber(row[spec.xColumn]) && (spec.yColumn < 0 || isNumber(row[spec.yColumn]))
                && Geodesy.isPosition(spec.geodesic, xOf(row), yOf(row));
    }

    /**
     * Moves the object to the position of a row and returns the step in micrometres; REJECTED, without moving, if it
     * breaks the speed limit. The step is added to the distance, and `currentTick` is the row's tick.
     */
    long advanceTo(long currentTick, Object[] row) {
        double toX = xOf(row);
        double toY = yOf(row);
        long step = 0;
        if (started) {
            step = Geodesy.step(spec.geodesic, spec.micrometresPerUnit, x, y, toX, toY);
            long elapsedTicks = currentTick - lastTick;
            if (spec.limitMicrometres > 0
                    && !Geodesy.isReachable(spec.limitMicrometres, spec.limitTicks, step, elapsedTicks)) {
                return REJECTED;
            }
        }
        distance += step;
        lastTick = currentTick;
        setPosition(toX, toY);
        return step;
    }

    /**
     * Moves the object to the position of a row and returns the step in micrometres, without a check of the speed
     * limit; the travelled distance stays the same.
     */
    long stepTo(Object[] row) {
        double toX = xOf(row);
        double toY = yOf(row);
        long step = started ? Geodesy.step(spec.geodesic, spec.micrometresPerUnit, x, y, toX, toY) : 0;
        setPosition(toX, toY);
        return step;
    }

    /** Resets the distance to 0 and removes the last position, so that the next position starts a new path. */
    void clear() {
        distance = 0;
        lastTick = 0;
        started = false;
    }

    /** Encodes the object's distance, last tick and last position for saved state. */
    void write(Codec.Writer out) {
        out.flag(started);
        if (started) {
            out.number(distance);
            out.number(lastTick);
            out.fixed(Double.doubleToRawLongBits(x));
            if (spec.yColumn >= 0) {
                out.fixed(Double.doubleToRawLongBits(y));
            }
        }
    }

    /** Restores the object's distance, last tick and last position from saved state. */
    void read(Codec.Reader in) {
        started = in.flag();
        if (started) {
            distance = in.number();
            lastTick = in.number();
            x = Double.longBitsToDouble(in.fixed());
            y = spec.yColumn >= 0 ? Double.longBitsToDouble(in.fixed()) : 0.0;
        }
    }

    /**
     * Passes to `visitor`, for inspection, the distance and the last position with its tick; nothing before the first
     * position.
     */
    void visit(StateVisitor visitor) {
        if (started) {
            visitor.entry("position", 0, lastTick, 1, new Object[] {distance, x, y});
        }
    }

    /** Stores the coordinates `toX` and `toY` as the object's last position, from which the next step is measured. */
    private void setPosition(double toX, double toY) {
        started = true;
        x = toX;
        y = toY;
    }

    /** Returns the first coordinate of a row's position, as a double. */
    private double xOf(Object[] row) {
        return ((Number) row[spec.xColumn]).doubleValue();
    }

    /** Returns the second coordinate of a row's position, as a double; 0 if positions are on a line. */
    private double yOf(Object[] row) {
        return spec.yColumn < 0 ? 0.0 : ((Number) row[spec.yColumn]).doubleValue();
    }

    /** Whether a value of a row can be a coordinate: a Double or a Long, not NULL. */
    private static boolean isNumber(Object value) {
        return value instanceof Double || value instanceof Long;
    }
}
