package transom.kernel.aggregates;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The aggregates of a specification, parsed once. Aggregates over the same values share one computation. */
public final class AggregateSpecs {
    /**
     * Identifies a computation that several aggregates can share, by function, argument type and argument index. SUM
     * also serves AVG; the index in a row is negative if there is no argument.
     */
    private record Source(SlidingAggregate.Function function, String type, int argument) {}

    private final SlidingAggregate.Function[] functions;
    private final int[] sourceIndexes;
    private final List<Source> distinctSources = new ArrayList<>();

    /**
     * Parses `entries`, the JSON list of a query's aggregates, and adds `offset` to each argument index. The offset is
     * the number of values before the arguments in a row.
     */
    public AggregateSpecs(JsonNode entries, int offset) {
        functions = new SlidingAggregate.Function[entries.size()];
        sourceIndexes = new int[functions.length];
        for (int i = 0; i < functions.length; i++) {
            JsonNode entry = entries.get(i);
            functions[i] = function(entry.path("function").asText());
            sourceIndexes[i] = sourceIndex(functions[i], entry, offset);
        }
        newAggregates(); // fails for an unknown type
    }

    /** Whether any aggregate is FIRST, LAST or PATH, whose result depends on the order of rows. */
    public boolean dependsOnOrder() {
        boolean result = false;
        for (SlidingAggregate.Function function : functions) {
            result |= function.dependsOnOrder();
        }
        return result;
    }

    /**
     * Creates the empty sliding aggregates of one group, one for each distinct computation. SUM(x) and AVG(x) share
     * one.
     */
    public SlidingAggregate[] newAggregates() {
        SlidingAggregate[] aggregates = new SlidingAggregate[distinctSources.size()];
        for (int i = 0; i < aggregates.length; i++) {
            Source source = distinctSources.get(i);
            aggregates[i] = SlidingAggregate.of(source.function(), source.type(), source.argument());
        }
        return aggregates;
    }

    /**
     * Returns the results of all aggregates of the query for a group's current window, in the order of the
     * specification. The `aggregates` are those of the group.
     */
    public Object[] values(SlidingAggregate[] aggregates) {
        Object[] values = new Object[functions.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = aggregates[sourceIndexes[i]].value(functions[i]);
        }
        return values;
    }

    /**
     * Converts the name of an aggregate function, such as `sum`, to its enum constant. Throws IllegalArgumentException
     * if it is unknown.
     */
    private static SlidingAggregate.Function function(String name) {
        try {
            return SlidingAggregate.Function.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException unknown) {
            throw new IllegalArgumentException("no sliding aggregate is called " + name, unknown);
        }
    }

    /**
     * Returns the index in `newAggregates()` of the computation of one aggregate, and adds the computation if it is
     * new. The aggregate is a `function` and its JSON `entry`, whose argument index is increased by `offset`.
     */
    private int sourceIndex(SlidingAggregate.Function function, JsonNode entry, int offset) {
        int argument = entry.path("argument").asInt(-1);
        boolean isCount = function == SlidingAggregate.Function.COUNT;
        boolean isPath = function == SlidingAggregate.Function.PATH;
        if (argument < 0 && !isCount && !isPath) {
            throw new IllegalArgumentException("a sliding " + function + " needs an argument");
        }
        boolean isMean = function == SlidingAggregate.Function.AVG;
        String type = isCount || isPath ? "" : entry.path("type").asText();
        int index = argument >= 0 ? argument + offset : argument;
        Source source = new Source(isMean ? SlidingAggregate.Function.SUM : function, type, index);
        if (!distinctSources.contains(source)) {
            distinctSources.add(source);
        }
        return distinctSources.indexOf(source);
    }
}
