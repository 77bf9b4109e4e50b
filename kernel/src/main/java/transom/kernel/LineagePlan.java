package transom.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;

/** What a lineage is told, read once: when the windows of a key come, what they hold, and what is told of them. */
final class LineagePlan {
    /** What rows carry that never goes backwards. */
    enum Coordinate {
        TICK,
        INDEX,
        DISTANCE
    }

    /** When windows come; the first three are coordinates. */
    enum Slide {
        TICK,
        INDEX,
        DISTANCE,
        ARRIVAL,
        INSIDE,
        CHANGE
    }

    /** What is told of a window. */
    enum Output {
        CONTENT,
        CHANGES,
        AGGREGATES
    }

    /**
     * A range of a coordinate; at base b its ends are floor(b / step) * step + offset.
     *
     * @param coordinate its coordinate
     * @param slides whether windows slide by it
     * @param lowStep the step of the low end
     * @param lowOffset its offset
     * @param highStep the step of the high end
     * @param highOffset its offset
     * @param lowPeriod the low end is always so many apart
     * @param lowOrigin from here
     * @param highPeriod the high end is always so many apart
     * @param highOrigin from here
     */
    record Reach(
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
        long low(long base) {
            return base - Math.floorMod(base, lowStep) + lowOffset;
        }

        long high(long base) {
            return base - Math.floorMod(base, highStep) + highOffset;
        }

        /** Whether neither end can come between two rows. */
        boolean together(long one, long other) {
            return Math.floorDiv(one - lowOrigin, lowPeriod) == Math.floorDiv(other - lowOrigin, lowPeriod)
                    && Math.floorDiv(highOrigin - one, highPeriod) == Math.floorDiv(highOrigin - other, highPeriod);
        }
    }

    final Slide slide;
    final Reach[] ranges;
    final long step;
    final long first;
    final long start;
    final long until;
    final boolean eager;
    final int flag;
    final Odometer.Place place;
    final Output output;
    final Coordinate[] tags;
    final Asked asked;
    final boolean paths;
    /** Ticks, or below 0 if no key is forgotten. */
    final long forgetAfter;

    LineagePlan(JsonNode entries) {
        slide = Slide.valueOf(word(entries.path("slide")));
        step = entries.path("step").asLong();
        first = entries.path("first").asLong();
        start = entries.path("start").asLong();
        until = entries.path("until").asLong(Long.MAX_VALUE);
        eager = entries.path("eager").asBoolean();
        flag = entries.path("flag").asInt(-1);
        place = entries.path("place").isObject() ? Odometer.Place.of(entries.path("place")) : null;
        output = Output.valueOf(word(entries.path("output")));
        asked = new Asked(entries.path("aggregates"), 0);
        forgetAfter = entries.path("forget_after").asLong(-1);
        ranges = new Reach[entries.path("ranges").size()];
        for (int at = 0; at < ranges.length; at++) {
            ranges[at] = reach(entries.path("ranges").get(at));
        }
        tags = new Coordinate[entries.path("tags").size()];
        for (int at = 0; at < tags.length; at++) {
            tags[at] = Coordinate.valueOf(word(entries.path("tags").get(at)));
        }
        boolean found = false;
        for (SlideColumn column : asked.columns()) {
            found |= column instanceof SlideEnds.Path;
        }
        paths = found;
        if (step < 1) {
            throw new IllegalArgumentException("a lineage needs a step of at least 1");
        }
        if (place == null && far()) {
            throw new IllegalArgumentException("a lineage with distances needs a place");
        }
    }

    /** The first boundary that is not below a number. */
    long boundary(long least) {
        return first + Math.max(0, -Math.floorDiv(first - least, step)) * step;
    }

    private Reach reach(JsonNode entries) {
        Coordinate coordinate = Coordinate.valueOf(word(entries.path("coordinate")));
        boolean slides = coordinate.name().equals(slide.name());
        long[] low = values(entries.path("low"), slides);
        long[] high = values(entries.path("high"), slides);
        return new Reach(coordinate, slides, low[0], low[1], high[0], high[1], low[2], low[3], high[2], high[3]);
    }

    /** A bound, then the period and the origin of all values that it can have. */
    private long[] values(JsonNode bound, boolean slides) {
        long width = bound.path(0).asLong();
        long offset = bound.path(1).asLong();
        if (slides && step % width == 0 && first % width == 0) {
            return new long[] {width, offset, step, first + offset};
        }
        return new long[] {width, offset, width, offset};
    }

    private boolean far() {
        boolean found = paths || slide == Slide.DISTANCE;
        for (Reach reach : ranges) {
            found |= reach.coordinate == Coordinate.DISTANCE;
        }
        for (Coordinate tag : tags) {
            found |= tag == Coordinate.DISTANCE;
        }
        return found;
    }

    private static String word(JsonNode entry) {
        return entry.asText().toUpperCase(Locale.ROOT);
    }
}
