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

/**
 * Drives machines by cases, so that their Python twins can be compared with them.
 *
 * <p>Each line of the input is a case: {"spec": {...}, "ticks": [[tick, [arrival, ...]], ...], "restart": [place,
 * ...]}. An arrival is [side, seq, present, sign, order, key, row]; the rows of a tick are put in order here. A
 * third entry of a tick, for windows, says up to which tick all is closed after it. After the ticks at the places of
 * `restart` the machine is saved and loaded again. The answer is a line with, for each tick, what came out, as
 * [tick, seq, present, place, row], and how many rows are held; a case that fails is answered with {"error":
 * message}. A case {"spec": {...}, "spoil": [place, byte]} loads the state of a fresh machine in which one byte is
 * changed, or, for the place -1, a state of no bytes.
 */
public final class Twins {
    private static final ObjectMapper JSON = new ObjectMapper(
            JsonFactory.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build());
    private static final JsonFactory PLAIN = JsonFactory.builder()
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS)
            .build();

    private Twins() {}

    /** Answers the cases of the standard input on the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            try (JsonGenerator answer = PLAIN.createGenerator(out)) {
                answer.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
                answer.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
                answer(JSON.readTree(line), answer);
            }
            out.write('\n');
        }
        out.flush();
    }

    private static void answer(JsonNode task, JsonGenerator answer) throws IOException {
        List<Object> said = new ArrayList<>();
        String problem = null;
        try {
            Machines.Maker maker = Machines.of(task.get("spec").toString());
            if (task.has("spoil")) {
                JsonNode spoil = task.get("spoil");
                maker.load(spoilt(maker.fresh().save(), spoil.get(0).asInt(), spoil.get(1).asInt()));
            } else {
                run(maker, task, said);
            }
        } catch (IllegalStateException | IllegalArgumentException refusal) {
            problem = String.valueOf(refusal.getMessage());
        }
        if (problem == null) {
            write(said.toArray(), answer);
            return;
        }
        answer.writeStartObject();
        answer.writeStringField("error", problem);
        answer.writeEndObject();
    }

    private static void run(Machines.Maker maker, JsonNode task, List<Object> said) {
        Set<Integer> restarts = new HashSet<>();
        task.path("restart").forEach(place -> restarts.add(place.asInt()));
        Machine machine = maker.fresh();
        JsonNode ticks = task.get("ticks");
        for (int place = 0; place < ticks.size(); place++) {
            JsonNode entry = ticks.get(place);
            List<Object> departures = new ArrayList<>();
            Out out = (tick, seq, present, where, row) ->
                    departures.add(new Object[] {tick, (long) seq, present, where, row});
            List<Arrival> arrivals = new ArrayList<>();
            for (JsonNode arrival : entry.get(1)) {
                arrivals.add(arrival(arrival));
            }
            arrivals.sort(Values.IN_ORDER);
            machine.feed(entry.get(0).asLong(), arrivals, out);
            if (entry.size() > 2 && machine instanceof Window window) {
                window.advance(entry.get(2).asLong(), out);
            }
            said.add(new Object[] {departures.toArray(), machine.held()});
            if (restarts.contains(place)) {
                machine = maker.load(machine.save());
            }
        }
    }

    private static byte[] spoilt(byte[] state, int place, int value) {
        if (place < 0) {
            return new byte[0];
        }
        state[place] = (byte) value;
        return state;
    }

    private static Arrival arrival(JsonNode parts) {
        return new Arrival(
                parts.get(0).asInt(),
                parts.get(1).asInt(),
                parts.get(2).asBoolean(),
                parts.get(3).asInt(),
                value(parts.get(4)),
                (Object[]) value(parts.get(5)),
                (Object[]) value(parts.get(6)));
    }

    /** A value, or an array of values and arrays, as the Python side writes it. */
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
                for (int place = 0; place < parts.length; place++) {
                    parts[place] = value(cell.get(place));
                }
                return parts;
            default:
                if (!cell.isIntegralNumber()) {
                    return cell.asDouble();
                }
                if (!cell.canConvertToLong()) {
                    throw new IllegalArgumentException("no whole number of ours is " + cell);
                }
                return cell.asLong();
        }
    }

    /** The same as text. */
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
        } else if (value instanceof Double size) {
            answer.writeNumber(size);
        } else if (value instanceof Boolean truth) {
            answer.writeBoolean(truth);
        } else if (value instanceof String text) {
            answer.writeString(text);
        } else {
            answer.writeStartObject();
            answer.writeStringField("d", value.toString());
            answer.writeEndObject();
        }
    }
}
