package transom.kernel;

import java.util.Arrays;
import java.util.List;

/**
 * The windows of one key in CQL: at most one per tick, by tick, row, distance, region or mixtures.
 *
 * <p>All rows of a tick come first, then one window at that tick. If a row jumps over several marks there is one
 * window, for the last of them. What a window holds is fixed when it is made. Rows come into a window and go out of it
 * in order, so a window moves by what comes and what goes.
 */
public final class Lineage implements Timed {
    private static final char LETTER = 'L';
    private static final long NEVER = Long.MIN_VALUE;

    private final LineagePlan plan;
    private final Panes panes;
    private final Odometer odometer;
    private final Odometer trail;
    private long last = NEVER;
    private long count;
    private long next;
    private boolean told;

    Lineage(LineagePlan plan) {
        this.plan = plan;
        panes = new Panes(plan);
        odometer = plan.place == null ? null : new Odometer(plan.place);
        trail = plan.paths && plan.flag >= 0 ? new Odometer(plan.place) : null;
        next = begin();
    }

    static Lineage load(LineagePlan plan, byte[] state) {
        Lineage machine = new Lineage(plan);
        machine.read(new Codec.Reader(state, LETTER, "lineage"));
        return machine;
    }

    @Override
    public void take(long tick, List<Object[]> coming, Out out) {
        advance(tick - 1, out);
        if (tick > plan.until) {
            return;
        }
        long rejected = 0;
        boolean arrived = false;
        boolean content = false;
        for (Object[] row : coming) {
            boolean placed = odometer != null && odometer.has(row);
            long step = placed ? odometer.move(tick, row) : 0;
            if (step == Odometer.REJECTED) {
                rejected++;
                continue;
            }
            if (last == NEVER && plan.slide == LineagePlan.Slide.TICK && !plan.eager) {
                next = plan.boundary(Math.max(plan.start, tick));
            }
            last = tick;
            arrived = true;
            count++;
            if (plan.flag < 0 || Boolean.TRUE.equals(row[plan.flag])) {
                content = true;
                keep(tick, row, placed, placed && trail != null ? trail.follow(row) : step);
            }
        }
        if (rejected > 0) {
            out.put(tick, 0, false, rejected, null);
        }
        if (arrived) {
            after(tick, content, out);
        }
        advance(tick, out);
    }

    @Override
    public void advance(long closed, Out out) {
        if (last != NEVER && plan.forgetAfter >= 0 && closed > last + plan.forgetAfter) {
            long end = last + plan.forgetAfter;
            pass(end, out);
            drop(end + 1, out);
        } else {
            pass(closed, out);
        }
    }

    @Override
    public long wake() {
        long end = last == NEVER || plan.forgetAfter < 0 ? Long.MAX_VALUE : last + plan.forgetAfter + 1;
        return Math.min(due(), end);
    }

    @Override
    public boolean blank() {
        return last == NEVER && !plan.eager;
    }

    @Override
    public long held() {
        return panes.inside.size() + panes.waiting.size();
    }

    private long begin() {
        return plan.slide == LineagePlan.Slide.TICK ? plan.boundary(plan.start) : plan.first;
    }

    /** The next tick at which a window comes if no row does. */
    private long due() {
        long tick = Long.MAX_VALUE;
        if (plan.slide == LineagePlan.Slide.TICK) {
            tick = plan.eager || last != NEVER ? next : tick;
        } else if (plan.slide == LineagePlan.Slide.CHANGE && panes.inside.size() > 0) {
            tick = panes.age();
        }
        return tick > plan.until ? Long.MAX_VALUE : tick;
    }

    private void pass(long closed, Out out) {
        for (long tick = due(); tick <= closed && tick != Long.MAX_VALUE; tick = due()) {
            if (plan.slide == LineagePlan.Slide.TICK) {
                next += plan.step;
            }
            window(tick, tick, out);
        }
    }

    /** The window that the rows of a tick make. */
    private void after(long tick, boolean content, Out out) {
        switch (plan.slide) {
            case ARRIVAL:
                window(tick, tick, out);
                return;
            case INSIDE:
            case CHANGE:
                if (content) {
                    window(tick, tick, out);
                    return;
                }
                break;
            case INDEX:
            case DISTANCE:
                long reached = plan.slide == LineagePlan.Slide.INDEX ? count : odometer.distance();
                if (reached >= next) {
                    long mark = reached - (reached - plan.first) % plan.step;
                    next = mark + plan.step;
                    window(tick, mark, out);
                    return;
                }
                break;
            default:
        }
        forget(tick + 1);
    }

    private void keep(long tick, Object[] row, boolean placed, long step) {
        for (int at = 0; at < panes.now.length; at++) {
            panes.now[at] = at(plan.ranges[at].coordinate(), tick);
        }
        panes.add(tagged(tick, row), placed, step);
    }

    private long at(LineagePlan.Coordinate coordinate, long tick) {
        switch (coordinate) {
            case TICK:
                return tick;
            case INDEX:
                return count;
            default:
                return odometer.distance();
        }
    }

    private Object[] tagged(long tick, Object[] row) {
        int tags = plan.tags.length;
        if (tags == 0) {
            return row;
        }
        Object[] tuple = Arrays.copyOf(row, row.length + tags, Object[].class);
        for (int place = 0; place < tags; place++) {
            tuple[row.length + place] = at(plan.tags[place], tick);
        }
        return tuple;
    }

    /** Make the window of a tick, and tell of it. */
    private void window(long tick, long mark, Out out) {
        boolean changes = plan.output == LineagePlan.Output.CHANGES;
        told = true;
        if (plan.output != LineagePlan.Output.AGGREGATES) {
            out.put(tick, 1, false, 0, null);
        }
        for (int at = 0; at < plan.ranges.length; at++) {
            LineagePlan.Reach reach = plan.ranges[at];
            long base = reach.slides() ? mark : at(reach.coordinate(), tick);
            panes.lows[at] = reach.low(base);
            panes.highs[at] = reach.high(base);
        }
        while (panes.goes()) {
            if (changes) {
                out.put(tick, 1, true, -1, panes.row(panes.inside.get(0)));
            }
            panes.leave();
        }
        panes.skip();
        while (panes.comes()) {
            if (changes) {
                out.put(tick, 1, true, 1, panes.row(panes.waiting.get(0)));
            }
            panes.enter(panes.waiting.remove());
        }
        tell(tick, out);
        forget(tick + 1);
    }

    private void tell(long tick, Out out) {
        if (plan.output == LineagePlan.Output.AGGREGATES) {
            out.put(tick, 1, true, 0, panes.values());
        } else if (plan.output == LineagePlan.Output.CONTENT) {
            for (int place = 0; place < panes.inside.size(); place++) {
                out.put(tick, 1, true, place + 1, panes.row(panes.inside.get(place)));
            }
        }
    }

    /** Drop the rows that no window from a tick on can hold; but not those whose going matters. */
    private void forget(long tick) {
        if (plan.ranges.length == 0 || plan.slide == LineagePlan.Slide.CHANGE) {
            return;
        }
        for (int at = 0; at < plan.ranges.length; at++) {
            LineagePlan.Reach reach = plan.ranges[at];
            boolean more = reach.coordinate() == LineagePlan.Coordinate.INDEX && plan.slide != LineagePlan.Slide.TICK;
            panes.lows[at] = reach.low(reach.slides() ? next : at(reach.coordinate(), tick) + (more ? 1 : 0));
        }
        while (plan.output != LineagePlan.Output.CHANGES && panes.goes()) {
            panes.leave();
        }
        panes.skip();
    }

    /** Be new again, and tell it of a key that had a window: in changes all rows go, else there is a window 0. */
    private void drop(long tick, Out out) {
        if (told && tick <= plan.until) {
            boolean changes = plan.output == LineagePlan.Output.CHANGES;
            out.put(tick, changes ? 1 : 0, false, 0, null);
            for (int place = 0; changes && place < panes.inside.size(); place++) {
                out.put(tick, 1, true, -1, panes.row(panes.inside.get(place)));
            }
        }
        told = false;
        panes.clear();
        last = NEVER;
        count = 0;
        next = begin();
        if (odometer != null) {
            odometer.clear();
        }
        if (trail != null) {
            trail.clear();
        }
    }

    @Override
    public byte[] save() {
        Codec.Writer out = new Codec.Writer(LETTER);
        out.flag(last != NEVER);
        out.number(last == NEVER ? 0 : last);
        out.number(count);
        out.number(next);
        if (plan.forgetAfter >= 0) {
            out.flag(told);
        }
        if (odometer != null) {
            odometer.write(out);
        }
        if (trail != null) {
            trail.write(out);
        }
        panes.write(out);
        return out.done();
    }

    private void read(Codec.Reader in) {
        boolean began = in.flag();
        long tick = in.number();
        last = began ? tick : NEVER;
        count = in.number();
        next = in.number();
        told = plan.forgetAfter >= 0 && in.flag();
        if (odometer != null) {
            odometer.read(in);
        }
        if (trail != null) {
            trail.read(in);
        }
        panes.read(in);
    }
}
