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
import transom.kernel.machines.IntervalJoinMachine;
import transom.kernel.machines.MachineFactories;
import transom.kernel.state.Floats;

/**
 * Runs scripts on sliding windows and interval joins, for comparison with their Python twins.
 *
 * <p>Each line of the input is a script: {"spec": {...}, "script": [[command, ...], ...]}. The answer is a line with an
 * entry for each command that has a result. Commands for slide: [take, tick, row]; [close, tick] answers [rows, next
 * tick, held]; [restart] saves and loads the machine, and answers whether the state was empty. Commands for pairs:
 * [feed, tick, [[side, row], ...]] answers [rows, held]; [close, tick] answers the number of rows held; [restart].
 * Command for both: [load, bytes]. An output row is [tick, values]. A script that fails ends with {"error": ...}. A
 * line {"floats": [...]} is answered with the shortest decimals. A float is {"f": "0x1.8p0"}, a decimal {"d": "1.5"}.
 */
public final class SlidingWindowTwins {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonFactory ASCII_JSON =
            JsonFactory.builder().configure(JsonWriteFeature.ESCAPE_NON_ASCII, true).build();

    /** Prevents instantiation: the class only has a main method. */
    private SlidingWindowTwins() {}

    /** Reads scripts from the standard input and writes the answers to the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<Object> answers = answer(JSON.readTree(line));
            try (JsonGenerator json = ASCII_JSON.createGenerator(out)) {
                json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
                json.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
                write(answers.toArray(), json);
            }
            out.write('\n');
        }
        out.flush();
    }

    /** The answers to the commands of one script, with an error as the last one if it fails. */
    private static List<Object> answer(JsonNode request) {
        List<Object> answers = new ArrayList<>();
        if (request.has("floats")) {
            for (JsonNode number : request.get("floats")) {
                answers.add(Floats.shortestDecimal((Double) value(number)));
            }
            return answers;
        }
        try {
            String specification = request.get("spec").toString();
            if (request.get("spec").get("machine").asText().equals("slide")) {
                slide(MachineFactories.accumulators(specification), request.get("script"), answers);
            } else {
                pairs(MachineFactories.of(specification), request.get("script"), answers);
            }
        } catch (IllegalStateException | IllegalArgumentException | ArithmeticException refused) {
            answers.add(new Refusal(refused.getClass().getSimpleName() + ": " + refused.getMessage()));
        }
        return answers;
    }

    /** The last entry of a script that fails. */
    record Refusal(String message) {}

    /** Runs the commands of a script on a sliding window. */
    private static void slide(MachineFactories.AccumulatorFactory factory, JsonNode script, List<Object> answers) {
        Accumulator machine = factory.create();
        for (JsonNode step : script) {
            switch (step.get(0).asText()) {
                case "take":
                    machine.take(step.get(1).asLong(), (Object[]) value(step.get(2)));
                    break;
                case "close":
                    List<Object> rows = new ArrayList<>();
                    machine.advance(step.get(1).asLong(), recorder(rows));
                    long next = machine.nextTick();
                    answers.add(new Object[] {rows.toArray(), next == Long.MAX_VALUE ? null : next, machine.held()});
                    break;
                case "restart":
                    byte[] state = machine.save();
                    answers.add(state == null);
                    machine = state == null ? factory.create() : factory.load(state);
                    break;
                default:
                    factory.load(bytes(step.get(1)));
            }
        }
    }

    /** Runs the commands of a script on an interval join. */
    private static void pairs(MachineFactories.MachineFactory factory, JsonNode script, List<Object> answers) {
        Machine machine = factory.create();
        for (JsonNode step : script) {
            switch (step.get(0).asText()) {
                case "feed":
                    List<InputRow> inputs = new ArrayList<>();
                    for (JsonNode input : step.get(2)) {
                        Object[] row = (Object[]) value(input.get(1));
                        inputs.add(new InputRow(input.get(0).asInt(), 1, true, 1, null, new Object[0], row));
                    }
                    List<Object> rows = new ArrayList<>();
                    machine.feed(step.get(1).asLong(), inputs, recorder(rows));
                    answers.add(new Object[] {rows.toArray(), machine.held()});
                    break;
                case "close":
                    ((IntervalJoinMachine) machine).evict(step.get(1).asLong());
                    answers.add(machine.held());
                    break;
                case "restart":
                    machine = factory.load(machine.save());
                    break;
                default:
                    factory.load(bytes(step.get(1)));
            }
        }
    }

    /** An emitter that records rows with their ticks, and refuses markers and numbered windows. */
    private static Emitter recorder(List<Object> rows) {
        return (tick, seq, present, position, row) -> {
            if (seq != 1 || !present || position != 0) {
                throw new IllegalStateException("a row with window " + seq + " and position " + position);
            }
            rows.add(new Object[] {tick, row});
        };
    }

    /** Converts a JSON list of numbers to bytes. */
    static byte[] bytes(JsonNode numbers) {
        byte[] bytes = new byte[numbers.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) numbers.get(i).asInt();
        }
        return bytes;
    }

    /** Decodes a value, or a nested array of values. */
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
                for (int i = 0; i < parts.length; i++) {
                    parts[i] = value(cell.get(i));
                }
                return parts;
            default:
                if (!cell.canConvertToLong()) {
                    throw new IllegalArgumentException("an integer does not fit into a long: " + cell);
                }
                return cell.asLong();
        }
    }

    /** Encodes a value, an error or a nested array of values. */
    static void write(Object value, JsonGenerator json) throws IOException {
        if (value == null) {
            json.writeNull();
        } else if (value instanceof Object[] parts) {
            json.writeStartArray();
            for (Object part : parts) {
                write(part, json);
            }
            json.writeEndArray();
        } else if (value instanceof Long integer) {
            json.writeNumber(integer);
        } else if (value instanceof Boolean bool) {
            json.writeBoolean(bool);
        } else if (value instanceof String text) {
            json.writeString(text);
        } else if (value instanceof Double number) {
            write("f", Double.toHexString(number), json);
        } else if (value instanceof Refusal refusal) {
            write("error", refusal.message(), json);
        } else {
            write("d", ((BigDecimal) value).toString(), json);
        }
    }

    /** Encodes a text as a JSON object with one field. */
    private static void write(String name, String text, JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField(name, text);
        json.writeEndObject();
    }
}
