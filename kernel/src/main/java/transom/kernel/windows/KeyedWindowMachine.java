package transom.kernel.windows;

import java.util.Arrays;
import java.util.List;
import transom.kernel.Emitter;
import transom.kernel.StateVisitor;
import transom.kernel.TimedMachine;
import transom.kernel.state.Codec;

/**
 * Computes the CQL windows of one key: at most one per tick, by tick, row, distance, region or combinations of these.
 *
 * <p>A window at a tick is computed after all rows of that tick. If a row passes several boundaries, only the last one
 * has a window. The content of a window is fixed when it is computed. Rows enter and leave the window in order, so each
 * window is the previous one plus additions minus removals.
 */
public final class KeyedWindowMachine implements TimedMachine {
    private static final char LETTER = 'L';
    private static final long NEVER = Long.MIN_VALUE;

    private final KeyedWindowSpec spec;
    private final KeyedWindowPanes panes;
    private final Odometer odometer;
    private final Odometer insideOdometer;
    private long lastTick = NEVER;
    private long count;
    private long nextBoundary;
    private boolean hasEmitted;

    /** Creates the windows of one key that has no rows yet; `spec` says when they are emitted and what they contain. */
    public KeyedWindowMachine(KeyedWindowSpec spec) {
        this.spec = spec;
        panes = new KeyedWindowPanes(spec);
        odometer = spec.position == null ? null : new Odometer(spec.position);
        insideOdometer = spec.hasPath && spec.insideColumn >= 0 ? new Odometer(spec.position) : null;
        nextBoundary = firstBoundary();
    }

    /**
     * Restores the windows of one key from the bytes of `save`; `spec` says when they are emitted and what they
     * contain.
     */
    public static KeyedWindowMachine load(KeyedWindowSpec spec, byte[] state) {
        KeyedWindowMachine machine = new KeyedWindowMachine(spec);
        machine.read(new Codec.Reader(state, LETTER, "lineage"));
        return machine;
    }

    /**
     * Adds the key's rows of one tick and emits to `out` the windows that are due up to that tick. Leaves out rows that
     * break the speed limit, and emits only their number.
     */
    @Override
    public void take(long tick, List<Object[]> rows, Emitter out) {
        advance(tick - 1, out);
        if (tick > spec.until) {
            return;
        }
        long rejected = 0;
        boolean anyAccepted = false;
        boolean anyInRegion = false;
        for (Object[] row : rows) {
            boolean hasPosition = odometer != null && odometer.hasPosition(row);
            long step = hasPosition ? odometer.advanceTo(tick, row) : 0;
            if (step == Odometer.REJECTED) {
                rejected++;
                continue;
            }
            if (lastTick == NEVER && spec.slide == KeyedWindowSpec.Slide.TICK && !spec.eager) {
                nextBoundary = spec.firstBoundaryFrom(Math.max(spec.start, tick));
            }
            lastTick = tick;
            anyAccepted = true;
            count++;
            if (spec.insideColumn < 0 || Boolean.TRUE.equals(row[spec.insideColumn])) {
                anyInRegion = true;
                boolean measuresInside = hasPosition && insideOdometer != null;
                addRow(tick, row, hasPosition, measuresInside ? insideOdometer.stepTo(row) : step);
            }
        }
        if (rejected > 0) {
            out.emit(tick, 0, false, rejected, null);
        }
        if (anyAccepted) {
            emitWindowAfterRows(tick, anyInRegion, out);
        }
        advance(tick, out);
    }

    /**
     * Emits the key's windows that become due without new rows up to `closedTick`, and resets the key if it has been
     * idle for too long.
     */
    @Override
    public void advance(long closedTick, Emitter out) {
        if (lastTick != NEVER && spec.forgetAfter >= 0 && closedTick > lastTick + spec.forgetAfter) {
            long end = lastTick + spec.forgetAfter;
            emitWindowsUntil(end, out);
            reset(end + 1, out);
        } else {
            emitWindowsUntil(closedTick, out);
        }
    }

    /**
     * The next tick at which the key has a window even without new rows, or is reset because it is idle; Long.MAX_VALUE
     * if none.
     */
    @Override
    public long nextWakeup() {
        long end = lastTick == NEVER || spec.forgetAfter < 0 ? Long.MAX_VALUE : lastTick + spec.forgetAfter + 1;
        return Math.min(nextWindowTick(), end);
    }

    /**
     * Whether the key's state equals that of a new key, so that it can be deleted. That is so if it has no rows, and
     * its windows do not begin before its first row.
     */
    @Override
    public boolean isEmpty() {
        return lastTick == NEVER && !spec.eager;
    }

    /** The number of the key's rows in the state, or of panes if the output is aggregates. */
    @Override
    public long held() {
        return panes.inWindow.size() + panes.pending.size();
    }

    /**
     * Returns the tick, row count or distance, whichever the windows slide by, at which a new key has its first window.
     */
    private long firstBoundary() {
        return spec.slide == KeyedWindowSpec.Slide.TICK ? spec.firstBoundaryFrom(spec.start) : spec.first;
    }

    /** The tick of the key's next window if no more rows arrive; Long.MAX_VALUE if none. */
    private long nextWindowTick() {
        long tick = Long.MAX_VALUE;
        if (spec.slide == KeyedWindowSpec.Slide.TICK) {
            tick = spec.eager || lastTick != NEVER ? nextBoundary : tick;
        } else if (spec.slide == KeyedWindowSpec.Slide.CHANGE && panes.inWindow.size() > 0) {
            tick = panes.expiryTick();
        }
        return tick > spec.until ? Long.MAX_VALUE : tick;
    }

    /** Emits the key's windows that are due without new rows, up to and including `closedTick`. */
    private void emitWindowsUntil(long closedTick, Emitter out) {
        for (long tick = nextWindowTick(); tick <= closedTick && tick != Long.MAX_VALUE; tick = nextWindowTick()) {
            if (spec.slide == KeyedWindowSpec.Slide.TICK) {
                nextBoundary += spec.step;
            }
            emitWindow(tick, tick, out);
        }
    }

    /**
     * Emits to `out` the window, if any, that new rows of a tick cause, where windows slide by rows, distance, arrival
     * or changes; `anyInRegion` says whether a row was inside the query's region.
     */
    private void emitWindowAfterRows(long tick, boolean anyInRegion, Emitter out) {
        switch (spec.slide) {
            case ARRIVAL:
                emitWindow(tick, tick, out);
                return;
            case INSIDE:
            case CHANGE:
                if (anyInRegion) {
                    emitWindow(tick, tick, out);
                    return;
                }
                break;
            case INDEX:
            case DISTANCE:
                long progress = spec.slide == KeyedWindowSpec.Slide.INDEX ? count : odometer.distance();
                if (progress >= nextBoundary) {
                    long boundary = progress - (progress - spec.first) % spec.step;
                    nextBoundary = boundary + spec.step;
                    emitWindow(tick, boundary, out);
                    return;
                }
                break;
            default:
        }
        evict(tick + 1);
    }

    /**
     * Stores a row for later windows, with the key's current tick, row count and distance; `step` is the distance from
     * the previous position, if `hasPosition`.
     */
    private void addRow(long tick, Object[] row, boolean hasPosition, long step) {
        for (int i = 0; i < panes.coordinates.length; i++) {
            panes.coordinates[i] = coordinateAt(spec.ranges[i].coordinate(), tick);
        }
        panes.add(withTags(tick, row), hasPosition, step);
    }

    /**
     * Returns the key's current value of a coordinate: `tick`, the number of rows so far, or the micrometres travelled
     * so far. Windows slide and are bounded by coordinates.
     */
    private long coordinateAt(KeyedWindowSpec.Coordinate coordinate, long tick) {
        switch (coordinate) {
            case TICK:
                return tick;
            case INDEX:
                return count;
            default:
                return odometer.distance();
        }
    }

    /** Appends to a row the coordinates (tick, row number, distance) that the specification asks for in the output. */
    private Object[] withTags(long tick, Object[] row) {
        int tags = spec.tags.length;
        if (tags == 0) {
            return row;
        }
        Object[] tagged = Arrays.copyOf(row, row.length + tags, Object[].class);
        for (int i = 0; i < tags; i++) {
            tagged[row.length + i] = coordinateAt(spec.tags[i], tick);
        }
        return tagged;
    }

    /**
     * Slides the key's window to a tick, so that old rows leave and new rows enter, and emits it to `out`; `boundary`
     * is the tick, row count or distance for which the window is created.
     */
    private void emitWindow(long tick, long boundary, Emitter out) {
        boolean emitsChanges = spec.output == KeyedWindowSpec.Output.CHANGES;
        hasEmitted = true;
        if (spec.output != KeyedWindowSpec.Output.AGGREGATES) {
            out.emit(tick, 1, false, 0, null);
        }
        for (int i = 0; i < spec.ranges.length; i++) {
            KeyedWindowSpec.RangeSpec range = spec.ranges[i];
            long base = range.slides() ? boundary : coordinateAt(range.coordinate(), tick);
            panes.lowerBounds[i] = range.lowerBound(base);
            panes.upperBounds[i] = range.upperBound(base);
        }
        while (panes.isFirstExpired()) {
            if (emitsChanges) {
                out.emit(tick, 1, true, -1, panes.row(panes.inWindow.get(0)));
            }
            panes.removeFirst();
        }
        panes.dropPendingBelow();
        while (panes.firstPendingFits()) {
            if (emitsChanges) {
                out.emit(tick, 1, true, 1, panes.row(panes.pending.get(0)));
            }
            panes.enter(panes.pending.removeFirst());
        }
        emitContent(tick, out);
        evict(tick + 1);
    }

    /**
     * Emits to `out` the rows or the aggregates of the current window, as the specified output says; nothing if the
     * output is changes. Changes are emitted as rows enter and leave.
     */
    private void emitContent(long tick, Emitter out) {
        if (spec.output == KeyedWindowSpec.Output.AGGREGATES) {
            out.emit(tick, 1, true, 0, panes.values());
        } else if (spec.output == KeyedWindowSpec.Output.CONTENT) {
            for (int i = 0; i < panes.inWindow.size(); i++) {
                out.emit(tick, 1, true, i + 1, panes.row(panes.inWindow.get(i)));
            }
        }
    }

    /**
     * Drops the key's rows that no window at or after a tick can contain. Rows in the window stay if the output is
     * changes, as their retraction must be emitted.
     */
    private void evict(long tick) {
        if (spec.ranges.length == 0 || spec.slide == KeyedWindowSpec.Slide.CHANGE) {
            return;
        }
        for (int i = 0; i < spec.ranges.length; i++) {
            KeyedWindowSpec.RangeSpec range = spec.ranges[i];
            KeyedWindowSpec.Coordinate coordinate = range.coordinate();
            boolean nextIndex =
                    coordinate == KeyedWindowSpec.Coordinate.INDEX && spec.slide != KeyedWindowSpec.Slide.TICK;
            long leastBase = range.slides() ? nextBoundary : coordinateAt(coordinate, tick) + (nextIndex ? 1 : 0);
            panes.lowerBounds[i] = range.lowerBound(leastBase);
        }
        while (spec.output != KeyedWindowSpec.Output.CHANGES && panes.isFirstExpired()) {
            panes.removeFirst();
        }
        panes.dropPendingBelow();
    }

    /**
     * Resets an idle key to the state of a new key, and emits the end of its last window, if it had one, to `out`. The
     * end is retractions of its rows if the output is changes, otherwise a marker of window 0.
     */
    private void reset(long tick, Emitter out) {
        if (hasEmitted && tick <= spec.until) {
            boolean emitsChanges = spec.output == KeyedWindowSpec.Output.CHANGES;
            out.emit(tick, emitsChanges ? 1 : 0, false, 0, null);
            for (int i = 0; emitsChanges && i < panes.inWindow.size(); i++) {
                out.emit(tick, 1, true, -1, panes.row(panes.inWindow.get(i)));
            }
        }
        hasEmitted = false;
        panes.clear();
        lastTick = NEVER;
        count = 0;
        nextBoundary = firstBoundary();
        if (odometer != null) {
            odometer.clear();
        }
        if (insideOdometer != null) {
            insideOdometer.clear();
        }
    }

    /**
     * Passes to `visitor`, for inspection, the number of rows so far with their last tick, the position if there is
     * one, then the rows or panes.
     */
    @Override
    public void visit(StateVisitor visitor) {
        visitor.entry("count", 0, lastTick == NEVER ? StateVisitor.NO_TICK : lastTick, count, null);
        if (odometer != null) {
            odometer.visit(visitor);
        }
        panes.visit(visitor);
    }

    /** Encodes the key's counters, positions, rows and panes for the saved state of its bucket. */
    @Override
    public byte[] save() {
        Codec.Writer out = new Codec.Writer(LETTER);
        out.flag(lastTick != NEVER);
        out.number(lastTick == NEVER ? 0 : lastTick);
        out.number(count);
        out.number(nextBoundary);
        if (spec.forgetAfter >= 0) {
            out.flag(hasEmitted);
        }
        if (odometer != null) {
            odometer.write(out);
        }
        if (insideOdometer != null) {
            insideOdometer.write(out);
        }
        panes.write(out);
        return out.toBytes();
    }

    /** Restores the key's counters, positions, rows and panes from the saved state of its bucket. */
    private void read(Codec.Reader in) {
        boolean hasRows = in.flag();
        long tick = in.number();
        lastTick = hasRows ? tick : NEVER;
        count = in.number();
        nextBoundary = in.number();
        hasEmitted = spec.forgetAfter >= 0 && in.flag();
        if (odometer != null) {
            odometer.read(in);
        }
        if (insideOdometer != null) {
            insideOdometer.read(in);
        }
        panes.read(in);
    }
}
