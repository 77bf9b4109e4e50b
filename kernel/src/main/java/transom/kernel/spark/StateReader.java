package transom.kernel.spark;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import org.apache.spark.sql.api.java.UDF1;
import transom.kernel.StateVisitor;
import transom.kernel.machines.Bucket;
import transom.kernel.machines.MachineFactories;
import transom.kernel.state.PendingRows;
import transom.kernel.state.TimedRow;

/**
 * Decodes the saved state of one key, or of one bucket of keys, to JSON: a list of entries with key, part, index, tick,
 * copies and values. The key is null if Spark has it, and the tick if the entry has none.
 */
public final class StateReader implements UDF1<byte[], String> {
    private static final long serialVersionUID = 1;
    private static final JsonFactory JSON =
            JsonFactory.builder().disable(JsonWriteFeature.WRITE_NAN_AS_STRINGS).build();

    private final String specification;

    /** Creates the decoder of a machine's state by its JSON specification; null decodes the rows that wait for it. */
    public StateReader(String specification) {
        this.specification = specification;
    }

    /**
     * Decodes the saved bytes of one key or of one bucket of keys to JSON text, a list of the entries in the state;
     * null for null.
     */
    @Override
    public String call(byte[] state) {
        if (state == null) {
            return null;
        }
        StringWriter text = new StringWriter();
        try (JsonGenerator out = JSON.createGenerator(text)) {
            out.writeStartArray();
            if (specification == null) {
                for (TimedRow timed : PendingRows.decode(state)) {
                    if (timed.row().present()) {
                        Object[] key = timed.row().key();
                        entries(out, key).entry(
                                "waiting", timed.row().side(), timed.tick(), timed.row().sign(), timed.row().row());
                    }
                }
            } else {
                decode(state, out);
            }
            out.writeEndArray();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return text.toString();
    }

    /** Decodes the saved `state` of one key, or of all keys in a bucket, and writes its entries to `out` as JSON. */
    private void decode(byte[] state, JsonGenerator out) {
        if (MachineFactories.isShared(specification)) {
            new Bucket(MachineFactories.timed(specification), state)
                    .forEach((key, machine) -> machine.visit(entries(out, key)));
            return;
        }
        byte[] content = StateHeader.of(state).content();
        if (content == null) {
            return;
        }
        if (MachineFactories.isAccumulator(specification)) {
            MachineFactories.accumulators(specification).load(content).visit(entries(out, null));
        } else {
            MachineFactories.of(specification).load(content).visit(entries(out, null));
        }
    }

    /**
     * Returns a visitor that writes each state entry of one key to `out` as a JSON list: the key, then what the visitor
     * receives.
     */
    private static StateVisitor entries(JsonGenerator out, Object[] key) {
        return (part, index, tick, copies, values) -> {
            try {
                out.writeStartArray();
                write(out, key);
                out.writeString(part);
                out.writeNumber(index);
                write(out, tick == StateVisitor.NO_TICK ? null : (Object) tick);
                out.writeNumber(copies);
                write(out, values);
                out.writeEndArray();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        };
    }

    /** Writes a value as JSON: a decimal as an object with its digits, a nested tuple as a list. */
    private static void write(JsonGenerator out, Object value) throws IOException {
        if (value instanceof Object[] tuple) {
            out.writeStartArray();
            for (Object part : tuple) {
                write(out, part);
            }
            out.writeEndArray();
        } else if (value instanceof BigDecimal decimal) {
            out.writeStartObject();
            out.writeStringField("d", decimal.toPlainString());
            out.writeEndObject();
        } else if (value instanceof Double number) {
            out.writeNumber(number);
        } else if (value instanceof Long number) {
            out.writeNumber(number);
        } else if (value instanceof Boolean flag) {
            out.writeBoolean(flag);
        } else if (value == null) {
            out.writeNull();
        } else {
            out.writeString(value.toString());
        }
    }
}
