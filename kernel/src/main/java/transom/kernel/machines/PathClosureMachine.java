package transom.kernel.machines;

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
import transom.kernel.Emitter;
import transom.kernel.InputRow;
import transom.kernel.Machine;
import transom.kernel.StateVisitor;
import transom.kernel.state.ChangeRows;
import transom.kernel.state.Codec;
import transom.kernel.state.RowKey;

/**
 * Maintains the transitive closure of a changelog of edges, for property paths.
 *
 * <p>A row of side 0 is an edge. A row of side 1 is a statement: a path of length 0 connects each of its terms to
 * itself. All changes of a tick apply at once. The output is the changes of the distinct connected pairs, in window 1,
 * with signed counts. The state holds edges and terms, not pairs.
 */
public final class PathClosureMachine implements Machine {
    private static final char LETTER = 'Q';

    /**
     * The parameters of a SPARQL property path: whether it may have more than one edge, and the term at which all paths
     * start (null: any term).
     *
     * @param repeats whether a path may have more than one edge
     * @param start the start of all paths, or null for any start
     */
    public record Spec(boolean repeats, String start) {}

    private final Spec spec;
    private final Map<RowKey, Long> edges = new LinkedHashMap<>();
    private final Map<RowKey, Long> nodes = new LinkedHashMap<>();

    /** Creates the state of a property path over a graph without edges and terms. */
    public PathClosureMachine(Spec spec) {
        this.spec = spec;
    }

    /**
     * Restores the graph of a property path, with its current edges and terms, from the bytes of `save`. `spec` says
     * whether edges may repeat and where paths start.
     */
    public static PathClosureMachine load(Spec spec, byte[] state) {
        Codec.Reader reader = new Codec.Reader(state, LETTER, "paths");
        PathClosureMachine machine = new PathClosureMachine(spec);
        for (Map<RowKey, Long> bag : List.of(machine.edges, machine.nodes)) {
            ChangeRows.readBag(reader, bag);
        }
        return machine;
    }

    /**
     * Applies a tick's changes of edges (side 0) and statements (side 1) to the graph, and emits to `out` the resulting
     * changes of the pairs of connected terms. The terms of the statements are the graph's nodes.
     */
    @Override
    public void feed(long tick, List<InputRow> inputs, Emitter out) {
        ChangeRows.emitMarker(tick, inputs, out);
        Set<RowKey> edgesBefore = new LinkedHashSet<>(edges.keySet());
        Set<RowKey> nodesBefore = new LinkedHashSet<>(nodes.keySet());
        for (InputRow input : inputs) {
            if (!input.present()) {
                continue;
            }
            if (input.side() == 0) {
                edges.merge(new RowKey(input.row()), (long) input.sign(), Long::sum);
                continue;
            }
            for (Object term : input.row()) {
                nodes.merge(new RowKey(new Object[] {term}), (long) input.sign(), Long::sum);
            }
        }
        dropRemoved(edges);
        dropRemoved(nodes);
        Map<RowKey, Long> pairs = new LinkedHashMap<>();
        Set<String> affectedStarts = affectedStarts(edgesBefore, nodesBefore);
        addPairs(pairs, affectedStarts, edgesBefore, nodesBefore, -1);
        addPairs(pairs, affectedStarts, edges.keySet(), nodes.keySet(), 1);
        ChangeRows.emitChanges(tick, 1, pairs, 0, out);
    }

    /**
     * Drops the rows whose count has become 0 from a map of rows to counts. Throws IllegalStateException if a count is
     * negative, as a row was retracted that was never inserted.
     */
    private static void dropRemoved(Map<RowKey, Long> bag) {
        bag.values().removeIf(count -> {
            if (count < 0) {
                throw new IllegalStateException("a row is retracted that was never added");
            }
            return count == 0;
        });
    }

    /**
     * Returns the terms from which the set of reachable terms may have changed at this tick. It compares `edgesBefore`
     * and `nodesBefore`, those of the previous tick, with the current ones.
     */
    private Set<String> affectedStarts(Set<RowKey> edgesBefore, Set<RowKey> nodesBefore) {
        Set<String> result = new LinkedHashSet<>();
        symmetricDifference(edgesBefore, edges.keySet()).forEach(edge -> result.add(term(edge, 0)));
        if (spec.repeats && !result.isEmpty()) {
            result.addAll(reachable(List.copyOf(result), adjacency(edges.keySet(), 1, 0)));
        }
        symmetricDifference(nodesBefore, nodes.keySet()).forEach(node -> result.add(term(node, 0)));
        if (spec.start != null) {
            result.retainAll(Set.of(spec.start));
        }
        return result;
    }

    /** Returns the edges or nodes that are in exactly one of two sets: those inserted or retracted at a tick. */
    private static Set<RowKey> symmetricDifference(Set<RowKey> left, Set<RowKey> right) {
        Set<RowKey> result = new LinkedHashSet<>(left);
        result.removeAll(new HashSet<>(right));
        for (RowKey row : right) {
            if (!left.contains(row)) {
                result.add(row);
            }
        }
        return result;
    }

    /**
     * Adds to `pairs` every pair of a term in `starts` and a term that a path connects to it; the pairs are insertions
     * if `sign` is 1 or retractions if it is -1; the graph has the edges `edgeRows` and the nodes `terms`.
     */
    private void addPairs(
            Map<RowKey, Long> pairs, Set<String> starts, Set<RowKey> edgeRows, Set<RowKey> terms, long sign) {
        Map<String, List<String>> adjacency = adjacency(edgeRows, 0, 1);
        for (String start : starts) {
            Set<String> ends = spec.repeats
                    ? reachable(List.of(start), adjacency)
                    : new LinkedHashSet<>(adjacency.getOrDefault(start, List.of()));
            if (terms.contains(new RowKey(new Object[] {start}))) {
                ends.add(start);
            }
            for (String end : ends) {
                pairs.merge(new RowKey(new Object[] {start, end}), sign, Long::sum);
            }
        }
    }

    /**
     * Maps each term of a graph to its neighbours, along the edges or against them; edges lead from the term in column
     * `fromColumn` to that in `toColumn` (column 0 is the start of an edge, 1 its end).
     */
    private static Map<String, List<String>> adjacency(Collection<RowKey> edges, int fromColumn, int toColumn) {
        Map<String, List<String>> result = new HashMap<>();
        for (RowKey edge : edges) {
            result.computeIfAbsent(term(edge, fromColumn), term -> new ArrayList<>()).add(term(edge, toColumn));
        }
        return result;
    }

    /**
     * Returns the terms that paths of one or more edges reach from any of `starts`; `adjacency` maps a term to its
     * neighbours.
     */
    private static Set<String> reachable(Collection<String> starts, Map<String, List<String>> adjacency) {
        Set<String> result = new LinkedHashSet<>();
        Deque<String> stack = new ArrayDeque<>(starts);
        while (!stack.isEmpty()) {
            for (String term : adjacency.getOrDefault(stack.pop(), List.of())) {
                if (result.add(term)) {
                    stack.push(term);
                }
            }
        }
        return result;
    }

    /** Returns the RDF term in column `index` (0 or 1) of an edge row or of a node row, as a string. */
    private static String term(RowKey row, int index) {
        return (String) row.row()[index];
    }

    /** Passes to `visitor`, for inspection, the edges and the terms of the graph, with their counts. */
    @Override
    public void visit(StateVisitor visitor) {
        ChangeRows.visit(List.of(edges, nodes), visitor);
    }

    /** Encodes the graph's current edges and terms, with their counts, for Spark's state store. */
    @Override
    public byte[] save() {
        return ChangeRows.writeBags(LETTER, List.of(edges, nodes));
    }

    /** The number of edges and terms of the graph in the state, counting duplicates. */
    @Override
    public long held() {
        return ChangeRows.countRows(List.of(edges, nodes));
    }

    /** Always true: a graph without edges and terms equals a new one, so that its state can be deleted. */
    @Override
    public boolean dropsEmptyState() {
        return true;
    }
}
