package transom.kernel;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Places of one object in order in, steps out; keeps the last place that was accepted, its tick, and the sum of all
 * steps.
 */
final class Odometer {
    /** What {@link #move} says of a place that is too far away. */
    static final long REJECTED = -1;

    /**
     * Where a row has its place, and how steps are measured.
     *
     * @param x the place of a coordinate in a row
     * @param y of the other, or below 0
     * @param geodesic whether they are a longitude and a latitude
     * @param unit micrometres of a unit on the plane
     * @param limit micrometres that an object can go in `per` ticks, or 0
     * @param per these ticks
     */
    record Place(int x, int y, boolean geodesic, long unit, long limit, long per) {
        static Place of(JsonNode entries) {
            JsonNode limit = entries.path("limit");
            int y = entries.path("y").asInt(-1);
            boolean geodesic = entries.path("geodesic").asBoolean();
            if (geodesic && y < 0) {
                throw new IllegalArgumentException("a place on the ellipsoid has a longitude and a latitude");
            }
            long most = limit.path(0).asLong();
            return new Place(entries.path("x").asInt(), y, geodesic, entries.path("unit").asLong(), most,
                    limit.path(1).asLong());
        }
    }

    private final Place spec;
    private long distance;
    private long tick;
    private boolean placed;
    private double x;
    private double y;

    Odometer(Place spec) {
        this.spec = spec;
    }

    /** The sum of all steps. */
    long distance() {
        return distance;
    }

    /** Whether a row has a place. */
    boolean has(Object[] row) {
        return number(row[spec.x]) && (spec.y < 0 || number(row[spec.y]))
                && Geodesy.placed(spec.geodesic, first(row), second(row));
    }

    /** The step to the place of the next row, which has one; REJECTED for one that is too far away. */
    long move(long now, Object[] row) {
        double toX = first(row);
        double toY = second(row);
        long far = 0;
        if (placed) {
            far = Geodesy.step(spec.geodesic, spec.unit, x, y, toX, toY);
            if (spec.limit > 0 && !Geodesy.allows(spec.limit, spec.per, far, now - tick)) {
                return REJECTED;
            }
        }
        distance += far;
        tick = now;
        put(toX, toY);
        return far;
    }

    /** The step to the place of the next row, which has one, however fast. */
    long follow(Object[] row) {
        double toX = first(row);
        double toY = second(row);
        long far = placed ? Geodesy.step(spec.geodesic, spec.unit, x, y, toX, toY) : 0;
        put(toX, toY);
        return far;
    }

    /** Be new again. */
    void clear() {
        distance = 0;
        tick = 0;
        placed = false;
    }

    void write(Codec.Writer out) {
        out.flag(placed);
        if (placed) {
            out.number(distance);
            out.number(tick);
            out.fixed(Double.doubleToRawLongBits(x));
            if (spec.y >= 0) {
                out.fixed(Double.doubleToRawLongBits(y));
            }
        }
    }

    void read(Codec.Reader in) {
        placed = in.flag();
        if (placed) {
            distance = in.number();
            tick = in.number();
            x = Double.longBitsToDouble(in.fixed());
            y = spec.y >= 0 ? Double.longBitsToDouble(in.fixed()) : 0.0;
        }
    }

    private void put(double toX, double toY) {
        placed = true;
        x = toX;
        y = toY;
    }

    private double first(Object[] row) {
        return ((Number) row[spec.x]).doubleValue();
    }

    private double second(Object[] row) {
        return spec.y < 0 ? 0.0 : ((Number) row[spec.y]).doubleValue();
    }

    private static boolean number(Object value) {
        return value instanceof Double || value instanceof Long;
    }
}
