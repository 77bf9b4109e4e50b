package transom.kernel;

import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.KeyValueGroupedDataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The way in from Python: a frame in, a frame out. */
public final class Kernel {
    /** What the package expects of the jar; another number means another release. */
    public static final int VERSION = 2;

    private Kernel() {}

    /** What a machine makes of arrivals; `out` is the schema of the rows that come out, as JSON. */
    public static Dataset<Row> run(
            Dataset<Row> frame,
            String specification,
            String[] by,
            String out,
            long zero,
            long length,
            int lines,
            int buckets,
            int keys,
            int[] widths,
            boolean live) {
        StructType schema = schema(out);
        StructType taken = frame.schema();
        Shape shape = Shape.of(taken, lines, buckets, schema.size() - lines - 4, keys, widths);
        Moments moments = new Moments(zero, length);
        StatefulProcessor<Row, Row, Row> runner = Machines.shared(specification)
                ? new BucketRunner(specification, moments, shape, live)
                : new MachineRunner(specification, moments, shape, live);
        return put(frame, by, runner, schema, live);
    }

    /** Sliding aggregates of each group; values are the columns from `a0` on. */
    public static Dataset<Row> slide(
            Dataset<Row> frame,
            String specification,
            String[] by,
            String out,
            long zero,
            long length,
            int values,
            boolean live) {
        StructType taken = frame.schema();
        int from = values == 0 ? 0 : taken.fieldIndex("a0");
        int at = taken.fieldIndex("t");
        SlideRunner runner =
                new SlideRunner(specification, new Moments(zero, length), at, from, from + values, live);
        return put(frame, by, runner, schema(out), live);
    }

    /** Whether a tick was closed when the micro-batch of a row began; a row without a tick is not late. */
    public static Column isClosed(Column tick, String offsets, long zero, long length) {
        UDF1<Long, Boolean> closed = new ClosedTicks(offsets, new Moments(zero, length));
        return functions.udf(closed, DataTypes.BooleanType).asNondeterministic().apply(tick);
    }

    /** How many rows the state of a key, or of a bucket of keys, holds. */
    public static long held(String specification, byte[] state) {
        if (Machines.shared(specification)) {
            return new Bucket(Machines.timed(specification), state).held();
        }
        byte[] content = Head.of(state).content();
        if (content == null) {
            return 0;
        }
        return Machines.gathers(specification)
                ? Machines.gathering(specification).load(content).held()
                : Machines.of(specification).load(content).held();
    }

    /** How many rows of a key wait for their tick to close. */
    public static long waiting(byte[] rows) {
        return Waiting.read(rows).size();
    }

    private static Dataset<Row> put(
            Dataset<Row> frame, String[] by, StatefulProcessor<Row, Row, Row> runner, StructType out, boolean live) {
        StructField[] fields = new StructField[by.length];
        Column[] columns = new Column[by.length];
        for (int at = 0; at < by.length; at++) {
            fields[at] = frame.schema().apply(by[at]);
            columns[at] = frame.col(by[at]);
        }
        Encoder<Row> keys = Encoders.row(DataTypes.createStructType(fields));
        KeyValueGroupedDataset<Row, Row> grouped =
                frame.groupBy(columns).as(keys, Encoders.row(frame.schema()));
        TimeMode mode = live ? TimeMode.EventTime() : TimeMode.None();
        return grouped.transformWithState(runner, mode, OutputMode.Append(), Encoders.row(out));
    }

    private static StructType schema(String json) {
        return (StructType) StructType.fromJson(json);
    }
}
