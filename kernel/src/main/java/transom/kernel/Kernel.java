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
import transom.kernel.machines.Bucket;
import transom.kernel.machines.MachineFactories;
import transom.kernel.spark.AccumulatorProcessor;
import transom.kernel.spark.BucketProcessor;
import transom.kernel.spark.ClosedTicks;
import transom.kernel.spark.InputLayout;
import transom.kernel.spark.MachineProcessor;
import transom.kernel.spark.StateReader;
import transom.kernel.spark.StateHeader;
import transom.kernel.spark.TickClock;
import transom.kernel.state.PendingRows;

/** The entry point for Python, which calls these methods through Py4J. */
public final class Kernel {
    /** The version of this interface. The Python package refuses a jar with a different number. */
    public static final int VERSION = 3;

    /** Prevents instantiation: all methods are static. */
    private Kernel() {}

    /**
     * Runs the state machine of a JSON specification on each key (`groupingColumns`) of `frame` and returns its output
     * rows, with the schema `outputJson`; tick 0 ends at `originMicros`; `windowKeys` is 1 if the first grouping column
     * is a window, else 0; `buckets` and `joinKeys` are numbers of hash buckets and of leading join key values.
     *
     * @param frame the input rows, see {@link InputLayout}
     * @param specification the specification of the machine as JSON
     * @param groupingColumns the grouping columns
     * @param outputJson the schema of the output rows as JSON
     * @param originMicros the instant at which tick 0 ends, in microseconds since 1970
     * @param tickMicros the length of a tick in microseconds
     * @param windowKeys 1 if the first grouping column identifies a window and is repeated in the output, else 0
     * @param buckets the number of hash buckets into which rows of one window key are divided
     * @param joinKeys the number of join keys at the front of the cells
     * @param sideWidths the number of values per side
     * @param isStreaming whether the query is a stream; a replay of stored rows needs no state and no timers
     */
    public static Dataset<Row> run(
            Dataset<Row> frame,
            String specification,
            String[] groupingColumns,
            String outputJson,
            long originMicros,
            long tickMicros,
            int windowKeys,
            int buckets,
            int joinKeys,
            int[] sideWidths,
            boolean isStreaming) {
        StructType outputSchema = schema(outputJson);
        StructType inputSchema = frame.schema();
        int emittedValues = outputSchema.size() - windowKeys - 4;
        InputLayout layout = InputLayout.of(inputSchema, windowKeys, buckets, emittedValues, joinKeys, sideWidths);
        TickClock clock = new TickClock(originMicros, tickMicros);
        StatefulProcessor<Row, Row, Row> processor = MachineFactories.isShared(specification)
                ? new BucketProcessor(specification, clock, layout, isStreaming)
                : new MachineProcessor(specification, clock, layout, isStreaming);
        return transform(frame, groupingColumns, processor, outputSchema, isStreaming);
    }

    /**
     * Computes the sliding-window aggregates of a JSON specification for each group of `frame`, and returns them as
     * rows; their arguments are the columns `a0`, `a1` and so on, and tick 0 ends at `originMicros`. The groups are
     * those of `groupingColumns`, and `outputJson` is the schema of the rows. `isStreaming` is false for a replay
     * (batch).
     */
    public static Dataset<Row> slide(
            Dataset<Row> frame,
            String specification,
            String[] groupingColumns,
            String outputJson,
            long originMicros,
            long tickMicros,
            int argumentCount,
            boolean isStreaming) {
        StructType inputSchema = frame.schema();
        int firstArgument = argumentCount == 0 ? 0 : inputSchema.fieldIndex("a0");
        int tickColumn = inputSchema.fieldIndex("tick_number");
        TickClock clock = new TickClock(originMicros, tickMicros);
        AccumulatorProcessor processor = new AccumulatorProcessor(
                specification, clock, tickColumn, firstArgument, firstArgument + argumentCount, isStreaming);
        return transform(frame, groupingColumns, processor, schema(outputJson), isStreaming);
    }

    /**
     * Returns a Boolean column that marks late rows: true if the watermark, in Spark's offset log in the folder
     * `offsetLog`, had closed a row's tick before the row's micro-batch began. It is false for a NULL `tick`. Tick 0
     * ends at `originMicros`, and ticks last `tickMicros`.
     */
    public static Column isClosed(Column tick, String offsetLog, long originMicros, long tickMicros) {
        UDF1<Long, Boolean> isClosed = new ClosedTicks(offsetLog, new TickClock(originMicros, tickMicros));
        return functions.udf(isClosed, DataTypes.BooleanType).asNondeterministic().apply(tick);
    }

    /**
     * Returns how many rows a state machine of this JSON specification keeps in its saved bytes `state`. They are the
     * state of one key or of one bucket of keys; with only a timer the number is 0. It is compared with the state bound
     * of the plan.
     */
    public static long held(String specification, byte[] state) {
        if (MachineFactories.isShared(specification)) {
            return new Bucket(MachineFactories.timed(specification), state).held();
        }
        byte[] content = StateHeader.of(state).content();
        if (content == null) {
            return 0;
        }
        return MachineFactories.isAccumulator(specification)
                ? MachineFactories.accumulators(specification).load(content).held()
                : MachineFactories.of(specification).load(content).held();
    }

    /**
     * Returns how many rows `pendingRows` holds: saved rows of one key or bucket whose tick is not closed yet. The
     * number is compared with the state bound of the plan.
     */
    public static long waiting(byte[] pendingRows) {
        return PendingRows.decode(pendingRows).size();
    }

    /**
     * Returns a column of long: how many rows a state machine of this JSON specification keeps in the saved bytes of
     * the column `state`; without a specification (null), how many saved rows wait for their tick to be closed.
     */
    public static Column heldColumn(String specification, Column state) {
        UDF1<byte[], Long> held = bytes ->
                bytes == null ? 0L : specification == null ? waiting(bytes) : (Long) held(specification, bytes);
        return functions.udf(held, DataTypes.LongType).apply(state);
    }

    /**
     * Returns a column of JSON text: the entries that a state machine of this JSON specification keeps in the saved
     * bytes of the column `state`; without a specification (null), the rows that wait for their tick to be closed.
     * {@link StateReader} describes them.
     */
    public static Column entriesColumn(String specification, Column state) {
        return functions.udf(new StateReader(specification), DataTypes.StringType).apply(state);
    }

    /**
     * Groups a frame by `groupingColumns`, runs a stateful processor on each group and returns its output rows; they
     * have the `outputSchema`; `isStreaming` queries get event-time timers, replays (batch) get none.
     */
    private static Dataset<Row> transform(
            Dataset<Row> frame,
            String[] groupingColumns,
            StatefulProcessor<Row, Row, Row> processor,
            StructType outputSchema,
            boolean isStreaming) {
        StructField[] keyFields = new StructField[groupingColumns.length];
        Column[] keyColumns = new Column[groupingColumns.length];
        for (int i = 0; i < groupingColumns.length; i++) {
            keyFields[i] = frame.schema().apply(groupingColumns[i]);
            keyColumns[i] = frame.col(groupingColumns[i]);
        }
        Encoder<Row> keyEncoder = Encoders.row(DataTypes.createStructType(keyFields));
        KeyValueGroupedDataset<Row, Row> grouped =
                frame.groupBy(keyColumns).as(keyEncoder, Encoders.row(frame.schema()));
        TimeMode timeMode = isStreaming ? TimeMode.EventTime() : TimeMode.None();
        return grouped.transformWithState(processor, timeMode, OutputMode.Append(), Encoders.row(outputSchema));
    }

    /** Parses a schema from the JSON form that Spark writes (`schema.json()` in Python). */
    private static StructType schema(String json) {
        return (StructType) StructType.fromJson(json);
    }
}
