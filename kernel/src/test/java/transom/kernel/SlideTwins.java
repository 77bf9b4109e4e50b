package transom.kernel;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Drives slide and pairs by scripts, so that their Python twins can be compared with them.
 *
 * <p>Each line of the input is a script: {"spec": {...}, "script": [[word, ...], ...]}; the answer is a line with an
 * entry for each word that says something. For slide: [take, tick, row]; [close, tick], which says [rows, next,
 * held]; [restart], which saves and loads, and says whether nothing was saved. For pairs: [feed, tick, [[side, row],
 * ...]], which says [rows, held]; [close, tick], which says what is held; [restart]. For both: [load, bytes]. A row
 * that comes out is [tick, values]. A script that fails ends with {"error": ...}. A line {"floats": [...]} is
 * answered with the digits of each. A float is {"f": "0x1.8p0"}, a decimal {"d": "1.5"}.
 */
public final class SlideTwins {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonFactory PLAIN =
            JsonFactory.builder().configure(JsonWriteFeature.ESCAPE_NON_ASCII, true).build();

    private SlideTwins() {}

    /** Answers the scripts of the standard input on the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<Object> said = answer(JSON.readTree(line));
            try (JsonGenerator answer = PLAIN.createGenerator(out)) {
                answer.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
                answer.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
                write(said.toArray(), answer);
            }
            out.write('\n');
        }
        out.flush();
    }

    private static List<Object> answer(JsonNode task) {
        List<Object> said = new ArrayList<>();
        if (task.has("floats")) {
            for (JsonNode number : task.get("floats")) {
                said.add(Floats.shortest((Double) value(number)));
            }
            return said;
        }
        try {
            String specification = task.get("spec").toString();
            if (task.get("spec").get("machine").asText().equals("slide")) {
                slide(Machines.gathering(specification), task.get("script"), said);
            } else {
                pairs(Machines.of(specification), task.get("script"), said);
            }
        } catch (IllegalStateException | IllegalArgumentException | ArithmeticException refusal) {
            said.add(new Refusal(refusal.getClass().getSimpleName() + ": " + refusal.getMessage()));
        }
        return said;
    }

    /** What a script that fails ends with. */
    record Refusal(String message) {}

    private static void slide(Machines.Gatherer gatherer, JsonNode script, List<Object> said) {
        Gathering machine = gatherer.fresh();
        for (JsonNode step : script) {
            switch (step.get(0).asText()) {
                case "take":
                    machine.take(step.get(1).asLong(), (Object[]) value(step.get(2)));
                    break;
                case "close":
                    List<Object> rows = new ArrayList<>();
                    machine.advance(step.get(1).asLong(), into(rows));
                    long next = machine.next();
                    said.add(new Object[] {rows.toArray(), next == Long.MAX_VALUE ? null : next, machine.held()});
                    break;
                case "restart":
                    byte[] state = machine.save();
                    said.add(state == null);
                    machine = state == null ? gatherer.fresh() : gatherer.load(state);
                    break;
                default:
                    gatherer.load(bytes(step.get(1)));
            }
        }
    }

    private static void pairs(Machines.Maker maker, JsonNode script, List<Object> said) {
        Machine machine = maker.fresh();
        for (JsonNode step : script) {
            switch (step.get(0).asText()) {
                case "feed":
                    List<Arrival> arrivals = new ArrayList<>();
                    for (JsonNode arrival : step.get(2)) {
                        Object[] row = (Object[]) value(arrival.get(1));
                        arrivals.add(new Arrival(arrival.get(0).asInt(), 1, true, 1, null, new Object[0], row));
                    }
                    List<Object> rows = new ArrayList<>();
                    machine.feed(step.get(1).asLong(), arrivals, into(rows));
                    said.add(new Object[] {rows.toArray(), machine.held()});
                    break;
                case "close":
                    ((Pairs) machine).forget(step.get(1).asLong());
                    said.add(machine.held());
                    break;
                case "restart":
                    machine = maker.load(machine.save());
                    break;
                default:
                    maker.load(bytes(step.get(1)));
            }
        }
    }

    private static Out into(List<Object> rows) {
        return (tick, seq, present, place, row) -> {
            if (seq != 1 || !present || place != 0) {
                throw new IllegalStateException("a row with window " + seq + " and place " + place);
            }
            rows.add(new Object[] {tick, row});
        };
    }

    static byte[] bytes(JsonNode numbers) {
        byte[] bytes = new byte[numbers.size()];
        for (int place = 0; place < bytes.length; place++) {
            bytes[place] = (byte) numbers.get(place).asInt();
        }
        return bytes;
    }

    static Object value(JsonNode cell) {
        switch (cell.getNodeType()) {
            case NULL:
                return null;
            case BOOLEAN:
                return cell.asBoolean();
            case STRING:
                return cell.asText();
            case OBJECT:
                if (cell.has("f")) {
                    return Double.valueOf(cell.get("f").asText());
                }
                return new BigDecimal(cell.get("d").asText());
            case ARRAY:
                Object[] parts = new Object[cell.size()];
                for (int place = 0; place < parts.length; place++) {
                    parts[place] = value(cell.get(place));
                }
                return parts;
            default:
                if (!cell.canConvertToLong()) {
                    throw new IllegalArgumentException("no whole number of ours is " + cell);
                }
                return cell.asLong();
        }
    }

    static void write(Object value, JsonGenerator answer) throws IOException {
        if (value == null) {
            answer.writeNull();
        } else if (value instanceof Object[] parts) {
            answer.writeStartArray();
            for (Object part : parts) {
                write(part, answer);
            }
            answer.writeEndArray();
        } else if (value instanceof Long whole) {
            answer.writeNumber(whole);
        } else if (value instanceof Boolean truth) {
            answer.writeBoolean(truth);
        } else if (value instanceof String text) {
            answer.writeString(text);
        } else if (value instanceof Double size) {
            write("f", Double.toHexString(size), answer);
        } else if (value instanceof Refusal refusal) {
            write("error", refusal.message(), answer);
        } else {
            write("d", ((BigDecimal) value).toString(), answer);
        }
    }

    private static void write(String name, String text, JsonGenerator answer) throws IOException {
        answer.writeStartObject();
        answer.writeStringField(name, text);
        answer.writeEndObject();
    }
}
