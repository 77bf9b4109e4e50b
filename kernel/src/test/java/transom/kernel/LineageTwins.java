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
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Drives machines that share buckets by scripts, alone or in a bucket, so that their Python twins can be compared.
 *
 * <p>Each line of the input is a script: {"spec": {...}, "script": [[word, ...], ...]}. For one machine: [take, tick,
 * rows] and [close, tick] say [what is told, held, wake, blank]; [restart] saves and loads. For a bucket, with
 * "bucket": true: [run, [[tick, key, row], ...], closed] says [what is told with its key, held, keys, wake]; a row may
 * be null; [restart]. For both: [load, bytes]. What is told is [tick, seq, present, place, row]. A script that fails
 * ends with {"error": ...}. Values are written as for SlideTwins.
 */
public final class LineageTwins {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonFactory PLAIN =
            JsonFactory.builder().configure(JsonWriteFeature.ESCAPE_NON_ASCII, true).build();

    private LineageTwins() {}

    /** Answers the scripts of the standard input on the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<Object> said = answer(JSON.readTree(line));
            try (JsonGenerator answer = PLAIN.createGenerator(out)) {
                answer.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
                answer.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
                SlideTwins.write(said.toArray(), answer);
            }
            out.write('\n');
        }
        out.flush();
    }

    private static List<Object> answer(JsonNode task) {
        List<Object> said = new ArrayList<>();
        try {
            Machines.TimedMaker maker = Machines.timed(task.get("spec").toString());
            if (task.path("bucket").asBoolean()) {
                bucket(maker, task.get("script"), said);
            } else {
                machine(maker, task.get("script"), said);
            }
        } catch (IllegalStateException | IllegalArgumentException | ArithmeticException refusal) {
            said.add(new SlideTwins.Refusal(refusal.getClass().getSimpleName() + ": " + refusal.getMessage()));
        }
        return said;
    }

    private static void machine(Machines.TimedMaker maker, JsonNode script, List<Object> said) {
        Timed machine = maker.fresh();
        for (JsonNode step : script) {
            List<Object> told = new ArrayList<>();
            switch (step.get(0).asText()) {
                case "take":
                    List<Object[]> rows = new ArrayList<>();
                    step.get(2).forEach(row -> rows.add((Object[]) SlideTwins.value(row)));
                    machine.take(step.get(1).asLong(), rows, into(told));
                    break;
                case "close":
                    machine.advance(step.get(1).asLong(), into(told));
                    break;
                case "restart":
                    machine = maker.load(machine.save());
                    continue;
                default:
                    maker.load(SlideTwins.bytes(step.get(1)));
                    continue;
            }
            said.add(new Object[] {told.toArray(), machine.held(), tick(machine.wake()), machine.blank()});
        }
    }

    private static void bucket(Machines.TimedMaker maker, JsonNode script, List<Object> said) {
        Bucket bucket = new Bucket(maker, null);
        for (JsonNode step : script) {
            switch (step.get(0).asText()) {
                case "run":
                    List<Coming> rows = new ArrayList<>();
                    for (JsonNode row : step.get(1)) {
                        Object[] key = (Object[]) SlideTwins.value(row.get(1));
                        boolean present = !row.get(2).isNull();
                        Object[] values = (Object[]) SlideTwins.value(row.get(2));
                        long order = rows.size();
                        rows.add(new Coming(row.get(0).asLong(), new Arrival(0, 1, present, 1, order, key, values)));
                    }
                    List<Object> told = new ArrayList<>();
                    bucket.run(rows, step.get(2).asLong(), key -> {
                        List<Object> entries = new ArrayList<>();
                        told.add(new Object[] {key, entries});
                        return into(entries);
                    });
                    said.add(new Object[] {flat(told), bucket.held(), (long) bucket.keys(), tick(bucket.wake())});
                    break;
                case "restart":
                    byte[] state = bucket.save();
                    said.add(state == null);
                    bucket = new Bucket(maker, state);
                    break;
                default:
                    new Bucket(maker, SlideTwins.bytes(step.get(1)));
            }
        }
    }

    /** What is told, each with its key. */
    private static Object[] flat(List<Object> told) {
        List<Object> all = new ArrayList<>();
        for (Object entry : told) {
            Object[] both = (Object[]) entry;
            for (Object one : (List<?>) both[1]) {
                all.add(new Object[] {both[0], one});
            }
        }
        return all.toArray();
    }

    private static Object tick(long tick) {
        return tick == Long.MAX_VALUE ? null : tick;
    }

    private static Out into(List<Object> told) {
        return (tick, seq, present, place, row) -> told.add(new Object[] {tick, (long) seq, present, place, row});
    }
}
