package transom.kernel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Follows paths of any length through edges which arrive as changes.
 *
 * <p>A row of side 0 is an edge, one of side 1 is a statement: from each of its terms a path of no step leads to itself.
 * All changes of a tick act at once. What comes out are the pairs between which a path leads, each once, in window 1;
 * the place is a signed count. Keeps edges and terms, not pairs.
 */
public final class Paths implements Machine {
    private static final char LETTER = 'Q';

    /**
     * What a machine is told.
     *
     * @param repeats whether a path is one edge or more, and not just one
     * @param start where all paths begin, or null
     */
    public record Plan(boolean repeats, String start) {}

    private final Plan plan;
    private final Map<RowKey, Long> edges = new LinkedHashMap<>();
    private final Map<RowKey, Long> nodes = new LinkedHashMap<>();

    /** A machine that has seen nothing. */
    public Paths(Plan plan) {
        this.plan = plan;
    }

    /** The machine as it was when it was saved. */
    public static Paths load(Plan plan, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "paths");
        Paths machine = new Paths(plan);
        for (Map<RowKey, Long> bag : List.of(machine.edges, machine.nodes)) {
            Changes.load(reader, bag);
        }
        return machine;
    }

    @Override
    public void feed(long tick, List<Arrival> arrivals, Out out) {
        Changes.putMarker(tick, arrivals, out);
        Set<RowKey> edgesBefore = new LinkedHashSet<>(edges.keySet());
        Set<RowKey> nodesBefore = new LinkedHashSet<>(nodes.keySet());
        for (Arrival arrival : arrivals) {
            if (!arrival.present()) {
                continue;
            }
            if (arrival.side() == 0) {
                edges.merge(new RowKey(arrival.row()), (long) arrival.sign(), Long::sum);
                continue;
            }
            for (Object term : arrival.row()) {
                nodes.merge(new RowKey(new Object[] {term}), (long) arrival.sign(), Long::sum);
            }
        }
        tidy(edges);
        tidy(nodes);
        Map<RowKey, Long> pairs = new LinkedHashMap<>();
        Set<String> touched = touched(edgesBefore, nodesBefore);
        add(pairs, touched, edgesBefore, nodesBefore, -1);
        add(pairs, touched, edges.keySet(), nodes.keySet(), 1);
        Changes.put(tick, 1, pairs, 0, out);
    }

    /** Drop the rows that are gone. */
    private static void tidy(Map<RowKey, Long> bag) {
        bag.values().removeIf(count -> {
            if (count < 0) {
                throw new IllegalStateException("a row is retracted that was never added");
            }
            return count == 0;
        });
    }

    /** The terms from which other paths may lead now than before. */
    private Set<String> touched(Set<RowKey> edgesBefore, Set<RowKey> nodesBefore) {
        Set<String> found = new LinkedHashSet<>();
        difference(edgesBefore, edges.keySet()).forEach(edge -> found.add(term(edge, 0)));
        if (plan.repeats && !found.isEmpty()) {
            found.addAll(reached(List.copyOf(found), adjacent(edges.keySet(), 1, 0)));
        }
        difference(nodesBefore, nodes.keySet()).forEach(node -> found.add(term(node, 0)));
        if (plan.start != null) {
            found.retainAll(Set.of(plan.start));
        }
        return found;
    }

    private static Set<RowKey> difference(Set<RowKey> one, Set<RowKey> other) {
        Set<RowKey> found = new LinkedHashSet<>(one);
        found.removeAll(new HashSet<>(other));
        for (RowKey row : other) {
            if (!one.contains(row)) {
                found.add(row);
            }
        }
        return found;
    }

    /** Count the pairs that begin at some terms. */
    private void add(
            Map<RowKey, Long> pairs, Set<String> starts, Set<RowKey> between, Set<RowKey> terms, long sign) {
        Map<String, List<String>> onward = adjacent(between, 0, 1);
        for (String start : starts) {
            Set<String> ends = plan.repeats
                    ? reached(List.of(start), onward)
                    : new LinkedHashSet<>(onward.getOrDefault(start, List.of()));
            if (terms.contains(new RowKey(new Object[] {start}))) {
                ends.add(start);
            }
            for (String end : ends) {
                pairs.merge(new RowKey(new Object[] {start, end}), sign, Long::sum);
            }
        }
    }

    /** Where the edges from each term lead. */
    private static Map<String, List<String>> adjacent(Collection<RowKey> edges, int from, int to) {
        Map<String, List<String>> found = new HashMap<>();
        for (RowKey edge : edges) {
            found.computeIfAbsent(term(edge, from), term -> new ArrayList<>()).add(term(edge, to));
        }
        return found;
    }

    /** The terms that one edge or more lead to. */
    private static Set<String> reached(Collection<String> starts, Map<String, List<String>> onward) {
        Set<String> found = new LinkedHashSet<>();
        Deque<String> waiting = new ArrayDeque<>(starts);
        while (!waiting.isEmpty()) {
            for (String term : onward.getOrDefault(waiting.pop(), List.of())) {
                if (found.add(term)) {
                    waiting.push(term);
                }
            }
        }
        return found;
    }

    private static String term(RowKey row, int place) {
        return (String) row.row()[place];
    }

    @Override
    public byte[] save() {
        return Changes.save(LETTER, List.of(edges, nodes));
    }

    @Override
    public long held() {
        return Changes.held(List.of(edges, nodes));
    }

    @Override
    public boolean forgets() {
        return true;
    }
}
