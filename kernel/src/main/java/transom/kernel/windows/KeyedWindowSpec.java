package transom.kernel.windows;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;
import transom.kernel.aggregates.AggregateSpecs;
import transom.kernel.aggregates.SlidingAggregate;
import transom.kernel.aggregates.SlidingOrdered;

/** The specification of keyed windows: when they are emitted, what they contain, and the form of the output. */
public final class KeyedWindowSpec {
    /** A property of rows that never decreases. */
    enum Coordinate {
        TICK,
        INDEX,
        DISTANCE
    }

    /** When windows are emitted; the first three are coordinates. */
    enum Slide {
        TICK,
        INDEX,
        DISTANCE,
        ARRIVAL,
        INSIDE,
        CHANGE
    }

    /** What is emitted of a window. */
    enum Output {
        CONTENT,
        CHANGES,
        AGGREGATES
    }

    /**
     * The range of ticks, row numbers or distances that a window contains: the lower bound of a window at b is floor(b
     * / lowStep) * lowStep + lowOffset, which is always `lowOrigin` plus a multiple of `lowPeriod`, and the upper bound
     * likewise. `slides` says whether windows slide by this coordinate.
     *
     * @param coordinate the coordinate
     * @param slides whether windows slide by this coordinate
     * @param lowStep the step of the lower bound
     * @param lowOffset the offset of the lower bound
     * @param highStep the step of the upper bound
     * @param highOffset the offset of the upper bound
     * @param lowPeriod the distance between possible values of the lower bound
     * @param lowOrigin one possible value of the lower bound
     * @param highPeriod the distance between possible values of the upper bound
     * @param highOrigin one possible value of the upper bound
     */
    record RangeSpec(
            Coordinate coordinate,
            boolean slides,
            long lowStep,
            long lowOffset,
            long highStep,
            long highOffset,
            long lowPeriod,
            long lowOrigin,
            long highPeriod,
            long highOrigin) {
        /**
         * Returns the lower bound of a window's range, floor(base / lowStep) * lowStep + lowOffset. The `base` is the
         * tick, row count or distance of the window.
         */
        long lowerBound(long base) {
            return base - Math.floorMod(base, lowStep) + lowOffset;
        }

        /**
         * Returns the upper bound of a window's range, floor(base / highStep) * highStep + highOffset. The `base` is
         * the tick, row count or distance of the window.
         */
        long upperBound(long base) {
            return base - Math.floorMod(base, highStep) + highOffset;
        }

        /**
         * Whether rows at the coordinates `left` and `right` can share a pane, because no bound of a window separates
         * them. Coordinates are ticks, row numbers or distances.
         */
        boolean samePane(long left, long right) {
            return Math.floorDiv(left - lowOrigin, lowPeriod) == Math.floorDiv(right - lowOrigin, lowPeriod)
                    && Math.floorDiv(highOrigin - left, highPeriod) == Math.floorDiv(highOrigin - right, highPeriod);
        }
    }

    final Slide slide;
    final RangeSpec[] ranges;
    final long step;
    final long first;
    final long start;
    final long until;
    final boolean eager;
    final int insideColumn;
    final Odometer.PositionSpec position;
    final Output output;
    final Coordinate[] tags;
    final AggregateSpecs aggregates;
    final boolean hasPath;
    /** The number of idle ticks after which a key is forgotten; negative for never. */
    final long forgetAfter;

    /**
     * Parses and checks the JSON specification of the windows of a key. Throws IllegalArgumentException if distances
     * are needed and no position is specified, or if the step is below 1.
     */
    public KeyedWindowSpec(JsonNode entries) {
        slide = Slide.valueOf(enumName(entries.path("slide")));
        step = entries.path("step").asLong();
        first = entries.path("first").asLong();
        start = entries.path("start").asLong();
        until = entries.path("until").asLong(Long.MAX_VALUE);
        eager = entries.path("eager").asBoolean();
        insideColumn = entries.path("flag").asInt(-1);
        position = entries.path("place").isObject() ? Odometer.PositionSpec.of(entries.path("place")) : null;
        output = Output.valueOf(enumName(entries.path("output")));
        aggregates = new AggregateSpecs(entries.path("aggregates"), 0);
        forgetAfter = entries.path("forget_after").asLong(-1);
        ranges = new RangeSpec[entries.path("ranges").size()];
        for (int i = 0; i < ranges.length; i++) {
            ranges[i] = range(entries.path("ranges").get(i));
        }
        tags = new Coordinate[entries.path("tags").size()];
        for (int i = 0; i < tags.length; i++) {
            tags[i] = Coordinate.valueOf(enumName(entries.path("tags").get(i)));
        }
        boolean anyPath = false;
        for (SlidingAggregate aggregate : aggregates.newAggregates()) {
            anyPath |= aggregate instanceof SlidingOrdered.Path;
        }
        hasPath = anyPath;
        if (step < 1) {
            throw new IllegalArgumentException("a lineage needs a step of at least 1");
        }
        if (position == null && needsPosition()) {
            throw new IllegalArgumentException("windows by distance need a position");
        }
    }

    /** The first value at or after `coordinate` (a tick, row count or distance) for which a window is created. */
    long firstBoundaryFrom(long coordinate) {
        return first + Math.max(0, -Math.floorDiv(first - coordinate, step)) * step;
    }

    /** Parses the JSON specification of one range: the ticks, row numbers or distances that a window contains. */
    private RangeSpec range(JsonNode entries) {
        Coordinate coordinate = Coordinate.valueOf(enumName(entries.path("coordinate")));
        boolean slides = coordinate.name().equals(slide.name());
        long[] low = boundaries(entries.path("low"), slides);
        long[] high = boundaries(entries.path("high"), slides);
        return new RangeSpec(coordinate, slides, low[0], low[1], high[0], high[1], low[2], low[3], high[2], high[3]);
    }

    /**
     * Parses a bound of a range from JSON into four numbers: step, offset, period and origin; period and origin are
     * those of all values that the bound can have; `slides` says whether the windows slide by the range's coordinate.
     */
    private long[] boundaries(JsonNode bound, boolean slides) {
        long width = bound.path(0).asLong();
        long offset = bound.path(1).asLong();
        if (slides && step % width == 0 && first % width == 0) {
            return new long[] {width, offset, step, first + offset};
        }
        return new long[] {width, offset, width, offset};
    }

    /**
     * Whether the windows slide by distance, have a range of distances, or output a distance or a path length, so that
     * rows need positions.
     */
    private boolean needsPosition() {
        boolean needed = hasPath || slide == Slide.DISTANCE;
        for (RangeSpec range : ranges) {
            needed |= range.coordinate == Coordinate.DISTANCE;
        }
        for (Coordinate tag : tags) {
            needed |= tag == Coordinate.DISTANCE;
        }
        return needed;
    }

    /** Converts a JSON string to the name of an enum constant, by changing it to upper case. */
    private static String enumName(JsonNode entry) {
        return entry.asText().toUpperCase(Locale.ROOT);
    }
}
