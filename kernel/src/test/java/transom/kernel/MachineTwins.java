package transom.kernel;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonReadFeature;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import transom.kernel.machines.MachineFactories;
import transom.kernel.state.Values;
import transom.kernel.windows.WindowMachine;

/**
 * Runs cases on machines, for comparison with their Python twins.
 *
 * <p>Each line of the input is a case: {"spec": {...}, "ticks": [[tick, [input, ...]], ...], "restart": [index, ...]}.
 * An input row is [side, seq, present, sign, order, key, row]; the driver sorts the rows of a tick. For windows, a
 * third entry of a tick is the tick up to which all is closed afterwards. After the ticks at the indexes of `restart`,
 * the machine is saved and loaded. The answer is a line with the emissions of each tick, as [tick, seq, present,
 * position, row], and the number of rows held. A case that fails is answered with {"error": message}. A case {"spec":
 * {...}, "spoil": [index, byte]} loads the state of a new machine with one byte changed, or an empty state for the
 * index -1.
 */
public final class MachineTwins {
    private static final ObjectMapper JSON = new ObjectMapper(
            JsonFactory.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build());
    private static final JsonFactory ASCII_JSON = JsonFactory.builder()
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS)
            .build();

    /** Prevents instantiation: the class only has a main method. */
    private MachineTwins() {}

    /** Reads cases from the standard input and writes the answers to the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try (JsonGenerator json = ASCII_JSON.createGenerator(out)) {
                json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
                json.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
                answer(JSON.readTree(line), json);
            }
            out.write('\n');
        }
        out.flush();
    }

    /** Runs one case and writes its emissions, or its error, as JSON. */
    private static void answer(JsonNode request, JsonGenerator json) throws IOException {
        List<Object> answers = new ArrayList<>();
        String error = null;
        try {
            MachineFactories.MachineFactory factory = MachineFactories.of(request.get("spec").toString());
            if (request.has("spoil")) {
                JsonNode spoil = request.get("spoil");
                factory.load(corrupted(factory.create().save(), spoil.get(0).asInt(), spoil.get(1).asInt()));
            } else {
                run(factory, request, answers);
            }
        } catch (IllegalStateException | IllegalArgumentException refused) {
            error = String.valueOf(refused.getMessage());
        }
        if (error == null) {
            write(answers.toArray(), json);
            return;
        }
        json.writeStartObject();
        json.writeStringField("error", error);
        json.writeEndObject();
    }

    /** Feeds the ticks of a case to a machine, with restarts, and records the emissions of each tick. */
    private static void run(MachineFactories.MachineFactory factory, JsonNode request, List<Object> answers) {
        Set<Integer> restarts = new HashSet<>();
        request.path("restart").forEach(index -> restarts.add(index.asInt()));
        Machine machine = factory.create();
        JsonNode ticks = request.get("ticks");
        for (int i = 0; i < ticks.size(); i++) {
            JsonNode entry = ticks.get(i);
            List<Object> emissions = new ArrayList<>();
            Emitter out = (tick, seq, present, position, row) ->
                    emissions.add(new Object[] {tick, (long) seq, present, position, row});
            List<InputRow> inputs = new ArrayList<>();
            for (JsonNode input : entry.get(1)) {
                inputs.add(input(input));
            }
            inputs.sort(Values.INPUT_ORDER);
            machine.feed(entry.get(0).asLong(), inputs, out);
            if (entry.size() > 2 && machine instanceof WindowMachine window) {
                window.advance(entry.get(2).asLong(), out);
            }
            answers.add(new Object[] {emissions.toArray(), machine.held()});
            if (restarts.contains(i)) {
                machine = factory.load(machine.save());
            }
        }
    }

    /** Changes one byte of a state; an empty state for a negative index. */
    private static byte[] corrupted(byte[] state, int index, int value) {
        if (index < 0) {
            return new byte[0];
        }
        state[index] = (byte) value;
        return state;
    }

    /** Decodes an input row from its JSON list. */
    private static InputRow input(JsonNode parts) {
        return new InputRow(
                parts.get(0).asInt(),
                parts.get(1).asInt(),
                parts.get(2).asBoolean(),
                parts.get(3).asInt(),
                value(parts.get(4)),
                (Object[]) value(parts.get(5)),
                (Object[]) value(parts.get(6)));
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
                return new BigDecimal(cell.get("d").asText());
            case ARRAY:
                Object[] parts = new Object[cell.size()];
                for (int i = 0; i < parts.length; i++) {
                    parts[i] = value(cell.get(i));
                }
                return parts;
            default:
                if (!cell.isIntegralNumber()) {
                    return cell.asDouble();
                }
                if (!cell.canConvertToLong()) {
                    throw new IllegalArgumentException("an integer does not fit into a long: " + cell);
                }
                return cell.asLong();
        }
    }

    /** Encodes a value, or a nested array of values. */
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
        } else if (value instanceof Double number) {
            json.writeNumber(number);
        } else if (value instanceof Boolean bool) {
            json.writeBoolean(bool);
        } else if (value instanceof String text) {
            json.writeString(text);
        } else {
            json.writeStartObject();
            json.writeStringField("d", value.toString());
            json.writeEndObject();
        }
    }
}
