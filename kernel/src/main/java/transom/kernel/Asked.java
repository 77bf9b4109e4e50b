package transom.kernel;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The aggregates that a specification asks for, read once, and the columns that these share. */
final class Asked {
    /** A column of panes: SUM and AVG of the same values share one. */
    private record Source(SlideColumn.Function function, String type, int argument) {}

    private final SlideColumn.Function[] functions;
    private final int[] sources;
    private final List<Source> distinct = new ArrayList<>();

    /** What stands in a specification; arguments are places of a row behind so many other values. */
    Asked(JsonNode aggregates, int before) {
        functions = new SlideColumn.Function[aggregates.size()];
        sources = new int[functions.length];
        for (int place = 0; place < functions.length; place++) {
            JsonNode aggregate = aggregates.get(place);
            functions[place] = function(aggregate.path("function").asText());
            sources[place] = source(functions[place], aggregate, before);
        }
        columns();
    }

    /** Whether one of them depends on the order of rows. */
    boolean inOrder() {
        boolean found = false;
        for (SlideColumn.Function function : functions) {
            found |= function.inOrder();
        }
        return found;
    }

    /** New columns for all of them. */
    SlideColumn[] columns() {
        SlideColumn[] columns = new SlideColumn[distinct.size()];
        for (int place = 0; place < columns.length; place++) {
            Source source = distinct.get(place);
            columns[place] = SlideColumn.of(source.function(), source.type(), source.argument());
        }
        return columns;
    }

    /** What the panes in the window come to, in the order in which it was asked for. */
    Object[] values(SlideColumn[] columns) {
        Object[] values = new Object[functions.length];
        for (int place = 0; place < values.length; place++) {
            values[place] = columns[sources[place]].value(functions[place]);
        }
        return values;
    }

    private static SlideColumn.Function function(String name) {
        try {
            return SlideColumn.Function.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException unknown) {
            throw new IllegalArgumentException("no sliding aggregate is called " + name, unknown);
        }
    }

    private int source(SlideColumn.Function function, JsonNode aggregate, int before) {
        int argument = aggregate.path("argument").asInt(-1);
        boolean count = function == SlideColumn.Function.COUNT;
        boolean path = function == SlideColumn.Function.PATH;
        if (argument < 0 && !count && !path) {
            throw new IllegalArgumentException("a sliding " + function + " needs an argument");
        }
        boolean mean = function == SlideColumn.Function.AVG;
        String type = count || path ? "" : aggregate.path("type").asText();
        int place = argument >= 0 ? argument + before : argument;
        Source source = new Source(mean ? SlideColumn.Function.SUM : function, type, place);
        if (!distinct.contains(source)) {
            distinct.add(source);
        }
        return distinct.indexOf(source);
    }
}
