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
import transom.kernel.machines.Bucket;
import transom.kernel.machines.MachineFactories;
import transom.kernel.state.TimedRow;

/**
 * Runs scripts on machines that share buckets, alone or in a bucket, for comparison with their Python twins.
 *
 * <p>Each line of the input is a script: {"spec": {...}, "script": [[command, ...], ...]}. Commands for one machine:
 * [take, tick, rows] and [close, tick] answer [emissions, held, next wakeup, is empty]; [restart] saves and loads the
 * machine. Commands for a bucket, with "bucket": true: [run, [[tick, key, row], ...], closed] answers [emissions with
 * their keys, held, keys, next wakeup], where a row may be null; [restart]. Command for both: [load, bytes]. An
 * emission is [tick, seq, present, position, row]. A script that fails ends with {"error": ...}. Values are encoded as
 * in SlidingWindowTwins.
 */
public final class KeyedWindowTwins {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonFactory ASCII_JSON =
            JsonFactory.builder().configure(JsonWriteFeature.ESCAPE_NON_ASCII, true).build();

    /** Prevents instantiation: the class only has a main method. */
    private KeyedWindowTwins() {}

    /** Reads scripts from the standard input and writes the answers to the standard output. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Writer out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<Object> answers = answer(JSON.readTree(line));
            try (JsonGenerator json = ASCII_JSON.createGenerator(out)) {
                json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
                json.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
                SlidingWindowTwins.write(answers.toArray(), json);
            }
            out.write('\n');
        }
        out.flush();
    }

    /** The answers to the commands of one script, with an error as the last one if it fails. */
    private static List<Object> answer(JsonNode request) {
        List<Object> answers = new ArrayList<>();
        try {
            MachineFactories.TimedMachineFactory factory = MachineFactories.timed(request.get("spec").toString());
            if (request.path("bucket").asBoolean()) {
                bucket(factory, request.get("script"), answers);
            } else {
                machine(factory, request.get("script"), answers);
            }
        } catch (IllegalStateException | IllegalArgumentException | ArithmeticException refused) {
            String message = refused.getClass().getSimpleName() + ": " + refused.getMessage();
            answers.add(new SlidingWindowTwins.Refusal(message));
        }
        return answers;
    }

    /** Runs the commands of a script on a single machine. */
    private static void machine(MachineFactories.TimedMachineFactory factory, JsonNode script, List<Object> answers) {
        TimedMachine machine = factory.create();
        for (JsonNode step : script) {
            List<Object> emissions = new ArrayList<>();
            switch (step.get(0).asText()) {
                case "take":
                    List<Object[]> rows = new ArrayList<>();
                    step.get(2).forEach(row -> rows.add((Object[]) SlidingWindowTwins.value(row)));
                    machine.take(step.get(1).asLong(), rows, recorder(emissions));
                    break;
                case "close":
                    machine.advance(step.get(1).asLong(), recorder(emissions));
                    break;
                case "restart":
                    machine = factory.load(machine.save());
                    continue;
                default:
                    factory.load(SlidingWindowTwins.bytes(step.get(1)));
                    continue;
            }
            Object nextWakeup = tick(machine.nextWakeup());
            answers.add(new Object[] {emissions.toArray(), machine.held(), nextWakeup, machine.isEmpty()});
        }
    }

    /** Runs the commands of a script on a bucket of machines. */
    private static void bucket(MachineFactories.TimedMachineFactory factory, JsonNode script, List<Object> answers) {
        Bucket bucket = new Bucket(factory, null);
        for (JsonNode step : script) {
            switch (step.get(0).asText()) {
                case "run":
                    List<TimedRow> rows = new ArrayList<>();
                    for (JsonNode row : step.get(1)) {
                        Object[] key = (Object[]) SlidingWindowTwins.value(row.get(1));
                        boolean present = !row.get(2).isNull();
                        Object[] values = (Object[]) SlidingWindowTwins.value(row.get(2));
                        long order = rows.size();
                        rows.add(new TimedRow(row.get(0).asLong(), new InputRow(0, 1, present, 1, order, key, values)));
                    }
                    List<Object> emissions = new ArrayList<>();
                    bucket.run(rows, step.get(2).asLong(), key -> {
                        List<Object> entries = new ArrayList<>();
                        emissions.add(new Object[] {key, entries});
                        return recorder(entries);
                    });
                    Object nextWakeup = tick(bucket.nextWakeup());
                    answers.add(new Object[] {withKeys(emissions), bucket.held(), (long) bucket.keys(), nextWakeup});
                    break;
                case "restart":
                    byte[] state = bucket.save();
                    answers.add(state == null);
                    bucket = new Bucket(factory, state);
                    break;
                default:
                    new Bucket(factory, SlidingWindowTwins.bytes(step.get(1)));
            }
        }
    }

    /** Pairs each emission with its key. */
    private static Object[] withKeys(List<Object> emissions) {
        List<Object> keyedEmissions = new ArrayList<>();
        for (Object entry : emissions) {
            Object[] keyed = (Object[]) entry;
            for (Object emission : (List<?>) keyed[1]) {
                keyedEmissions.add(new Object[] {keyed[0], emission});
            }
        }
        return keyedEmissions.toArray();
    }

    /** A tick for the output: null instead of Long.MAX_VALUE. */
    private static Object tick(long tick) {
        return tick == Long.MAX_VALUE ? null : tick;
    }

    /** An emitter that records emissions as arrays. */
    private static Emitter recorder(List<Object> emissions) {
        return (tick, seq, present, position, row) ->
                emissions.add(new Object[] {tick, (long) seq, present, position, row});
    }
}
